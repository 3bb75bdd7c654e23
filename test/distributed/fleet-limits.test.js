'use strict'

// How the limits of a fleet are written, followed, and written again.

const assert = require('node:assert')
const { once } = require('node:events')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { openRigged } = require('./rigged')
const { until } = require('./until')

const SECOND = { limit: 5, intervalMs: 1000 }
const HOUR = { limit: 2, intervalMs: 3600000 }

describeWithRedis('limits of a fleet', function () {
  const at = atServer()
  const rig = openRigged(at)
  const fleet = (...fields) => at.server.cli('hmget', `{fairlane:${at.name}}:.fleet`, ...fields).split('\n')
  const copy = (...fields) => at.server.cli('hmget', `{fairlane:${at.name}}:.limits`, ...fields).split('\n')
  const flush = () => at.server.cli('flushall')

  it('are told where they change, by any process', async () => {
    const one = await at.open(null, { rate: SECOND })
    const two = await at.open(null, { globalTypeCap: 3 })
    const told = Promise.all([one, two].map(queue => once(queue, 'limits')))
    await two.setRates({ rate: null })
    for (const [{ before, after }] of await told) {
      assert.deepEqual([before.rate, after.rate], [SECOND, null])
      assert.equal(after.globalTypeCap, 3)
    }
    await two.setRates({ rate: null }) // nothing new
    await two.setRates({ ratePerType: new Map([['a', HOUR]]) })
    await two.setRates({ ratePerType: SECOND })
    assert.equal(copy('rates', 'rates:a').join(''), JSON.stringify([SECOND]))
  })

  it('are those of the broker again before a job starts, when it has come back empty', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', globalTypeCap: 1, globalTypeCaps: { b: 2 } })
    await queue.setGlobalCap('c', 2)
    await queue.pauseGlobal()
    await queue.hold(3600000)
    flush()
    assert(await queue.heldMs() > 3590000)
    assert.equal(fleet('cap', 'cap:b', 'cap:c', 'paused').join(), '1,2,2,1')
    await Promise.all(Array.from({ length: 12 }, (_, n) => queue.pushType('abc'[n % 3], n)))
    await until(() => copy('paused')[0] === '1')
    await queue.resumeGlobal()
    await queue.hold(0)
    await gate.until(5)
    await queue.pushType('a', 'more')
    assert.deepEqual(gate.started.map(({ context }) => context.type).sort().join(''), 'abbcc')
    await queue.clear()
    gate.release(5)
    await queue.onIdle()
  })

  it('have a pause and a hold of all again, when it has come back empty', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback' })
    await queue.hold(600000)
    await queue.pauseGlobal()
    flush()
    await queue.push('a')
    await until(() => fleet('paused', 'heldUntil').every(text => text !== ''))
    assert.deepEqual(gate.payloads, [])
    const heldMs = await queue.heldMs()
    assert(heldMs > 590000 && heldMs <= 600000, `${heldMs}`)
    await queue.resumeGlobal()
    await queue.hold(0)
    await gate.until(1)
    gate.release(1)
  })

  it('are filled in where another process has begun anew without them', async () => {
    const old = await at.open(null, { rate: HOUR, globalConcurrency: 4 })
    await old.setGlobalConcurrency(3)
    await old.hold(3600000)
    const told = []
    old.on('limits', ({ after }) => told.push(after))
    const { queue, rig: rigged } = await rig(null, {})
    flush()
    // one that knows nothing comes first
    const fresh = at.open(null, { globalTypeCap: 9 })
    assert.equal(rigged.calls.status, 'ready')
    await fresh
    await until(() => fleet('rate', 'concurrency', 'cap').join() === `${JSON.stringify([HOUR])},3,9`)
    await until(async () => await (await fresh).heldMs() > 3500000)
    const again = await at.open(null, { globalConcurrency: 4 })
    assert.equal(fleet('concurrency')[0], '3')
    await Promise.all([queue.close(), again.close()])
  })

  it('are the later ones where a server has lost the last change, or a partition is ahead', async () => {
    const queue = await at.open(async () => {}, { globalTypeCap: 5 })
    const [before] = fleet('generation')
    await queue.setGlobalCap('a', 1)
    const [generation] = fleet('generation')
    at.server.cli('hset', `{fairlane:${at.name}}:.fleet`, 'generation', before)
    at.server.cli('hdel', `{fairlane:${at.name}}:.fleet`, 'cap:a')
    await queue.heldMs()
    assert.equal(fleet('generation', 'cap:a').join(), `${generation},1`)
    // the trace of a write that nobody knows any more
    at.server.cli('hset', `{fairlane:${at.name}}:.limits`, 'generation', String(Number(generation) + 1e9), 'cap', '99')
    await queue.add(1, { type: 'a' })
    assert(Number(fleet('generation')[0]) > Number(generation) + 1e9)
    assert.equal(copy('cap')[0], '5')
  })

  it('reach a partition whose copy could not be written then, by whoever comes next', async () => {
    const { queue, rig: rigged } = await rig(null, {})
    rigged.refuse('fairlaneCopyTerms', new Error('LOADING the test'))
    await queue.setGlobalCap('a', 1)
    assert.equal(copy('cap:a').join(''), '')
    const other = await at.open(async () => {})
    await other.add(1, { type: 'a' }) // its process knows of the cap
    assert.equal(copy('cap:a')[0], '1')
  })

  it('that the broker refuses are told of, once for all', async () => {
    const { queue, rig: rigged } = await rig(null, {})
    const error = once(queue, 'error')
    rigged.refuse('fairlaneCopyTerms')
    await queue.setGlobalCap('a', 1)
    assert.match((await error)[0].message, /the limits of the queue/)
    await until(() => copy('cap:a')[0] === '1')
  })

  it('of two writers are both written', async () => {
    const queues = await Promise.all(Array.from({ length: 4 }, (_, n) => at.open(null, { globalTypeCaps: { [`own-${n}`]: n + 1 } })))
    await Promise.all(queues.map((queue, n) => queue.setGlobalCap(`type-${n}`, n + 1)))
    assert.deepEqual(copy(...queues.map((_, n) => `cap:type-${n}`)), ['1', '2', '3', '4'])
  })

  it('are spread among partitions, each with what its types need', async () => {
    const queue = await at.open(async () => {}, { partitions: 4, globalTypeCap: 2, ratePerType: HOUR })
    const types = Array.from({ length: 3000 }, (_, n) => `type-${n}`)
    await queue.setRates({ ratePerType: new Map(types.map(type => [type, SECOND])) })
    const sizes = [0, 1, 2, 3].map(n => Number(at.server.cli('hlen', `{fairlane:${at.name}:${n}}:.limits`)))
    assert.equal(sizes.reduce((sum, size) => sum + size - 2, 0), types.length)
    assert(Math.min(...sizes) > 600)
    await queue.add(1, { type: 'type-5' })
    await queue.setRates({ ratePerType: null })
    assert.equal(await queue.heldMs('type-5'), 0)
  })

  it('count what runs in a process that has not heard of them yet', async () => {
    const gate = gates()
    const options = { settleBy: 'callback', scheduler: 'fair' }
    const one = await at.open(gate.runner, options)
    one.pause()
    const { queue: late, rig: messages } = await rig(gate.runner, options)
    for (let n = 0; n < 4; n++) await late.pushType('a', n)
    await gate.until(4)
    late.pause()
    one.resume()
    const hears = messages.delay('fairlaneTerms')
    await one.setGlobalConcurrency(3)
    await hears.reached
    await one.pushType('b', 'next')
    for (let n = 0; n < 100; n++) await one.counts() // calls after which it would have started
    assert.deepEqual([gate.started.length, one.running + late.running], [4, 4])
    hears.open()
    gate.release(2)
    await gate.until(5)
    gate.release(3)
    await one.onIdle()
  })

  /** A process that has the only permit of an hour, which is over before its job comes, and another one that waits for it. */
  async function withLatePermit () {
    const gate = gates()
    const options = { settleBy: 'callback', scheduler: 'equal', rate: { limit: 1, intervalMs: 3600000 } }
    const { queue: slow, rig: held } = await rig(gate.runner, options)
    const { queue: other, rig: asks } = await rig(gate.runner, options)
    other.pause()
    const job = held.delay('fairlaneTake')
    await slow.pushType('a', 'late')
    await job.reached
    const over = performance.now() + 250 // where answers take long, permits are good for up to 200 ms
    const told = new Promise(resolve => asks.once('fairlanePermits', async call => {
      const answer = await call()
      resolve(answer[1])
      return answer
    }))
    other.resume()
    await other.pushType('b', 'waits')
    assert(await told > 3500000)
    await until(() => performance.now() > over)
    return { gate, slow, other, job }
  }

  it('give a permit that was over before its job came to the process that waits for it', async () => {
    const { gate, slow, other, job } = await withLatePermit()
    slow.pause()
    job.open()
    await gate.until(1)
    assert.deepEqual([gate.started[0].payload, slow.running, other.running], ['waits', 0, 1])
    gate.release(1)
  })

  it('give it to the same process again where nobody else uses it', async () => {
    const { gate, slow, other, job } = await withLatePermit()
    other.pause()
    job.open()
    await gate.until(1)
    assert.deepEqual([slow.running, other.running], [1, 0])
    gate.release(1)
  })

  it('give it to another process where its own closes', async () => {
    const { gate, slow, other, job } = await withLatePermit()
    const closed = slow.close({ timeoutMs: 0 })
    job.open()
    await closed
    await gate.until(1)
    assert.equal(other.running, 1)
    gate.release(1)
  })

  it('hold back what has no permit, and let go of it by a call', async () => {
    const gate = gates()
    const options = { settleBy: 'callback', scheduler: 'fair', rate: HOUR, globalConcurrency: 5 }
    const queues = [await at.open(gate.runner, options), await at.open(gate.runner, options)]
    await Promise.all(Array.from({ length: 9 }, (_, n) => queues[n % 2].pushType(`type-${n}`, n)))
    await gate.until(2)
    const heldMs = await queues[0].heldMs()
    assert(heldMs > 3500000 && heldMs <= 3605000, `${heldMs}`)
    await queues[0].setRates({ rate: { limit: 1000, intervalMs: 1000 } })
    assert.equal(await queues[0].heldMs(), 0)
    await gate.until(5)
    await queues[1].setGlobalConcurrency(Infinity)
    await queues[0].setRates({ rate: null })
    await gate.until(9)
    await queues[0].setGlobalConcurrency(3) // nine run, and nothing starts before six have ended
    await queues[0].pushType('last', 'last')
    for (let running = 9; running > 3; running--) {
      gate.release(1)
      await until(async () => (await queues[0].counts()).running === running - 1)
      assert.equal(gate.started.length, 9)
    }
    gate.release(1)
    await gate.until(10)
    gate.release(gate.open.length)
    await queues[0].onIdle()
  })
})
