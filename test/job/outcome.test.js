'use strict'

const assert = require('node:assert')
const { Postponed, Throttled } = require('../../lib/job/postponing')
const { counts, endOf, outcomeOf } = require('../../lib/job/outcome')

const failure = new Error('it failed')
const timesTen = attempt => 10 * attempt

// error, attempt, maxAttempts, isFinal, backoffMs → end, delayMs, holdMs
const CASES = [
  ['has ended well', [undefined, 1, 1], ['done', 0, 0]],
  ['has ended well, with null', [null, 3, 3], ['done', 0, 0]],
  ['has ended well, with another falsy value', [0, 1, 5, true], ['done', 0, 0]],
  ['has failed, with attempts left', [failure, 1, 3], ['retry', 10, 0]],
  ['has failed, with one attempt left', [failure, 2, 3], ['retry', 20, 0]],
  ['has failed, with any number of attempts left', [failure, 7, Infinity], ['retry', 70, 0]],
  ['has failed, with none left', [failure, 3, 3], ['failed', 0, 0]],
  ['has failed, with fewer than none left', [failure, 4, 3], ['failed', 0, 0]],
  ['has failed with what is no error', ['why', 1, 2], ['retry', 10, 0]],
  ['has failed for good', [failure, 1, 3, true], ['failed', 0, 0]],
  ['has failed, and backoffMs wants no other attempt', [failure, 1, 3, false, () => Infinity], ['failed', 0, 0]],
  ['has failed, and is to be tried at once', [failure, 1, 3, false, () => 0], ['retry', 0, 0]],
  ['was throttled', [new Throttled(50), 1, 3], ['throttled', 0, 50]],
  ['was throttled in the last attempt, which does not count', [new Throttled(50), 3, 3], ['throttled', 0, 50]],
  ['was throttled, and for good', [new Throttled(50), 1, 3, true], ['throttled', 0, 50]],
  ['was postponed', [new Postponed(70), 1, 3], ['postponed', 70, 0]],
  ['was postponed in the last attempt, which does not count', [new Postponed(0), 3, 3], ['postponed', 0, 0]],
  ['has failed with what is like Throttled', [Object.assign(new Error('x'), { name: 'Throttled', retryAfterMs: 5 }), 1, 2], ['retry', 10, 0]]
]

describe('the outcome of an attempt', () => {
  for (const [title, [error, attempt, maxAttempts, isFinal, backoffMs = timesTen], [end, delayMs, holdMs]] of CASES) {
    it(`that ${title} is ${end}`, () => {
      const queue = { backoffMs, onFault: assert.fail }
      assert.deepEqual(outcomeOf({ error, attempt, maxAttempts, isFinal }, queue), { end, delayMs, holdMs })
      const first = endOf(error, attempt, maxAttempts, isFinal)
      assert.equal(first, backoffMs() === Infinity ? 'retry' : end)
      assert.equal(counts(first), !['throttled', 'postponed'].includes(end))
    })
  }

  it('asks backoffMs of attempts that are to be tried again only, and of nothing else', () => {
    const asked = []
    const backoffMs = (...args) => { asked.push(args); return 5 }
    for (const [, [error, attempt, maxAttempts, isFinal]] of CASES) {
      outcomeOf({ error, attempt, maxAttempts, isFinal }, { backoffMs, onFault: assert.fail })
    }
    const expected = CASES.filter(([,, [end]]) => end === 'retry').map(([, [error, attempt]]) => [attempt, error])
    expected.splice(5, 0, [1, failure]) // whom it is that says Infinity
    assert.deepEqual(asked, expected)
  })

  it('has the usual delay if backoffMs throws or gives no time, and says what is wrong', () => {
    const reason = new Error('why')
    for (const [backoffMs, isExpected] of [
      [() => { throw reason }, err => err === reason],
      [() => 'soon', err => err.code === 'FAIRLANE_ERR_OPTION' && err instanceof RangeError],
      [() => -1, err => err.code === 'FAIRLANE_ERR_OPTION']
    ]) {
      const faults = []
      const outcome = outcomeOf({ error: failure, attempt: 2, maxAttempts: 3 }, { backoffMs, onFault: err => faults.push(err) })
      assert.deepEqual(outcome, { end: 'retry', delayMs: 2000, holdMs: 0 })
      assert.deepEqual(faults.map(isExpected), [true])
    }
  })
})
