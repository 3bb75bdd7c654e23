'use strict'

// The differences from quickq that docs/reference/schedulers.md lists, each against quickq itself.

const assert = require('node:assert/strict')
const quickq = require('quickq')
const fairlane = require('../..')
const { turns } = require('../support/turns')

/** The types and payloads of the jobs that are started first, none of which ends. */
async function firstStarts (makeQueue, options, jobs) {
  const started = []
  const schedulerOptions = { ...options.schedulerOptions }
  const queue = makeQueue(payload => { started.push(payload) }, { concurrency: 10, ...options, schedulerOptions })
  for (const [type, payload] of jobs) queue.pushType(type, payload)
  await turns(20)
  return started
}

const many = (type, count) => Array.from({ length: count }, (_, i) => [type, `${type}${i}`])

describe('other than in quickq', function () {
  it('a payload of undefined is a job like others', async function () {
    const jobs = [['a', 1], ['a', undefined], ['b', 2]]
    const [theirs, ours] = [await firstStarts(quickq, { scheduler: 'fair' }, jobs), await firstStarts(fairlane, { scheduler: 'fair' }, jobs)]
    assert.deepEqual(theirs, [1, 2], 'quickq loses it')
    assert.deepEqual(ours, [1, undefined, 2])
  })

  it('types with the names of properties of all objects are held back like others', async function () {
    const quietJobs = [['quiet', 'quiet']]
    for (const type of ['constructor', 'toString', '__proto__']) {
      const quickqs = await firstStarts(quickq, { scheduler: 'capped' }, [...many(type, 20), ...quietJobs])
      const ours = await firstStarts(fairlane, { scheduler: 'capped' }, [...many(type, 20), ...quietJobs])
      const plain = await firstStarts(quickq, { scheduler: 'capped' }, [...many('plain', 20), ...quietJobs])
      assert.ok(!quickqs.includes('quiet'), 'quickq never holds it back')
      assert.equal(plain.indexOf('quiet'), 8)
      assert.equal(ours.indexOf('quiet'), 8)
    }
  })

  it('maxScanLength counts types, not jobs', async function () {
    const options = { scheduler: 'fair', schedulerOptions: { maxScanLength: 20 } }
    const jobs = [...many('flood', 100), ['quiet', 'quiet']]
    assert.ok(!(await firstStarts(quickq, options, jobs)).includes('quiet'))
    assert.ok((await firstStarts(fairlane, options, jobs)).includes('quiet'))
  })

  it('caps bind if they are told to', async function () {
    for (const scheduler of ['fair', 'capped']) {
      const jobs = many('only', 20)
      assert.equal((await firstStarts(quickq, { scheduler, schedulerOptions: { hard: true } }, jobs)).length, 10)
      assert.equal((await firstStarts(fairlane, { scheduler }, jobs)).length, 10)
      assert.equal((await firstStarts(fairlane, { scheduler, schedulerOptions: { hard: true } }, jobs)).length, 8)
    }
  })

  it('a cap below 0 is refused', async function () {
    const options = { scheduler: 'capped', schedulerOptions: { typeCaps: { a: -1 } } }
    quickq(() => {}, options)
    assert.throws(() => fairlane(() => {}, { scheduler: 'capped', schedulerOptions: { typeCaps: { a: -1 } } }), { code: 'FAIRLANE_ERR_OPTION' })
  })
})
