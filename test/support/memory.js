'use strict'

// Looks at what the garbage collector leaves.

const v8 = require('node:v8')
const { runInNewContext } = require('node:vm')
const { turn } = require('./turns')

module.exports = { bytesUsed, collect, retainedCount, heapUsed }

// As by `node --expose-gc`, which a single file that is run by hand would lack.
v8.setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')

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

/** The same, and those of typed arrays. */
async function bytesUsed () {
  await collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
