'use strict'

// As answers.test.js: answers of the broker about results, and about single jobs.

const assert = require('node:assert')
const { Postponed, Throttled } = require('../../lib/distributed')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atLaterTimes } = require('./later')
const { atServer } = require('./opened')
const { latch, openRigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('answers of the broker about jobs', function () {
  const at = atServer()
  const later = atLaterTimes()

  const open = openRigged(at)

  const key = what => `{fairlane:${at.name}}:${what}`

  describe('about results', () => {
    it('that no notice tells are found in the records', async () => {
      const { queue, rig } = await open(async n => {
        if (n === 'fails') throw Object.assign(new RangeError('no'), { code: 'E_OWN' })
        return n
      }, { maxAttempts: 1 })
      rig.rig('publish', async () => 0)
      queue.once('done', ({ id }) => at.server.cli('hdel', key(id), 'returnvalue'))
      const results = [undefined, 'done', 'fails'].map((n, at) => queue.add(n, { type: `type-${at}` }))
      const failed = expectReject(results[2], 'E_OWN')
      await queue.flush()
      await later(2000)
      assert.deepEqual(await Promise.all(results.slice(0, 2)), [null, 'done'])
      assert.equal((await failed).name, 'RangeError')
    })

    it('that nobody can read reject, and keep no others waiting', async () => {
      const { queue, rig } = await open(async n => n)
      rig.rig('publish', async () => 0)
      queue.once('done', ({ id }) => at.server.cli('hset', key(id), 'returnvalue', '{'))
      const results = [1, 2].map(n => queue.add(n, { type: 'a' }))
      const rejected = expectReject(results[0], 'FAIRLANE_ERR_RESULT')
      await queue.flush()
      await until(() => queue.stats().done === 2)
      await later(2000)
      assert.match((await rejected).message, /cannot be read/)
      assert.equal(await results[1], 2)
    })

    it('are not missed while the push is still on its way', async () => {
      const { queue, rig } = await open(null)
      const stored = queue.add(1, { type: 'a' })
      await queue.flush()
      const { reached, open: letGo } = rig.delay('fairlanePush')
      const late = queue.add(2, { type: 'b' })
      await reached
      const looked = latch()
      rig.once('pipeline', call => {
        const pipeline = call()
        const { exec } = pipeline
        return Object.assign(pipeline, { exec: () => exec.call(pipeline).finally(looked.open) })
      })
      await later(2000)
      await looked.opened
      letGo()
      await open(async n => n)
      assert.deepEqual(await Promise.all([stored, late]), [1, 2])
    })

    it('that are no records: it is looked again', async () => {
      const { queue, rig } = await open(async n => n)
      rig.rig('publish', async () => 0)
      const result = queue.add(1)
      await queue.flush()
      const looked = latch()
      const restore = rig.rig('pipeline', call => {
        const pipeline = call()
        return Object.assign(pipeline, {
          exec: async () => {
            looked.open()
            return [[new Error('ERR no'), null]]
          }
        })
      })
      await later(2000)
      await looked.opened
      restore()
      await queue.close()
      assert.equal(await result, 1)
    })
  })

  describe('about single jobs', () => {
    it('that have ended meanwhile are none', async () => {
      const { queue, rig } = await open(null)
      const id = await queue.push(1, { delayMs: 60000 })
      rig.once('zscore', async () => null)
      assert.equal((await queue.get(id)).dueAt, undefined)
      const method = ['getStateV2', 'getState']
      const restores = method.map(name => rig.rig(name, async () => 'unknown'))
      assert.equal(await queue.get(id), undefined)
      for (const restore of restores) restore()
    })

    it('that are gone before they can be taken away were not cancelled', async () => {
      const { queue, rig } = await open(null)
      const id = await queue.push(1)
      rig.once('fairlaneRemove', call => {
        at.server.cli('del', key(id)) // after it was seen that it waits
        return call()
      })
      assert.equal(await queue.cancel(id), false)
    })

    it('that are errors reject with FAIRLANE_ERR_BROKER', async () => {
      const { queue, rig } = await open(null)
      const id = await queue.push(1)
      const refused = rig.refuse('hmget')
      assert.match((await expectReject(queue.get(id), 'FAIRLANE_ERR_BROKER')).cause.message, /refused by the test/)
      await refused
      at.server.cli('set', key('b:wait'), 'no list')
      at.server.cli('sadd', key('.types'), 'b')
      await expectReject(queue.counts(), 'FAIRLANE_ERR_BROKER')
    })
  })

  describe('to a runner that is throttled', () => {
    it('and to one that postpones count as no wait for a first start', async () => {
      const started = []
      const { queue } = await open(async n => {
        started.push(n)
        if (started.filter(other => other === n).length > 1) return n
        throw n === 'throttled' ? new Throttled(2100) : new Postponed(2100)
      }, { maxWaitMs: 2000, concurrency: 2 })
      const results = ['throttled', 'postponed'].map(n => queue.add(n, { type: n }))
      assert.deepEqual(await Promise.all(results), ['throttled', 'postponed'])
    })
  })
})
