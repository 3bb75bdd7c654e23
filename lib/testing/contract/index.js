'use strict'

// What all engines share, as a suite of tests that any framework with `describe` and `it` runs, for any engine: those of fairlane, and
// those of others. Each theme is a file; capabilities.js says what engines differ in.

const { CAPABILITIES, ENGINES, capabilitiesOf } = require('./capabilities')
const { Stage } = require('./stage')

const THEMES = {
  'the members': require('./members').members,
  options: require('./options').options,
  'what takes jobs': require('./intake').intake,
  runners: require('./runners').runners,
  attempts: require('./attempts').attempts,
  'slots for code': require('./slots').slots,
  'the order of jobs': require('./order').order,
  keys: require('./keys').keys,
  signals: require('./signals').signals,
  counts: require('./counts').counts,
  'why jobs wait': require('./explain').explain,
  events: require('./events').events,
  limits: require('./limits').limits,
  costs: require('./costs').costs,
  'single jobs': require('./single').single,
  schedules: require('./schedules').schedules,
  'the end of a queue': require('./closing').closing,
  'the end of a process': require('./survival').survival,
  fleets: require('./fleet').fleet
}

/**
 * Declares the tests of an engine. To be called where tests may be declared.
 * @param {object} engine
 * @param {(title: string, define: () => void) => void} engine.describe
 * @param {(title: string, run: () => Promise<void>) => void} engine.it
 * @param {(runner: Function | null, options?: object) => Promise<object>} engine.make opens a queue at a place of its own, which is
 *   empty. It gives `{ queue, reopen, another, crash, close }`: `queue` must be there; `close` if `queue.close({ timeoutMs: 0 })` will not
 *   do; `reopen` and `crash` where jobs survive, `another` where processes share queues
 * @param {Iterable<string>} engine.capabilities names of CAPABILITIES
 * @param {object} [engine.entry] the exports of the engine's module
 */
function contract ({ describe, it, make, capabilities, entry }) {
  const has = new Set(capabilities)
  for (const name of has) if (!Object.hasOwn(CAPABILITIES, name)) throw new RangeError(`there is no capability '${name}': take names from CAPABILITIES`)

  /** Declares a test, which an engine gets that has what it needs. */
  function test (title, needs, run) {
    if (![].concat(needs).every(name => has.has(name))) return
    it(title, async () => {
      const stage = new Stage(make, has)
      try {
        await run(stage)
      } finally {
        await stage.clear()
      }
    })
  }

  for (const [title, declare] of Object.entries(THEMES)) {
    describe(title, () => declare({ test, has: name => has.has(name), entry }))
  }
}

module.exports = contract
module.exports.contract = contract
module.exports.CAPABILITIES = CAPABILITIES
module.exports.ENGINES = ENGINES
module.exports.capabilitiesOf = capabilitiesOf
