'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { fakeClock } = require('../../../lib/testing')
const { Bench } = require('../../durable/bench')
const { captureWarnings } = require('../../support/uncaught')
const { quiet, turn } = require('../../support/turns')

/* eslint-disable no-extra-bind */

// What takes one parameter, in all the ways to write it.
const WITHOUT_DONE = [
  n => n * 2,
  (n) => n * 2,
  n => null,
  n => ({ n }),
  é => é * 2,
  function (n) { return n },
  function named (n) { return n },
  { method (n) { return n } }.method,
  ({ a, b }) => 5,
  ([a, b]) => 5,
  (n,) => n, // eslint-disable-line @stylistic/comma-dangle
  (n /* , */) => 5,
  { 'a(b)' (n) { return 5 } }['a(b)']
]
// What takes done, or may: also what takes nothing that its length counts.
const WITH_DONE = [
  (n, done) => 5,
  () => 5,
  (n = 1) => n,
  ({ a = 1, b } = {}) => 5,
  (n = 1, done) => 5,
  ({ a, b }, done) => 5,
  (n = { a: 1 }, done) => 5,
  (n, ...rest) => 5,
  (...args) => 5,
  function (n, done) { return 5 },
  function () { return arguments.length },
  (n => n).bind(null),
  function (n, done) { return 5 }.bind(null),
  Math.sqrt,
  class {},
  new Proxy(n => n, {}),
  new Proxy(n => n, { get () { throw new Error('mine') } })
]
// What settles its jobs, or says nothing.
const SETTLING = [
  async n => n,
  n => ({ then (resolve) { resolve(n) } }),
  n => undefined,
  n => { throw new Error('expected') }
]

describe('the warning about a runner whose values settle nothing', function () {
  let warnings

  beforeEach(function () { warnings = captureWarnings() })
  afterEach(function () { warnings.release() })

  /** What a queue of a runner warns of. */
  async function codesOf (runner, options) {
    const { seen } = warnings
    const before = seen.length
    const queue = fairlane(runner, { clock: fakeClock(), ...options })
    for (const n of [1, 2, 3]) queue.push([n, n], () => {})
    await quiet()
    return seen.slice(before).map(({ code }) => code)
  }

  it('comes once, and names what was returned and the cure', async function () {
    assert.deepEqual(await codesOf(([n]) => n * 2), ['FAIRLANE_WARN_VALUE_IGNORED'])
    assert.match(warnings.seen[0].message, /^A runner returned 2, .* settleBy: 'promise'; .* done\(err, result\)/)
  })

  it('comes for each way to write a function of one parameter', async function () {
    for (const runner of WITHOUT_DONE) assert.deepEqual(await codesOf(runner), ['FAIRLANE_WARN_VALUE_IGNORED'], String(runner))
  })

  it('does not come for a runner that takes done, or may', async function () {
    for (const runner of WITH_DONE) assert.deepEqual(await codesOf(runner), [], Function.prototype.toString.call(runner))
    let end
    const ended = new Promise(resolve => { end = resolve })
    fairlane((n, done) => setImmediate(done)).push(1, end)
    await ended
    await turn()
    assert.deepEqual(warnings.seen, [])
  })

  it('does not come for a runner that settles its jobs, or returns nothing', async function () {
    for (const runner of SETTLING) assert.deepEqual(await codesOf(runner), [], String(runner))
    for (const settleBy of ['promise', 'callback']) assert.deepEqual(await codesOf(n => n, { settleBy }), [], settleBy)
    assert.deepEqual(await codesOf((n, done) => { done(); return 5 }), [])
  })

  it('looks at the runner once, however many values come', async function () {
    let looks = 0
    const get = (target, name) => {
      if (name === 'length') looks++
      return target[name]
    }
    await codesOf(new Proxy(n => n, { get }))
    assert.equal(looks, 1)
  })

  it('comes on disk too', async function () {
    for (const [runner, codes] of [[n => n * 2, ['FAIRLANE_WARN_VALUE_IGNORED']], [(n, done) => 5, []], [(n, done) => { done(); return 5 }, []]]) {
      const before = warnings.seen.length
      const bench = new Bench()
      const queue = await bench.open({ runner })
      for (const n of [1, 2]) await queue.push(n)
      await quiet()
      assert.deepEqual(warnings.seen.slice(before).map(({ code }) => code), codes)
      await queue.close({ timeoutMs: 0 })
    }
  })
})
