'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')

const windowScheduler = methods => ({ waiting () {}, start () {}, done () {}, select: () => 0, ...methods })

describe('a waiting job that is aborted', function () {
  it('inside the test function of remove leaves the others as they are', async function () {
    const queue = fairlane(async payload => payload, { scheduler: 'equal' }).pause()
    const controller = new AbortController()
    const aborted = queue.add('aborted', { type: 'a', signal: controller.signal })
    const removed = queue.add('removed', { type: 'a' })
    const kept = queue.add('kept', { type: 'a' })
    assert.equal(queue.remove(({ payload }) => {
      controller.abort()
      return payload === 'removed'
    }), 1)
    assert.equal(queue.waiting, 1)
    queue.resume()
    await assert.rejects(aborted, { code: 'FAIRLANE_ERR_ABORTED' })
    await assert.rejects(removed, { code: 'FAIRLANE_ERR_CLEARED' })
    assert.equal(await kept, 'kept')
  })

  for (const [name, told] of [['has a method removed', []], ['has none', undefined]]) {
    it(`leaves a window whose scheduler ${name}`, async function () {
      const methods = told === undefined ? {} : { removed: type => told.push(type) }
      const queue = fairlane(async payload => payload, { scheduler: windowScheduler(methods) }).pause()
      const controller = new AbortController()
      const aborted = queue.add(1, { type: 'a', signal: controller.signal })
      const kept = queue.add(2, { type: 'b' })
      controller.abort()
      await assert.rejects(aborted, { code: 'FAIRLANE_ERR_ABORTED' })
      assert.deepEqual(told, told && ['a'])
      queue.resume()
      assert.equal(await kept, 2)
    })
  }
})
