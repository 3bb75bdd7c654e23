'use strict'

// Looks at what the garbage collector leaves.

const v8 = require('node:v8')
const { runInNewContext } = require('node:vm')
const { turn } = require('./turns')

module.exports = { bytesUsed, collect, retainedCount, heapUsed }

// As by `node --expose-gc`, which a single file that is run by hand would lack.
v8.setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
const LITTLE = 65536 // bytes: a collection that frees no more has nothing left to free

/** Collects all that can be: twice, for what finalizers and weak references hold until the next turn. */
async function collect () {
  for (let i = 0; i < 2; i++) {
    await turn()
    gc()
  }
}

/**
 * @param {WeakRef<object>[]} refs
 * @returns {Promise<number>} how many of them are still there after a few collections
 */
async function retainedCount (refs) {
  let left = refs.length
  for (let i = 0; i < 10 && left > 0; i++) {
    await collect()
    left = refs.filter((ref) => ref.deref() !== undefined).length
  }
  return left
}

/** Bytes of the JavaScript heap in use after a collection. */
async function heapUsed () {
  await collect()
  return process.memoryUsage().heapUsed
}

/** The same, and those of typed arrays, of which some go only after the collection: read until it is no less. */
async function bytesUsed () {
  let used = Infinity
  for (let i = 0; i < 10; i++) {
    await collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    if (heapUsed + arrayBuffers > used - LITTLE) break
    used = heapUsed + arrayBuffers
  }
  return used
}
