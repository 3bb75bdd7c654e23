'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const outcomes = require('../../support/outcomes')
const { captureWarnings } = require('../../support/uncaught')
const { quiet } = require('../../support/turns')

describe('the warning about a job that is settled twice', function () {
  let warnings

  beforeEach(function () {
    warnings = captureWarnings()
  })

  afterEach(function () {
    warnings.release()
  })

  it('is emitted once per queue, with its code', async function () {
    const settled = outcomes()
    const run = (payload, done) => { done(); done(); done() }
    const first = fairlane(run, 2)
    for (let i = 0; i < 10; i++) first.push(i, settled.callback(i))
    await settled.until(10)
    await quiet()
    assert.equal(first.stats().misuse, 20)
    assert.equal(warnings.seen.length, 1)
    assert.equal(warnings.seen[0].code, 'FAIRLANE_WARN_SETTLED_TWICE')
    assert.equal(warnings.seen[0].name, 'FairlaneWarning')
    assert.match(warnings.seen[0].message, /^A runner settled its job more than once .* The first settlement counts\. .* stats\(\)\.misuse\.$/)

    const second = fairlane(run, 2)
    second.push(1, settled.callback(1))
    await settled.until(11)
    await quiet()
    assert.equal(warnings.seen.length, 2)
    assert.equal(first.stats().misuse, 20)
    assert.equal(second.stats().misuse, 2)
  })

  it('is not emitted for right use', async function () {
    const settled = outcomes()
    const queue = fairlane(async (payload, done) => { done(null, payload) }, 2)
    for (let i = 0; i < 10; i++) queue.push(i, settled.callback(i))
    await settled.until(10)
    await quiet()
    assert.deepEqual(warnings.seen, [])
    assert.equal(queue.stats().misuse, 0)
  })
})
