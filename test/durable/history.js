'use strict'

// Drives a queue on a simulated disk at random, and knows which states a crash may leave: those that it was in after each
// call, from the last one that was acknowledged on.

const assert = require('node:assert')
const { PersistentQueue } = require('../../lib/durable')

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

/** What was done to a queue, in order, and up to where it is sure to be there after a crash. */
class History {
  constructor (numbers = []) {
    this.start = numbers
    this.calls = [] // { push: numbers } or { gone: numbers }
    this.sureCount = 0
  }

  /** Notes a call that will be acknowledged when the promise resolves. */
  add (call, promise) {
    this.calls.push(call)
    const count = this.calls.length
    promise.then(() => { this.sureCount = Math.max(this.sureCount, count) }, () => {})
  }

  /** Throws if a queue with these numbers in it can not be what a crash left. */
  check (numbers, sureCount, callsCount, message) {
    const state = new Set(this.start)
    for (let i = 0; ; i++) {
      if (i >= sureCount && isSame(state, numbers)) return
      if (i === callsCount) break
      const { push = [], gone = [] } = this.calls[i]
      for (const number of push) state.add(number)
      for (const number of gone) state.delete(number)
    }
    assert.fail(`${message}: no state after call ${sureCount} of ${callsCount} is [${numbers}]; the last one is [${[...state]}]`)
  }
}

function isSame (state, numbers) {
  return state.size === numbers.length && numbers.every((number, i) => state.has(number) && (i === 0 || number > numbers[i - 1]))
}

/**
 * Does so many calls at random: pushes, batches, pops, reservations, acks, releases, sync forms, some large payloads, pauses.
 * @returns {Promise<void>} when all are acknowledged
 */
async function work (queue, history, random, callsCount, firstNumber) {
  let number = firstNumber
  const reserved = []
  const promises = []
  const note = (call, promise) => {
    history.add(call, promise)
    promise.catch(() => {})
    promises.push(promise)
  }
  const fresh = () => payload(number++, random.chance(0.02) ? random.below(9000) : random.below(200))
  for (let i = 0; i < callsCount; i++) {
    const from = number
    switch (random.below(10)) {
      case 0: case 1: case 2:
        note(...pushed([fresh()], payloads => queue.push(payloads[0])))
        break
      case 3:
        note(...pushed(Array.from({ length: random.below(8) + 2 }, fresh), payloads => queue.push(payloads)))
        break
      case 4: {
        // what the sync form waits for includes all before it
        const bytes = fresh()
        queue.pushSync(bytes)
        history.add({ push: [from] }, Promise.resolve())
        break
      }
      case 5: {
        const popping = queue.pop(random.below(3) + 1)
        const at = history.calls.length
        history.calls.push({})
        const popped = await popping
        history.calls[at].gone = popped.map(numberOf)
        if (popped.length > 0) history.sureCount = Math.max(history.sureCount, at + 1)
        break
      }
      case 6:
        reserved.push(...await queue.reserve(random.below(4) + 1))
        break
      case 7:
      case 8:
        if (reserved.length > 0) {
          const taken = reserved.splice(random.below(reserved.length), random.below(4) + 1)
          note({ gone: taken.map(({ payload }) => numberOf(payload)) }, queue.ack(taken.map(({ id }) => id)))
        }
        break
      default:
        if (reserved.length > 0 && random.chance(0.3)) queue.release(reserved.splice(0, 1)[0].id)
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
