'use strict'

// The same calls on the original and on the facade must give the same log, entry by entry.

const assert = require('node:assert')
const { withoutTime } = require('../support/time')

module.exports = { mirror, errorText }

/**
 * @param {any} original
 * @param {any} facade
 * @param {Record<string, (lib: any, log: (...entries: any[]) => void) => any>} scenarios by their titles
 */
function mirror (original, facade, scenarios) {
  for (const [title, scenario] of Object.entries(scenarios)) {
    it(title, async () => {
      const expected = await withoutTime(() => logOf(scenario, original))
      assert.notEqual(expected.length, 0)
      assert.deepEqual(await withoutTime(() => logOf(scenario, facade)), expected)
    })
  }
}

/** What a call throws, or undefined; texts differ. */
function errorText (fn) {
  try {
    fn()
  } catch (err) {
    return err instanceof Error ? 'an error' : 'a throw'
  }
}

async function logOf (scenario, lib) {
  const entries = []
  await scenario(lib, (...values) => { entries.push(values.length === 1 ? values[0] : values) })
  return entries
}
