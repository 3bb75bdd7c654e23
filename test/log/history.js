'use strict'

// Drives a queue on a simulated disk at random, and knows which states a crash may leave: those that it was in after each
// call, from the last one that was acknowledged on.

const assert = require('node:assert')
const { PersistentQueue } = require('../../lib/log')

const FOLDER = '/queue'
const unlocked = async () => ({ release: async () => {} })

/** Opens the queue on a simulated disk. */
function openOn (disk, options) {
  return PersistentQueue.open(FOLDER, { segmentBytes: 4096, ...options }, { files: disk, lock: unlocked })
}

/** The numbers of the payloads in a queue, in order. A payload is its number and filling that follows from it. */
async function numbersIn (queue) {
  return (await queue.peek(Infinity)).map(numberOf)
}

function payload (number, length) {
  return Buffer.alloc(Math.max(length, 4), number & 0xff).fill(0, 0, 4).fill(uint32(number), 0, 4)
}

function numberOf (bytes) {
  const number = bytes.readUInt32LE(0)
  assert(bytes.equals(payload(number, bytes.length)), `payload ${number} is not as it was pushed`)
  return number
}

function uint32 (number) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}

/** What was done to a queue, in order, and up to where it is sure to be there after the process, or the machine, has failed. */
class History {
  constructor (numbers, ack) {
    this.start = numbers
    this.waitsForDisk = ack === 'disk'
    this.calls = [] // { push: numbers } or { gone: numbers }
    this.sureCount = 0
    this.diskCount = 0
    this.toldId = 0 // the highest id that reserve() gave
  }

  /** Notes a call that will be acknowledged when the promise resolves, and has changed nothing if it rejects. */
  add (call, promise) {
    const count = this.calls.push(call)
    promise.then(() => this.acknowledged(count), err => {
      isIo(err)
      call.isVoid = true
    })
  }

  acknowledged (count) {
    this.sureCount = Math.max(this.sureCount, count)
    if (this.waitsForDisk) this.diskCount = Math.max(this.diskCount, count)
  }

  /** Notes that all calls up to now will be on the disk when the promise resolves. */
  flushed (promise) {
    const count = this.calls.length
    promise.then(() => { this.diskCount = Math.max(this.diskCount, count) }, isIo)
  }

  /** What a crash now may leave. @returns {{ kill: Function, power: Function }} each throws if numbers can not be that */
  legalNow (message) {
    const { sureCount, diskCount } = this
    // a call that is under way has been made, if not noted
    const callsCount = this.calls.length + 1
    return {
      kill: numbers => this.check(numbers, sureCount, callsCount, message),
      power: numbers => this.check(numbers, diskCount, callsCount, message)
    }
  }

  /** Throws if a queue with these numbers in it is not as it was after some call from the sure ones on. */
  check (numbers, sureCount, callsCount, message) {
    const state = new Set(this.start)
    const end = Math.min(callsCount, this.calls.length)
    for (let i = 0; ; i++) {
      if (i >= sureCount && isSame(state, numbers)) return
      if (i >= end) break
      const { push = [], gone = [], isVoid } = this.calls[i]
      if (isVoid) continue
      for (const number of push) state.add(number)
      for (const number of gone) state.delete(number)
    }
    assert.fail(`${message}: no state after call ${sureCount} of ${end} is [${numbers}]; the last one is [${[...state]}]`)
  }
}

function isIo (err) {
  if (err.code !== 'FAIRLANE_ERR_IO') throw err
}

function isSame (state, numbers) {
  return state.size === numbers.length && numbers.every((number, i) => state.has(number) && (i === 0 || number > numbers[i - 1]))
}

/**
 * Does so many calls at random: pushes, batches, pops, reservations, acks, releases, flushes, sync forms, some large payloads,
 * pauses. Some payloads stay reserved for long, so that there is something to move.
 * @returns {Promise<number>} the next number that was not used, when all calls are acknowledged
 */
async function work (queue, history, random, callsCount, firstNumber) {
  let number = firstNumber
  const pinRate = random.pick([0, 0.1, 0.3])
  const largest = random.pick([50, 400, 1500])
  const reserved = []
  const pinned = []
  const promises = []
  const note = (call, promise) => {
    history.add(call, promise)
    promise.catch(() => {})
    promises.push(promise)
  }
  const fresh = () => payload(number++, random.chance(0.02) ? random.below(9000) : random.below(largest))
  for (let i = 0; i < callsCount; i++) {
    const from = number
    switch (random.below(12)) {
      case 0: case 1:
        note(...pushed([fresh()], payloads => queue.push(payloads[0])))
        break
      case 2: case 3:
        note(...pushed(Array.from({ length: random.below(5) + 2 }, fresh), payloads => queue.push(payloads)))
        break
      case 4: {
        // what the sync form waits for includes all before it
        const bytes = fresh()
        const call = { push: [from] }
        history.calls.push(call)
        const at = history.calls.length
        try {
          queue.pushSync(bytes)
          history.acknowledged(at)
        } catch (err) {
          isIo(err)
          call.isVoid = true
        }
        break
      }
      case 5: {
        const popping = queue.pop(random.below(3) + 1)
        const at = history.calls.push({})
        const popped = await popping.catch(err => {
          isIo(err)
          return []
        })
        history.calls[at - 1].gone = popped.map(numberOf)
        if (popped.length > 0) history.acknowledged(at)
        break
      }
      case 6:
      case 7:
        for (const job of await queue.reserve(random.below(8) + 1)) {
          history.toldId = Math.max(history.toldId, job.id)
          ;(random.chance(pinRate) ? pinned : reserved).push(job)
        }
        break
      case 8:
      case 9:
      case 10:
        if (reserved.length > 0) {
          const taken = reserved.splice(random.below(reserved.length), random.below(8) + 1)
          const acked = queue.ack(taken.map(({ id }) => id))
          acked.catch(() => reserved.push(...taken))
          note({ gone: taken.map(({ payload }) => numberOf(payload)) }, acked)
        }
        break
      default:
        if (reserved.length > 0 && random.chance(0.3)) queue.release(reserved.splice(0, 1)[0].id)
        else if (pinned.length > 0 && random.chance(0.1)) queue.release(pinned.splice(0).map(({ id }) => id))
        else if (random.chance(0.2)) history.flushed(queue.flush())
        else if (random.chance(0.7)) await new Promise(setImmediate)
        else await Promise.allSettled(promises)
    }
  }
  await Promise.allSettled(promises)
  return number
}

function pushed (payloads, push) {
  return [{ push: payloads.map(numberOf) }, push(payloads)]
}

module.exports = { FOLDER, History, openOn, unlocked, numbersIn, numberOf, payload, work }
