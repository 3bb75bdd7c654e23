'use strict'

// The suite of what all engines share, itself: it finds what is wrong, and needs no test framework. test/contract runs it.

const assert = require('node:assert')
const { once } = require('node:events')
const fairlane = require('../..')
const contract = require('../../lib/testing/contract')
const { equal, expect, rejects, throws } = require('../../lib/testing/contract/expect')
const { Stage } = require('../../lib/testing/contract/stage')

const { CAPABILITIES, ENGINES, capabilitiesOf } = contract

/** What is declared for an engine. @returns {Map<string, () => Promise<void>>} */
function declared (engine) {
  const tests = new Map()
  contract({
    describe: (title, define) => define(),
    it (title, run) {
      assert(!tests.has(title), `there are two tests '${title}'`)
      tests.set(title, run)
    },
    ...engine
  })
  return tests
}

const make = async (runner, options) => ({ queue: fairlane(runner, options) })

describe('fairlane/testing/contract', () => {
  it('declares tests with titles of their own, others for each engine', () => {
    const titles = ENGINES.map(engine => [...declared({ make, capabilities: capabilitiesOf(engine) }).keys()])
    for (const some of titles) assert(some.length > 90, `${some.length}`)
    const [memory, disk, broker] = titles
    assert(memory.includes('get is refused, which says who has it and what to use') && !disk.includes('get is refused, which says who has it and what to use'))
    assert(broker.includes('globalConcurrency is how many jobs run at once in all processes'))
  })

  it('runs them by their functions alone', async () => {
    const tests = declared({ make, capabilities: capabilitiesOf('memory'), entry: fairlane })
    for (const title of ['add gives the result', 'exports are the same objects, whichever entry they are of']) await tests.get(title)()
  })

  it('finds what an engine does wrong', async () => {
    const wrong = async (runner, options) => {
      const queue = fairlane(runner, options)
      queue.add = async () => 'nonsense'
      return { queue, close: () => queue.close({ drain: false }) }
    }
    await assert.rejects(declared({ make: wrong, capabilities: capabilitiesOf('memory') }).get('add gives the result')(), {
      name: 'AssertionError', actual: 'nonsense', expected: ['a']
    })
  })

  it('finds exports that are other ones, and does not look where there are none', async () => {
    const run = entry => declared({ make, capabilities: [], entry }).get('exports are the same objects, whichever entry they are of')()
    await run(undefined)
    await assert.rejects(run({ ...fairlane, backoff: () => {} }), /backoff must be that of fairlane/)
  })

  it('takes known capabilities and engines only', () => {
    assert.throws(() => declared({ make, capabilities: ['flight'] }), /there is no capability 'flight': take names from CAPABILITIES/)
    assert.throws(() => capabilitiesOf('tape'), /the engine must be one of memory, disk, broker/)
  })

  it('says of each capability which engines have it, what to use elsewhere, and why', () => {
    for (const [name, { what, engines, elsewhere, why }] of Object.entries(CAPABILITIES)) {
      for (const text of [what, elsewhere, why]) assert(typeof text === 'string' && text.length > 0, name)
      assert(engines.length > 0 && engines.every(engine => ENGINES.includes(engine)), name)
    }
  })

  it('has options that are right where they are there', async () => {
    const { ratePerType } = CAPABILITIES.rateFunctions.options
    const queue = fairlane(async payload => payload, { scheduler: 'equal', ratePerType })
    assert.equal(await queue.add(1, { type: 'a' }), 1)
  })
})

describe('what the suite asserts with', () => {
  it('compares values, arrays and objects', () => {
    const same = [[1, 1], [NaN, NaN], [null, null], [[1, [2]], [1, [2]]], [{ a: undefined }, { a: undefined }]]
    for (const [one, other] of same) equal(one, other)
    const differing = [[0, -0], [1, '1'], [null, {}], [{}, null], [[], {}], [{ a: 1 }, { b: 1 }], [{ a: 1 }, { a: 1, b: 2 }], [[1], [2]], [Symbol('a'), () => {}]]
    for (const [one, other] of differing) assert.throws(() => equal(one, other), { name: 'AssertionError', actual: one, expected: other })
    assert.throws(() => equal([Infinity, undefined], [1n], 'the list'), { message: 'the list is ["(Infinity)","(undefined)"], not ["(1)"]' })
    assert.throws(() => expect(false, 'no'), { message: 'no' })
  })

  it('knows errors by their codes', async () => {
    const closed = Object.assign(new Error('no'), { code: 'FAIRLANE_ERR_CLOSED' })
    assert.equal(throws(() => { throw closed }, 'CLOSED'), closed)
    assert.equal(await rejects(Promise.reject(closed), 'CLOSED'), closed)
    assert.throws(() => throws(() => { throw closed }, 'OPTION', 'it'), /the code of the error of it is "FAIRLANE_ERR_CLOSED", not "FAIRLANE_ERR_OPTION"/)
    assert.throws(() => throws(() => Promise.reject(closed), 'CLOSED'), /did not throw FAIRLANE_ERR_CLOSED/)
    await assert.rejects(rejects(Promise.resolve(5), 'CLOSED'), /resolved with 5, but must reject with FAIRLANE_ERR_CLOSED/)
    await assert.rejects(rejects(Promise.reject(new Error('plain')), 'CLOSED'), /"Error: plain"/)
  })
})

describe('a test of the suite', () => {
  it('knows what comes too early, and too late, by the clock that it moves', async () => {
    const stage = new Stage(make, new Set(['ownTime']))
    const early = stage.time()
    await assert.rejects(early.passes(50, Promise.resolve()), /before 50 ms/)
    await assert.rejects(stage.time().passes(50, new Promise(() => {})), /had not settled 50 ms after the 50 ms/)
    const { clock } = early.options
    assert.equal(await early.passes(50, new Promise(resolve => clock.setTimeout(resolve, 51, 'good'))), 'good')
  })

  it('knows what comes too early by the clock of the system', async () => {
    const time = new Stage(make, new Set()).time()
    await assert.rejects(time.passes(60000, Promise.resolve()), /before 60000 ms/)
    assert.equal(await time.passes(1, Promise.resolve(5)), 5)
  })

  it('closes what it has opened, as the engine says, or else at once', async () => {
    const stage = new Stage(make, new Set())
    const queue = await stage.open(() => {}, {})
    stage.add(queue, 1)
    const closed = once(queue, 'close')
    await stage.clear()
    assert.equal(queue.closed, true)
    await closed
  })
})
