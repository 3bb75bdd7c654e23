'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { OBSERVE } = require('../../../lib/core/internals')
const { History } = require('../../../lib/history')
const { fakeClock } = require('../../../lib/testing')
const { quiet } = require('../../support/turns')
const { node } = require('../../support/child')

const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }

describe('the option observers', function () {
  it('takes one, an array of them, or none', async function () {
    for (const observers of [new History(), [new History()], [new History(), new History()], [], undefined]) {
      const queue = fairlane(async () => {}, { observers })
      await queue.add(1)
    }
  })

  it('takes nothing else, and none that observes another queue, or the same one twice', function () {
    const taken = new History()
    fairlane(() => {}, { observers: taken })
    const twice = new History()
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    for (const observers of [null, 1, 'history', {}, [{}], [undefined], () => {}, History, taken, [new History(), taken], [twice, twice], revoked.proxy]) {
      assert.throws(() => fairlane(() => {}, { observers }), { name: 'TypeError', code: 'FAIRLANE_ERR_OPTION' })
    }
    fairlane(() => {}, { observers: twice })
  })

  it('leaves an observer free when another option is wrong', function () {
    const history = new History()
    assert.throws(() => fairlane(() => {}, { observers: history, concurrency: 0 }), { code: 'FAIRLANE_ERR_CONCURRENCY' })
    fairlane(() => {}, { observers: history })
  })

  it('shows several histories the same records, and keeps what the one wants that keeps most', async function () {
    const clock = fakeClock()
    const histories = [new History({ keep: 0, keepMs: 10 }), new History({ keep: 20000 })]
    const queue = fairlane((n, done) => done(), { observers: histories, clock, concurrency: Infinity })
    for (let i = 0; i < 30000; i++) queue.push(i)
    await queue.onIdle()
    for (const history of histories) assert(history.counts().done >= 20000)
    assert.deepEqual(histories[0].counts(), histories[1].counts())
  })

  it('is told of each job that is refused, by the code of its error', async function () {
    const history = new History()
    let ledger
    const observer = { [OBSERVE]: (...given) => (ledger = history[OBSERVE](...given)) }
    const queue = fairlane(() => {}, { observers: observer, scheduler: 'equal', maxWaiting: 2, maxWaitingPerType: { a: 1 }, concurrency: 1 }).pause()
    const codes = []
    const add = (type, signal) => queue.add(1, { type, signal }).catch(({ code }) => codes.push(code))
    queue.pushType('a', 1)
    add('a') // its type has one
    queue.pushType('b', 1)
    add('b') // there are two
    add('b', AbortSignal.abort())
    queue.close({ drain: false })
    add('a')
    queue.pushType('a', 1) // nobody waits for the answer
    await quiet()
    const names = ['TYPE_FULL', 'QUEUE_FULL', 'ABORTED', 'CLOSED'].map(name => `FAIRLANE_ERR_${name}`)
    assert.deepEqual(codes, names)
    assert.deepEqual([...ledger.refusedCounts], names.map((name, at) => [name, at === 3 ? 2 : 1]))
    assert.equal(queue.stats().rejected, 5)
  })

  it('changes nothing that a queue does: stats, order, contexts of runners, flushes', async function () {
    const seen = []
    const run = async observers => {
      const contexts = []
      const queue = fairlane((n, done, { type }) => {
        contexts.push([n, type])
        done()
      }, { observers, concurrency: 1 }).pause()
      queue.push(1).pushType('a', 2).unshift(0).unshiftType('b', -1)
      const flushed = queue.fflush()
      queue.push(3).push(4)
      assert.equal(queue.remove(({ payload, type }) => payload === 4 && type === undefined), 1)
      const jobs = [...queue.jobs()].map(({ payload, type }) => [payload, type])
      assert.deepEqual(jobs, [-1, 0, 1, 2, 3].map(payload => [payload, undefined]))
      queue.resume()
      await flushed
      await queue.onIdle()
      seen.push({ contexts, stats: queue.stats() })
    }
    await run(undefined)
    await run(new History())
    assert.deepEqual(seen[0], seen[1])
  })

  it('is not loaded for queues without it', async function () {
    const { stdout } = await node(['--eval', `
      const queue = require('fairlane')((n, done) => done(), { scheduler: 'equal' })
      queue.pushType('a', 1, () => console.log(Object.keys(require.cache).some(file => /lib.(ledger|history|metrics)/.test(file))))
    `])
    assert.equal(stdout.trim(), 'false')
  })

  it('keeps no program alive', async function () {
    const { code } = await node(['--eval', `
      const { History } = require('fairlane/history')
      const { Metrics } = require('fairlane/metrics')
      require('fairlane')((n, done) => done(), { observers: [new History(), new Metrics()] }).push(1)
    `], { timeoutMs: 20000 })
    assert.equal(code, 0)
  })
})

describe('isTypePaused', function () {
  it('tells of each type whether it is paused, with waiting jobs and without, in a lane of its own and in a shared one', async function () {
    const queue = fairlane(() => {}, { scheduler: 'equal', maxTypes: 1 }).pause()
    queue.pushType('a', 1).pushType('b', 1).pushType('c', 1)
    for (const type of ['a', 'b', 'none', 7]) {
      assert.equal(queue.isTypePaused(type), false)
      queue.pauseType(type)
      assert.equal(queue.isTypePaused(type), true)
    }
    assert.equal(queue.isTypePaused('c'), false)
    assert.equal(queue.isTypePaused('7'), true)
    queue.pushType('none', 1)
    for (const type of ['a', 'b', 'none', 7]) assert.equal(queue.resumeType(type).isTypePaused(type), false)
  })

  it('is false where types cannot be paused, and when the queue has closed', async function () {
    for (const options of [{}, { scheduler: WINDOW }, { observers: new History() }]) assert.equal(fairlane(() => {}, options).isTypePaused('a'), false)
    const queue = fairlane(() => {}, { scheduler: 'fair' })
    queue.pauseType('a').close()
    assert.equal(queue.isTypePaused('a'), false)
    await quiet()
  })

  it('throws for what is no type', function () {
    assert.throws(() => fairlane(() => {}).isTypePaused(Symbol('a')), { code: 'FAIRLANE_ERR_TYPE' })
  })
})
