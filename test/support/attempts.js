'use strict'

// Measurements of time, which the garbage collector and whatever else the machine does may disturb: what grows too fast does so each time.

const { AssertionError } = require('node:assert')

module.exports = { once }

const MOST_ATTEMPTS = 5

/** Measures, and compares, until what is asserted holds. @param {() => any} attempt @throws what it throws the last time */
async function once (attempt) {
  for (let left = MOST_ATTEMPTS - 1; ; left--) {
    try {
      return await attempt()
    } catch (err) {
      if (left === 0 || !(err instanceof AssertionError)) throw err
    }
  }
}
