'use strict'

// Seeded random numbers, so that a failing round can be replayed with SEED=n.

module.exports = { seeded, seedFromEnvironment }

/**
 * @param {number} seed an unsigned 32-bit integer
 * @returns {{ next: () => number, below: (n: number) => number, chance: (p: number) => boolean,
 *   pick: <T>(list: T[]) => T }} mulberry32
 */
function seeded (seed) {
  let state = seed >>> 0

  function next () {
    state = (state + 0x6D2B79F5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  return {
    next,
    below: (n) => Math.floor(next() * n),
    chance: (p) => next() < p,
    pick: (list) => list[Math.floor(next() * list.length)]
  }
}

/** The seed asked for with SEED=n, else a fresh one. */
function seedFromEnvironment () {
  const given = process.env.SEED
  if (given === undefined || given === '') return Math.floor(Math.random() * 4294967296)

  const seed = Number(given)
  if (!Number.isInteger(seed) || seed < 0 || seed > 4294967295) throw new Error(`SEED=${given} is no unsigned 32-bit integer`)
  return seed
}
