'use strict'

// Jobs of one type that run together. They are gathered in the job that waits, not when a slot is given: the first one queues a batch as
// one job, and others join that until it starts or is full. So a batch fills while the queue is busy, and goes at once when it is idle.
// It takes one slot and counts as one start.
//
// Made of nothing but add() with a key: while the key is taken, the batch has not started.

const { typeError, describe } = require('../arguments/errors')
const { isArray, isError, isOf, readFiniteMs, readFunction, readOwn, readPositiveCount } = require('../arguments/fields')
const { keyIdOf } = require('../job/key')
const { readKey } = require('../job/plan')
const { readType } = require('./options')
const { Queue } = require('./queue')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const NAMES = ['maxSize', 'delayMs', 'key']
const ADD_NAMES = ['type']

let lastNumber = 0 // of a batch, whichever queue it is for

module.exports = { batches }

/** Jobs that run together. */
class Batch {
  constructor (queue, payload, options) {
    this.payloads = [payload]
    this.options = options
    this.promise = queue.add(this.payloads, options)
  }

  /** @returns what came of one of them @throws that, if it has failed */
  pick (results, at) {
    const { length } = this.payloads
    if (!isArray(results) || results.length !== length) {
      const given = isArray(results) ? `of ${results.length}` : describe(results)
      throw typeError('FAIRLANE_ERR_RUNNER', `the runner of a batch must give an array of ${length} results, one per job, not ${given}`)
    }
    if (isError(results[at])) throw results[at]
    return results[at]
  }
}

class Batches {
  #queue
  #maxSize
  #delayMs
  #keyOf
  #open = new Map() // id → the Batch that was begun last, unless it is full or has settled

  constructor (queue, { maxSize, delayMs, key }) {
    this.#queue = queue
    this.#maxSize = readPositiveCount(maxSize, 'maxSize', ARGUMENT)
    this.#delayMs = delayMs === undefined || this.#maxSize === 1 ? undefined : readFiniteMs(delayMs, 'delayMs', ARGUMENT)
    this.#keyOf = readFunction(key ?? (() => ''), 'key', ARGUMENT)
  }

  /**
   * Adds a job to the batch of its type that waits, or begins one.
   * @returns {Promise<any>} of its own result
   * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_TYPE, FAIRLANE_ERR_TYPE_REQUIRED, what `key` throws
   */
  add (payload, options = {}) {
    const { type: given } = readGiven(options, ADD_NAMES, 'add')
    const type = given === undefined ? undefined : readType(given)
    const id = keyIdOf(type, readKey(this.#keyOf(payload)))
    const known = this.#open.get(id)
    const fresh = new Batch(this.#queue, payload, known === undefined ? this.#optionsFor(type) : known.options)
    if (fresh.promise === known?.promise) return this.#join(id, known, payload)
    this.#begin(id, fresh)
    return fresh.promise.then(results => fresh.pick(results, 0))
  }

  #optionsFor (type) {
    return { type, key: `\u0000batch ${++lastNumber}`, delayMs: this.#delayMs }
  }

  #begin (id, batch) {
    if (this.#maxSize === 1) return
    this.#open.set(id, batch)
    const forget = () => { if (this.#open.get(id) === batch) this.#open.delete(id) }
    batch.promise.then(forget, forget)
  }

  /** The key is taken still, so the batch has not started. */
  #join (id, batch, payload) {
    const at = batch.payloads.push(payload) - 1
    if (batch.payloads.length === this.#maxSize) {
      this.#open.delete(id)
      // it waits no longer
      if (this.#delayMs !== undefined) this.#queue.add(batch.payloads, { ...batch.options, onDuplicate: 'postpone', delayMs: 0 })
    }
    return batch.promise.then(results => batch.pick(results, at))
  }
}

/**
 * Gathers jobs of one type into batches, for a queue whose runner takes arrays.
 * @param {Queue} queue
 * @param {{ maxSize: number, delayMs?: number, key?: (payload: any) => any }} options
 * @throws FAIRLANE_ERR_ARGUMENT
 */
function batches (queue, options) {
  if (isOf(queue, Queue)) return new Batches(queue, readGiven(options, NAMES, 'batches'))
  throw typeError(ARGUMENT, `batches: the queue must be one that fairlane() made, not ${describe(queue)}`)
}

function readGiven (options, names, method) {
  return readOwn(options, `${method}: the options`, names, ARGUMENT)
}
