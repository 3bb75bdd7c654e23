'use strict'

// Looks at what the garbage collector leaves. Needs node --expose-gc.

const { turn } = require('./turns')

module.exports = { requireGc, collect, retainedCount, heapUsed }

/** A mocha hook: fails the suite, instead of skipping it in silence, where the collector can not be called. */
function requireGc () {
  if (typeof globalThis.gc !== 'function') throw new Error('these tests need node --expose-gc (see .mocharc.uncovered.json)')
}

/** Collects all that can be: twice, for what finalizers and weak references hold until the next turn. */
async function collect () {
  for (let i = 0; i < 2; i++) {
    await turn()
    globalThis.gc()
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
