'use strict'

// The jobs, as a module for threads: piscina, tinypool and ours call what it exports. workerpool-work.js and poolifier-work.js hand the
// same function to those. A job computes `loops` times, and its result can be checked. In a thread the module takes 5 ms to load.

const { isMainThread } = require('node:worker_threads')

const LOADING_MS = 5

let computed = 0 // by all calls, so that no compiler leaves it out

module.exports = run
module.exports.resultOf = resultOf
module.exports.loopsPerUs = loopsPerUs
module.exports.computed = () => computed

if (!isMainThread) for (const begun = performance.now(); performance.now() - begun < LOADING_MS;);

function run ({ n, loops, isEndless }) {
  if (isEndless) for (;;);
  computed ^= spin(loops, n)
  return 2 * n + 1
}

function resultOf ({ n }) {
  return 2 * n + 1
}

/**
 * Of whole numbers of 32 bits only: with others the loop takes five times as long where V8 has compiled it by Maglev, and nobody knows when
 * it does.
 */
function spin (loops, seed) {
  let value = seed | 1
  for (let i = 0; i < loops; i++) {
    value ^= value << 13
    value ^= value >> 17
    value ^= value << 5
  }
  return value
}

/** @returns {number} how many loops take a µs on this machine: the best of many short tries, so that others on it do not count */
function loopsPerUs () {
  const LOOPS = 20000
  let best = Infinity
  for (let i = 0; i < 500; i++) {
    const begun = performance.now()
    computed ^= spin(LOOPS, i)
    best = Math.min(best, performance.now() - begun)
  }
  return LOOPS / (best * 1000)
}
