'use strict'

// What comes in between: calls that cross each other, connections that end, names that are not ours.

const assert = require('node:assert')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer, giveBack, servers } = require('./opened')
const { rigged } = require('./rigged')
const { until } = require('./until')

describeWithRedis('a distributed queue, when', function () {
  const at = atServer()
  const key = what => `{fairlane:${at.name}}:${what}`

  async function open (runner, options) {
    const rig = rigged(at.server.path)
    const queue = await at.open(runner, { connection: rig.connection, settleBy: 'callback', ...options })
    return { queue, rig }
  }

  it('a job that it runs is given to it again, has lost the first one', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { leaseMs: 600000 })
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    const lost = once(queue, 'lost')
    // as if the lease were over: another process has put it back, before this one hears of it
    giveBack(at, id)
    rig.calls.emit('ready')
    assert.equal((await lost)[0].id, id)
    await gate.until(2)
    gate.release(2)
    await queue.onIdle()
    assert.equal(queue.stats().done, 1)
  })

  it('a job is cancelled whose end is on its way, lets it end', async () => {
    const { queue, rig } = await open((n, done) => done(null, n))
    const { reached, open: letGo } = rig.delay('fairlaneEnd')
    const result = queue.add(1, { type: 'a' })
    await reached
    const [name] = at.server.cli('lrange', key('a:active'), '0', '-1').split('\n')
    const heard = once(rig.messages, 'message')
    await queue.cancel(`a:${name}`)
    await heard
    letGo()
    assert.equal(await result, 1)
    assert.equal(await queue.cancel(`a:${name}`), false)
  })

  it('a job is cancelled that another process runs, does nothing', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner)
    const idle = await at.open(async () => {})
    idle.pause()
    const result = queue.add(1, { type: 'a' })
    await gate.until(1)
    const { queue: other, rig: otherRig } = await open(async () => {})
    const heard = once(otherRig.messages, 'message')
    await queue.cancel(gate.started[0].context.id)
    await heard
    await expectReject(result, 'FAIRLANE_ERR_ABORTED')
    assert.deepEqual([other.stats().cancelled, queue.stats().cancelled], [0, 1])
    gate.release(1)
    assert(rig.calls)
  })

  it('a dead letter is cancelled, or one that another process puts back, says so', async () => {
    const { queue, rig } = await open((n, done) => done('a text'), { maxAttempts: 1 })
    const result = queue.add(1, { type: 'a' })
    await assert.rejects(result, { name: 'Error', message: 'a text' })
    const [{ id }] = await queue.deadLetters()
    assert.equal(await queue.cancel(id), false)
    rig.once('fairlaneRetry', async () => 0)
    assert.equal(await queue.retryDead(id), false)
    const failed = rig.refuse('fairlaneRetry')
    await expectReject(queue.retryDead(id), 'FAIRLANE_ERR_BROKER')
    await failed
    // what BullMQ makes of a job has none of our fields; and a name that stands for no job is none
    at.server.cli('hdel', key(id), 'attempts', 'fault')
    at.server.cli('zadd', key('a:failed'), '1', 'nobody')
    const [{ attempts, error }] = await queue.deadLetters()
    assert.deepEqual([attempts, error.message], [1, 'a text'])
    at.server.cli('hdel', key(id), 'atm', 'failedReason')
    assert.deepEqual((await queue.deadLetters()).map(({ attempts, error }) => [attempts, error]), [[0, undefined]])
  })

  it('an add is aborted whose job is gone, says that it was aborted', async () => {
    const { queue } = await open(null)
    const controller = new AbortController()
    const result = queue.add(1, { type: 'a', signal: controller.signal })
    await queue.flush()
    at.server.cli('flushall')
    controller.abort()
    await expectReject(result, 'FAIRLANE_ERR_ABORTED')
  })

  it('names are at the broker that are not its own, leaves them alone', async () => {
    const { queue } = await open((n, done) => done(null, n), { leaseMs: 1000 })
    for (const set of ['.types', '.ready']) at.server.cli('sadd', key(set), '%zz')
    at.server.cli('rpush', key('%zz:active'), 'x')
    const other = await at.open(async n => n, { leaseMs: 1000 })
    assert.equal(await queue.add(1), 1)
    const walked = key('.keeper')
    at.server.cli('del', walked)
    await until(() => at.server.cli('exists', walked) === '1')
    assert.deepEqual((await other.types()).length, 0)
    assert.equal(at.server.cli('exists', key('%zz:active')), '1')
  })

  it('its connections end, goes on', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner)
    for (const purpose of ['calls', 'messages']) {
      const again = once(rig[purpose], 'ready')
      rig[purpose].disconnect(true)
      await again
      const result = queue.add(purpose)
      await gate.until(purpose === 'calls' ? 1 : 2)
      gate.release(1)
      assert.equal(await result, purpose)
    }
    // while it closes, too
    queue.push('last').catch(() => {})
    await gate.until(3)
    const closing = queue.close()
    const again = once(rig.calls, 'ready')
    rig.calls.disconnect(true)
    await again
    gate.release(1)
    assert.equal(await closing, 0)
  })

  it('it closes while it looks around, loses nothing', async () => {
    const cases = { sscan: 30000, set: 1000, extendLocks: 1000, zrem: 30000 }
    await Promise.all(Object.entries(cases).map(async ([call, leaseMs]) => {
      const gate = gates()
      const { queue, rig } = await open(gate.runner, { name: `${at.name}-${call}`, leaseMs, concurrency: 1 })
      const pushed = queue.push(call)
      await gate.until(1)
      const { reached, open: letGo } = rig.delay(call)
      if (call === 'sscan') rig.calls.emit('ready')
      if (call !== 'zrem') await reached
      const closing = queue.close()
      gate.release(1)
      if (call === 'zrem') await reached
      letGo()
      assert.equal(await closing, 0)
      await pushed
    }))
  })

  it('what it does as it closes fails, closes', async () => {
    const { queue, rig } = await open((n, done) => done(null, n))
    await queue.add(1)
    const refused = rig.refuse('zrem')
    assert.equal(await queue.close(), 0)
    await refused
  })

  it('a lease cannot be renewed since the job has just ended, has not lost it', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { leaseMs: 1000 })
    const result = queue.add(1)
    await gate.until(1)
    const { reached, open: letGo } = rig.delay('extendLocks')
    await reached
    gate.release(1)
    assert.equal(await result, 1)
    letGo()
    await queue.close()
    assert.equal(queue.stats().lost, 0)
  })

  it('closed within a limit, tells runners to end, and what ends well then has ended', async () => {
    const gate = gates()
    const { queue } = await open(gate.runner, { maxAttempts: 1, scheduler: 'fair' })
    const results = [queue.add(1, { type: 'a' }), queue.add(2, { type: 'a' })].map(result => result.catch(({ code }) => code))
    await gate.until(2)
    const { signal } = gate.started[0].context
    signal.addEventListener('abort', () => gate.release(1))
    assert.equal(await queue.close({ timeoutMs: 20 }), 1)
    assert.equal(await results[0], 1)
    assert.equal(await results[1], 'FAIRLANE_ERR_CLOSED')
    gate.release(1)
    queue.pauseType('a')
    assert.deepEqual(
      queue.stats('unknown'), {
        ...{ accepted: 0, rejected: 0, done: 0, failed: 0, cancelled: 0, retried: 0, throttled: 0, joined: 0, lost: 0, spent: 0 },
        running: 0,
        overdue: 0,
        prefetched: 0
      }
    )
    assert.equal(queue[Symbol.asyncDispose]() instanceof Promise, true)
  })

  it('closed by what encodes a payload, refuses it', async () => {
    const queue = await at.open(null, { serialize: { encode: () => { queue.close(); return Buffer.from('x') }, decode: String } })
    await expectReject(queue.push(1), 'FAIRLANE_ERR_CLOSED')
    assert.deepEqual(
      queue.stats(),
      {
        accepted: 0,
        rejected: 1,
        done: 0,
        failed: 0,
        cancelled: 0,
        retried: 0,
        throttled: 0,
        joined: 0,
        lost: 0,
        spent: 0,
        running: 0,
        overdue: 0,
        prefetched: 0,
        groups: 0,
        misuse: 0,
        overrun: 0
      }
    )
  })

  it('there are more types than are looked at with one call, finds them all, and forgets them', async () => {
    const count = 600
    const { queue: producer } = await open(null)
    await Promise.all(Array.from({ length: count }, (_, n) => producer.pushType(`type-${n}`, n)))
    const { queue } = await open((n, done) => done(null, n), { leaseMs: 1000, scheduler: 'fair', concurrency: 50 })
    await until(() => queue.stats().done === count)
    await until(() => at.server.cli('exists', key('.types')) === '0')
  })

  for (const count of [0, 1]) {
    it(`it cannot hear of types, is not opened, and leaves nothing that goes on (${count} channels)`, async () => {
      const rig = rigged(at.server.path)
      const connection = purpose => {
        const client = rig.connection(purpose)
        if (purpose !== 'messages') return client
        const { subscribe } = client
        let subscribed = 0
        client.subscribe = async (...channels) => {
          if (subscribed++ === count) throw new Error('NOPERM no permission')
          return subscribe.apply(client, channels)
        }
        return client
      }
      const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
      await sleep(1) // mocha has a timer of its own from then on
      const before = timers()
      await assert.rejects(at.open(async () => {}, { connection }), /NOPERM/)
      await until(() => timers() <= before)
    })
  }

  it('a runner returns what settles nothing, warns once', async () => {
    const started = []
    const { queue } = await open(n => {
      started.push(n)
      return n
    }, { settleBy: 'either' })
    const warnings = []
    const heard = ({ code }) => warnings.push(code)
    process.on('warning', heard)
    await queue.pushType('a', 1)
    await queue.unshiftType('a', 2)
    await until(() => started.length === 2)
    assert.equal(await queue.close({ timeoutMs: 0 }), 2)
    process.off('warning', heard)
    assert.deepEqual(warnings, ['FAIRLANE_WARN_VALUE_IGNORED'])
  })

  it('a dead letter is put back, does not count the time since its first start as a wait', async () => {
    let isDown = true
    const { queue } = await open((n, done) => done(isDown ? new Error('down') : null, n), { maxAttempts: 1, maxWaitMs: 50000 })
    const id = await queue.pushType('a', 1)
    await once(queue, 'failed')
    at.server.cli('hset', key(id), 'timestamp', String(Date.now() - 60000))
    isDown = false
    const done = once(queue, 'done')
    await queue.retryDead(id)
    await done
  })
})

describeWithRedis('a broker that is away', function () {
  const { startServer, open } = servers()

  it('keeps no worker from closing', async () => {
    const server = await startServer()
    const gate = gates()
    const queue = await open(server, gate.runner, { leaseMs: 1000, pushTimeoutMs: 1000, settleBy: 'callback' })
    await queue.push(1)
    await gate.until(1)
    await server.kill()
    await sleep(540) // it is to renew leases and to walk meanwhile
    const lost = once(queue, 'lost')
    const closing = queue.close({ timeoutMs: 0 })
    gate.release(1)
    assert.equal(await closing, 0)
    assert.match((await lost)[0].error.cause.message, /^A call to the broker was given up when the queue closed: /)
  })
})
