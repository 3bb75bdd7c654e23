'use strict'

/**
 * What the process holds once everything that was under way has come to rest. Needs --expose-gc.
 * @returns {Promise<number>} bytes of heap and external memory
 */
async function heldBytes () {
  await new Promise((resolve) => setTimeout(resolve, 10))
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

module.exports = { heldBytes }
