'use strict'

const assert = require('node:assert/strict')
const { admission } = require('../../lib/http')

describe('the options of an admission', function () {
  it('are those of a queue, with defaults of their own', function () {
    const { queue } = admission()
    assert.equal(queue.concurrency, 64)
    assert.equal(queue.scheduler.constructor.name, 'Equal')
    assert.equal(admission({ concurrency: 3 }).queue.concurrency, 3)
    assert.equal(admission({ concurrency: undefined, scheduler: 'fair' }).queue.scheduler.constructor.name, 'Fair')
    const { Window } = { Window: { waiting () {}, start () {}, done () {}, select () {} } }
    for (const scheduler of [null, Window]) assert.equal(admission({ scheduler }).queue.scheduler, scheduler)
    admission({ tenant: () => 'x', exempt: () => true, refuse () {}, serverTiming: false, until: 'headers', rate: { limit: 1, intervalMs: 1 } })
  })

  it('are refused if they are wrong', function () {
    for (const name of ['tenant', 'exempt', 'refuse', 'serverTiming', 'until', 'maxWaiting', 'maxWaitMs', 'timeoutMs', 'asyncContext', 'rate']) {
      for (const value of [null, 'x', {}]) {
        assert.throws(() => admission({ [name]: value }), { name: /TypeError|RangeError/, code: 'FAIRLANE_ERR_OPTION' }, name)
      }
    }
    for (const options of [null, 7, 'x', []]) assert.throws(() => admission(options), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => admission({ concurrency: 0 }), { code: 'FAIRLANE_ERR_CONCURRENCY' })
    assert.throws(() => admission({ scheduler: 'none' }), { code: 'FAIRLANE_ERR_SCHEDULER' })
  })

  it('that are unknown, or make no sense for requests, are refused with a reason', function () {
    assert.throws(() => admission({ tennant () {} }), { code: 'FAIRLANE_ERR_OPTION', message: /did you mean 'tenant'/ })
    assert.throws(() => admission({ maxAttempts: 3 }), { code: 'FAIRLANE_ERR_OPTION', message: /a request is handled once/ })
    assert.throws(() => admission({ settleBy: 'promise' }), { code: 'FAIRLANE_ERR_OPTION', message: /ends with its response/ })
    assert.throws(() => admission({ path: 'folder' }), { code: 'FAIRLANE_ERR_OPTION', message: /fairlane\/durable/ })
  })
})
