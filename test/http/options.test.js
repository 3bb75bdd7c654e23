'use strict'

const assert = require('node:assert/strict')
const { admission } = require('../../lib/http')
const { fakeClock } = require('../../lib/testing')
const { served, until } = require('./served')

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
    assert.throws(() => admission({ settleBy: 'promise' }), { code: 'FAIRLANE_ERR_OPTION', message: /ends with the response/ })
    assert.throws(() => admission({ path: 'folder' }), { code: 'FAIRLANE_ERR_OPTION', message: /fairlane\/durable/ })
  })
})

describe('the option cost of an admission', function () {
  let site
  afterEach(() => site.end())

  it('says what a request takes of a rate of cost, and may give a promise, or nothing', async function () {
    const clock = fakeClock()
    const costs = { '/1': 4, '/2': Promise.resolve(5), '/3': undefined, '/4': 0, '/5': 2 }
    site = await served({ clock, cost: ({ url }) => costs[url], ratePerType: { limit: 10, intervalMs: 1000, of: 'cost' } }, {
      handler: (request, response) => response.end('')
    })
    for (const path of Object.keys(costs).slice(0, 4)) assert.equal((await site.get(path, 'a')).status, 200)
    assert.equal(site.admit.stats().spent, 10)
    const later = site.get('/5', 'a')
    await until(() => site.admit.stats().waiting === 1)
    assert.equal((await site.get('/5', 'b')).status, 200)
    clock.advance(1000)
    assert.equal((await later).status, 200)
    assert.equal(site.admit.stats().spent, 14)
  })

  it('hands on what is wrong with it, as that of tenant', async function () {
    const costs = [-1, 0.5, '1', 2 ** 60, 11, Promise.resolve(NaN)]
    site = await served({ cost: ({ url }) => url === '/' ? (() => { throw new Error('mine') })() : costs[Number(url.slice(1))], rate: { limit: 10, intervalMs: 1000, of: 'cost' } })
    for (let i = 0; i < costs.length; i++) assert.equal((await site.get(`/${i}`)).text, 'FAIRLANE_ERR_ARGUMENT')
    assert.equal((await site.get('/')).text, 'mine')
    assert.deepEqual([site.admit.stats().spent, site.admit.stats().running], [0, 0])
    assert.throws(() => admission({ cost: 5 }), { code: 'FAIRLANE_ERR_OPTION' })
  })
})
