'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { node } = require('../../support/child')

describe('add', function () {
  it('gives a promise of the result', async function () {
    const queue = fairlane(async (n) => 2 * n)
    assert.equal(await queue.add(21), 42)
  })

  it('rejects with what the job fails with', async function () {
    const error = new Error('expected')
    await assert.rejects(fairlane(async () => { throw error }).add(1), error)
    await assert.rejects(fairlane((n, done) => done(error)).add(1), error)
  })

  it('never leaves a promise pending: clear and remove reject it', async function () {
    const queue = fairlane(() => {}).pause()
    const cleared = queue.add(1)
    queue.clear({ reason: 'gone' })
    await assert.rejects(cleared, { code: 'FAIRLANE_ERR_CLEARED', cause: 'gone' })
    const removed = queue.add(2, { timeoutMs: 1000 })
    queue.remove(() => true)
    await assert.rejects(removed, { code: 'FAIRLANE_ERR_CLEARED' })
  })

  it('queues at the head if asked', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1).pause()
    queue.add('a')
    queue.add('b', { unshift: true })
    queue.add('c', { unshift: true, timeoutMs: Infinity })
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), ['c', 'b', 'a'])
  })

  it('takes a type, which a scheduler needs', async function () {
    const queue = fairlane(async (payload, done, { type }) => type, { scheduler: 'equal' })
    assert.equal(await queue.add(1, { type: 7 }), '7')
    assert.equal(await queue.add(1, { type: 'head', unshift: true }), 'head')
    assert.equal(await queue.add(1, { type: 'extras', unshift: true, timeoutMs: 1000 }), 'extras')
    assert.throws(() => queue.add(1), { code: 'FAIRLANE_ERR_TYPE_REQUIRED' })
    assert.throws(() => queue.add(1, { type: Symbol('x') }), { code: 'FAIRLANE_ERR_TYPE' })
    assert.equal(await fairlane(async (payload, done, { type }) => type).add(1, { type: 'ignored' }), undefined)
  })

  it('throws for wrong use, before anything has changed', function () {
    const queue = fairlane(() => {})
    const wrong = [null, 5, [], { tpye: 1 }, { unshift: 1 }, { signal: {} }, { signal: null }, { timeoutMs: 0 },
      { timeoutMs: '5' }, { timeoutMs: -1 }, { maxWaitMs: NaN }, { maxWaitMs: 0 }]
    for (const options of wrong) assert.throws(() => queue.add(1, options), { code: 'FAIRLANE_ERR_ARGUMENT' }, JSON.stringify(options))
    assert.throws(() => queue.add(1, { tpye: 1 }), /'type'/)
    assert.equal(queue.stats().accepted, 0)
  })

  it('looks for unknown names in options of any kind, among those of their own that are enumerable', async function () {
    class Options { constructor () { this.tpye = 1 } }
    const bare = Object.assign(Object.create(null), { unshfit: true })
    const queue = fairlane(async (n) => n)
    for (const options of [new Options(), bare, new Proxy({ tpye: 1 }, {}), Object.assign(new Map(), { tpye: 1 }), { type: 1, 0: 1 }]) {
      assert.throws(() => queue.add(1, options), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT', message: /^unknown option '(tpye'; did you mean 'type'\?|unshfit'; did you mean 'unshift'\?|0')$/ })
    }
    assert.equal(queue.stats().accepted, 0)

    const hidden = Object.defineProperty({}, 'tpye', { value: 1 })
    for (const options of [Object.create({ tpye: 1 }), hidden, { [Symbol('tpye')]: 1 }, new Proxy({}, {}), new Map(), new Date(0)]) {
      assert.equal(await queue.add(1, options), 1)
    }
  })

  it('makes an unhandled rejection like any promise that nobody awaits, where push makes none', async function () {
    const program = (call) => `
      const queue = require('fairlane')(async () => { throw new Error('expected') })
      process.on('unhandledRejection', (error) => console.log('unhandled', error.message))
      queue.${call}`
    assert.equal((await node(['--eval', program('add(1)')])).stdout.trim(), 'unhandled expected')
    assert.equal((await node(['--eval', program('push(1)')])).stdout, '')
  })
})
