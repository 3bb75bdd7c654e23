'use strict'

// What every durable queue is put through, in whatever language it is written. A load is plain data:
//
//   shape        'all'       push all, then pop all, each call when the one before has ended
//                'turns'     push a batch, pop a batch, and so on
//                'parallel'  as 'turns', but a queue that has threads may push in one and pop in another
//                'window'    push all, `window` calls at a time unacknowledged; then pop all by hundreds, unmeasured
//   size         bytes of a payload, at least 4
//   count        payloads in a repetition, a multiple of batch
//   batch        payloads in a call, for push and pop; a queue that cannot take several takes one after the other
//   repetitions  how often, each in a folder of its own, of which only pushes and pops are timed
//
// Payload number i is the ring's i modulo its length: so payloads are made before the clock starts, and still a payload that is
// lost, twice there, in a wrong place or altered at an end is noticed. All are counted, and at the end the queue must be empty.

const crypto = require('node:crypto')
const path = require('node:path')

/** Prime, so that batches and rings go out of step. */
const RING_LENGTH = 997
const BIG_RING_LENGTH = 13
const BIG_BYTES = 16384

/**
 * @param {{ shape: string, size: number, count: number, batch: number, repetitions?: number, window?: number }} load
 * @param {{ open(folder: string): Promise<object> }} contender what it gives has push(payloads[]), pop(max) → payloads[],
 *   close(), which may return promises, and for shape 'window' pushOne(payload), which has to
 * @param {string} folder an empty one
 * @returns {Promise<{ pushNs?: number, popNs?: number, turnNs?: number }>} nanoseconds per payload
 * @throws if anything is not what was pushed
 */
async function runLoad (load, contender, folder) {
  const { count, repetitions = 1 } = load
  const shape = SHAPES[load.shape]
  const { batches, check } = createPayloads(load)
  const sums = {}
  for (let i = 0; i <= repetitions; i++) {
    // the first one is not measured: it warms up
    const isMeasured = i > 0
    const queue = await contender.open(path.join(folder, `${i}`))
    const times = await shape(queue, isMeasured ? load : { ...load, count: warmUpCount(load) }, batches, check)
    await checkEmpty(queue)
    await queue.close()
    if (!isMeasured) continue
    for (const [key, time] of Object.entries(times)) sums[key] = (sums[key] ?? 0) + time / (count * repetitions)
  }
  return sums
}

/** A tenth, in whole batches. */
function warmUpCount ({ count, batch }) {
  return Math.ceil(count / 10 / batch) * batch
}

const SHAPES = {
  async all (queue, { count, batch }, batches, check) {
    const begun = process.hrtime.bigint()
    for (let i = 0; i < count; i += batch) await queue.push(batches[i / batch % batches.length])
    const pushed = process.hrtime.bigint()
    await popAll(queue, count, batch, check)
    const popped = process.hrtime.bigint()
    return { pushNs: Number(pushed - begun), popNs: Number(popped - pushed) }
  },

  async turns (queue, { count, batch }, batches, check) {
    const begun = process.hrtime.bigint()
    for (let i = 0; i < count; i += batch) {
      await queue.push(batches[i / batch % batches.length])
      check(await queue.pop(batch), i, batch)
    }
    return { turnNs: Number(process.hrtime.bigint() - begun) }
  },

  parallel (queue, load, batches, check) {
    return SHAPES.turns(queue, load, batches, check)
  },

  async window (queue, { count, batch, window }, batches, check) {
    const push = batch === 1 ? ([payload]) => queue.pushOne(payload) : payloads => queue.push(payloads)
    const begun = process.hrtime.bigint()
    await pushInWindow(push, count / batch, window, number => batches[number % batches.length])
    const pushNs = Number(process.hrtime.bigint() - begun)
    await popAll(queue, count, 100, check)
    return { pushNs }
  }
}

/**
 * Makes calls of which at most so many are not acknowledged.
 * @param {(pushed: any) => Promise<void>} push
 * @param {number} count of calls
 * @param {number} window
 * @param {(number: number) => any} pushedBy what call number n pushes
 * @returns {Promise<void>}
 */
function pushInWindow (push, count, window, pushedBy) {
  let begun = 0
  let acknowledged = 0
  return new Promise((resolve, reject) => {
    more()

    function more () {
      while (begun < count && begun - acknowledged < window) push(pushedBy(begun++)).then(ended, reject)
    }

    function ended () {
      if (++acknowledged === count) return resolve()
      more()
    }
  })
}

async function popAll (queue, count, batch, check) {
  for (let popped = 0; popped < count;) {
    const payloads = await queue.pop(batch)
    check(payloads, popped, Math.min(batch, count - popped))
    popped += payloads.length
  }
}

async function checkEmpty (queue) {
  const { length } = await queue.pop(1)
  if (length > 0) throw new Error('the queue holds more payloads than were pushed')
}

/** The batches that are pushed in turn, and what checks payloads that were popped, the first of which should be number `from`. */
function createPayloads ({ size, batch }) {
  const ringLength = size >= BIG_BYTES ? BIG_RING_LENGTH : RING_LENGTH
  const ring = Array.from({ length: ringLength }, (_, number) => createPayload(number, size))
  // after as many batches as the ring is long it begins anew
  const batches = Array.from({ length: ringLength }, (_, i) => Array.from({ length: batch }, (_, j) => ring[(i * batch + j) % ringLength]))
  return { batches, check }

  function check (payloads, from, expectedCount) {
    if (payloads.length !== expectedCount) throw new Error(`miscounted: ${payloads.length} payloads from number ${from} on, of ${expectedCount}`)
    for (let i = 0; i < payloads.length; i++) {
      if (!isPayload(payloads[i], (from + i) % ringLength, size)) throw new Error(`payload ${from + i} is not what was pushed`)
    }
  }
}

/**
 * Random bytes, which no store can compress, but for the first two and the last.
 * @param {number} number below 65536
 * @param {number} size at least 4
 * @returns {Buffer}
 */
function createPayload (number, size) {
  const payload = crypto.randomBytes(size)
  payload.writeUInt16LE(number)
  payload[size - 1] = number & 255
  return payload
}

/** @returns {boolean} whether it may be what createPayload(number, size) made */
function isPayload (payload, number, size) {
  return payload.length === size && payload[0] === (number & 255) && payload[1] === number >> 8 && payload[size - 1] === (number & 255)
}

module.exports = { runLoad, pushInWindow, createPayload, isPayload }
