'use strict'

const assert = require('node:assert')
const { Fair } = require('../../schedulers')
const { turn } = require('../support/turns')
const { Bench } = require('./bench')

/** Quickq's protocol, first come first served. */
class FirstCome {
  waiting () {}
  start () {}
  done () {}
  select () {
    return 0
  }
}

const schedulers = {
  none: () => ({}),
  fair: () => ({ scheduler: 'fair' }),
  capped: () => ({ scheduler: 'capped', schedulerOptions: { typeCaps: { a: 1 }, hard: true } }),
  equal: () => ({ scheduler: 'equal', schedulerOptions: { weights: { a: 3 } } }),
  'equal with shared lanes': () => ({ scheduler: 'equal', maxTypes: 2, schedulerOptions: { typeCaps: { d: 1 } } }),
  'an object of lanes': () => ({ scheduler: new Fair({ concurrency: 3 }) }),
  'an object with a window': () => ({ scheduler: new FirstCome() })
}

describe('a durable queue keeps types, and their order, across restarts', () => {
  for (const [name, makeOptions] of Object.entries(schedulers)) {
    it(`with the scheduler: ${name}`, async () => {
      const bench = new Bench()
      const started = []
      const runner = (payload, done, { type, attempt }) => {
        if (attempt === 1) started.push(payload)
        assert.equal(type, payload[0])
        setImmediate(() => payload === 'b3' && attempt === 1 ? done(new Error('no')) : done())
      }
      const open = () => bench.open({ runner, concurrency: 3, backoffMs: 1, ...makeOptions() })
      let queue = await open()
      queue.pause()
      const types = ['a', 'b', 'c', 'd', 'e']
      for (let i = 0; i < 50; i++) await queue.pushType(types[i % 5], `${types[i % 5]}${Math.floor(i / 5)}`)
      for (const type of types) await queue.unshiftType(type, `${type}-1`)
      const order = [...queue.jobs()].map(({ id }) => id)
      queue = await bench.reopenAfterKill({ runner, ...makeOptions() })
      queue.pause()
      assert.deepEqual([...queue.jobs()].map(({ id }) => id), order)
      if (queue.scheduler !== null) for (const type of types) assert.equal([...queue.jobs(type)].length, 11)
      await queue.close({ timeoutMs: 0 })
      queue = await open()
      for (let i = 0; started.length < 20; i++) await turn()
      queue = await bench.reopen({ runner, concurrency: 3, backoffMs: 1, ...makeOptions() })
      while (queue.length > 0) {
        await turn()
        bench.clock.advance(1)
      }
      await queue.close({ drain: true })
      for (const type of types) {
        const numbers = started.filter(payload => payload[0] === type).map(payload => Number(payload.slice(1)))
        assert.deepEqual([...new Set(numbers)], [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      }
      assert.equal(queue.stats().dead, 0)
    })
  }
})

describe('a durable queue with types', () => {
  it('has room in the limits of named types for what it recovers, and refuses more', async () => {
    const bench = new Bench()
    const options = { scheduler: 'equal', maxTypes: 1, maxWaitingPerType: { a: 2 } }
    let queue = await bench.open(options)
    queue.pause()
    for (const type of ['x', 'a', 'y', 'a', 'z']) await queue.pushType(type, 1)
    queue = await bench.reopen(options)
    queue.pause()
    await assert.rejects(queue.pushType('a', 1), { code: 'FAIRLANE_ERR_TYPE_FULL', waiting: 2 })
    await queue.pushType('x', 1)
    assert.equal(queue.waiting, 6)
    await queue.close({ timeoutMs: 0 })
  })

  it('keeps thousands of them', async () => {
    const bench = new Bench()
    let queue = await bench.open({ scheduler: 'equal' })
    queue.pause()
    for (let i = 0; i < 3000; i++) await queue.pushType(`type ${i}`, i)
    queue = await bench.reopen({
      scheduler: 'equal', runner: (payload, done, { type }) => done(type === `type ${payload}` ? null : new Error(type))
    })
    await queue.onIdle()
    assert.deepEqual([queue.stats().done, queue.stats().failed], [3000, 0])
    await queue.close({ drain: true })
  })

  it('repairs a damaged log, and keeps the types of what is whole', async () => {
    const bench = new Bench()
    let queue = await bench.open({ scheduler: 'equal' })
    queue.pause()
    for (let i = 0; i < 20; i++) await queue.pushType(i % 2, 'x'.repeat(600))
    await queue.close({ timeoutMs: 0 })
    const file = bench.disk.folders.get('/queue').names.get('0000000001.log')
    file.bytes = Buffer.from(file.bytes)
    file.bytes[100] ^= 1
    await assert.rejects(bench.open({ scheduler: 'equal' }), { code: 'FAIRLANE_ERR_CORRUPT' })
    queue = await bench.open({ scheduler: 'equal', repair: true })
    queue.pause()
    assert.equal(queue.recovered.dropped.length, 1)
    assert.equal(queue.waiting, 19)
    assert.deepEqual([...queue.jobs(1)].map(({ type }) => type), new Array(10).fill('1'))
    await queue.close({ timeoutMs: 0 })
  })
})
