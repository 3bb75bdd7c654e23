'use strict'

// What the broker says of jobs is changed by hand here: so one process sees what else needs others that end, or are cut off.

const assert = require('node:assert')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atLaterTimes } = require('./later')
const { atServer, giveBack } = require('./opened')
const { until } = require('./until')

describeWithRedis('a job that was there when a process ended', function () {
  const at = atServer()
  const key = (id, what = '') => `{fairlane:${at.name}}:${id}${what}`

  /** Pushes jobs that wait, with so many stalls and failures. */
  async function stalled (producer, jobs) {
    return Promise.all(jobs.map(async ({ payload, type = 'a', stc = 0, atm = 0, ...fields }) => {
      const id = await producer.pushType(type, payload)
      at.server.cli('hset', key(id), ...Object.entries({ stc, atm, ...fields }).flat().map(String))
      return id
    }))
  }

  it('runs alone if it has one attempt left, and the others wait for it', async () => {
    const gate = gates()
    const producer = await at.open(null)
    const [id] = await stalled(producer, [{ payload: 'suspect', stc: 2 }])
    await producer.pushType('b', 'other')
    const queue = await at.open(gate.runner, { settleBy: 'callback', maxAttempts: 3, concurrency: 5 })
    await gate.until(1)
    if (gate.payloads[0] === 'other') { // it had a slot before: the suspect waits for its end
      gate.release(1)
      await gate.until(2)
    }
    assert.equal(gate.payloads.at(-1), 'suspect')
    assert.equal(gate.started.at(-1).context.attempt, 3)
    assert.equal(at.server.cli('hget', key(id), 'alone'), '2')
    await producer.pushType('c', 'late')
    await sleep(50)
    assert.equal(gate.open.length, 1)
    gate.release(1)
    await until(() => gate.payloads.includes('late'))
    gate.release(gate.open.length)
    await queue.onIdle()
  })

  it('runs when the other one that has to run alone has ended', async () => {
    const gate = gates()
    const producer = await at.open(null)
    await stalled(producer, [{ payload: 1, stc: 1 }, { payload: 2, stc: 1, type: 'b' }, { payload: 3, stc: 1 }])
    const queue = await at.open(gate.runner, { settleBy: 'callback', maxAttempts: 2, concurrency: 5 })
    for (let n = 1; n <= 3; n++) {
      await gate.until(n)
      assert.equal(gate.open.length, 1)
      gate.release(1)
    }
    await queue.onIdle()
    assert.deepEqual(gate.payloads.sort(), [1, 2, 3])
  })

  it('is dead if it was alone then, or may start once only, until it is put back', async () => {
    const cases = [
      { maxAttempts: 3, job: { stc: 3, alone: 2 } }, { maxAttempts: 1, job: { stc: 1 } }, { maxAttempts: 3, job: { stc: 5, alone: 4 } }
    ]
    for (const { maxAttempts, job } of cases) {
      const producer = await at.open(null)
      const [id] = await stalled(producer, [{ payload: 1, ...job }])
      const queue = await at.open(async () => 'it ran', { maxAttempts })
      const [{ id: failed, attempt, error }] = await once(queue, 'failed')
      assert.deepEqual([failed, attempt, error.code], [id, maxAttempts, 'FAIRLANE_ERR_CRASHED'])
      assert.equal((await producer.deadLetters())[0].attempts, maxAttempts)
      // put back, it has all its attempts
      const done = once(queue, 'done')
      assert.equal(await queue.retryDead(id), true)
      assert.equal((await done)[0].attempt, 1)
      await queue.close()
    }
  })

  it('is run alone if it was not yet, however often it was there', async () => {
    const producer = await at.open(null)
    // the second one was, before it died and was put back
    await stalled(producer, [{ payload: 1, stc: 7 }, { payload: 2, stc: 6, atm: 1, base: '1,3', alone: 2, type: 'b' }])
    const ran = []
    const queue = await at.open(async (n, { attempt }) => { ran.push([n, attempt]) }, { maxAttempts: 3 })
    await queue.onIdle()
    assert.deepEqual(ran.sort(), [[1, 3], [2, 3]])
  })

  it('has all its attempts if it was a dead letter since', async () => {
    const producer = await at.open(null)
    await stalled(producer, [{ payload: 1, stc: 3, atm: 2, base: '2,3', alone: 2 }, { payload: 2, stc: 3, atm: 0, base: '2,3', type: 'b' }])
    const attempts = []
    const queue = await at.open(async (n, { attempt }) => { attempts.push(attempt) }, { maxAttempts: 3 })
    await queue.onIdle()
    assert.deepEqual(attempts, [1, 1])
  })

  it('is dead with what it failed with last, in a process that allows fewer attempts', async () => {
    const producer = await at.open(null)
    const fault = JSON.stringify({ name: 'RangeError', message: 'its own', code: 'E_OWN' })
    await stalled(producer, [{ payload: 1, atm: 3, stc: 1, fault }, { payload: 2, atm: 3, type: 'b' }])
    const queue = await at.open(async () => 'it ran', { maxAttempts: 2 })
    await queue.onIdle()
    assert.deepEqual((await queue.deadLetters()).map(({ error }) => error.message).sort(), ['its own', 'the job has failed 3 times'])
  })

  it('is not run if it was cancelled', async () => {
    const producer = await at.open(null)
    await stalled(producer, [{ payload: 1, stc: 1, cancelled: 1 }])
    const queue = await at.open(async () => 'it ran')
    assert.equal((await once(queue, 'cancelled'))[0].error.code, 'FAIRLANE_ERR_ABORTED')
  })
})

describeWithRedis('a job whose lease is over', function () {
  const at = atServer()
  const lockOf = id => `{fairlane:${at.name}}:${id}:lock`

  it('is lost: its signal aborts, and its late result is refused', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 1000 })
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    const { signal } = gate.started[0].context
    const lost = once(queue, 'lost')
    at.server.cli('del', lockOf(id))
    const [{ id: lostId, attempt, error }] = await lost
    assert.deepEqual([lostId, attempt, error.code], [id, 1, 'FAIRLANE_ERR_LEASE'])
    assert.equal(signal.reason, error)
    // it is run again, here or elsewhere
    giveBack(at, id)
    const other = await at.open(gate.runner, { settleBy: 'callback' })
    await gate.until(2)
    gate.release(2)
    await queue.onIdle()
    await other.close()
    assert.deepEqual([queue.stats().done + other.stats().done, queue.stats().lost], [1, 1])
  })

  it('is lost if it ends before that is noticed', async () => {
    const gate = gates()
    const queue = await at.open(gate.runner, { settleBy: 'callback', leaseMs: 30000 })
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    at.server.cli('set', lockOf(id), 'somebody')
    const lost = once(queue, 'lost')
    gate.release(1)
    assert.equal((await lost)[0].error.cause.code, -6)
    assert.equal(queue.stats().done, 0)
  })
})

describeWithRedis('jobs that were taken ahead', function () {
  const at = atServer()
  const later = atLaterTimes()

  const TYPES = ['a', 'b', 'c']
  const COUNT = 120 // of each

  /** A queue that has jobs that wait for its two slots, whose runners end when they are told to. */
  async function prefetched () {
    const gate = gates()
    const over = new AbortController()
    const started = []
    let isFast = true
    const queue = await at.open((n, done, context) => {
      started.push(context.type)
      if (isFast || over.signal.aborted) done(null, n)
      else gate.runner(n, done, context)
    }, { settleBy: 'callback', scheduler: 'fair', concurrency: 2, leaseMs: 600000 })
    const held = new Promise(resolve => queue.on('done', () => {
      if (queue.stats().prefetched === 0) return
      isFast = false
      resolve()
    }))
    await Promise.all(TYPES.flatMap(type => Array.from({ length: COUNT }, (_, n) => queue.pushType(type, n))))
    await held
    await gate.until(2)
    return { gate, queue, started, over }
  }

  it('go back after a while if their slots are not free, and others run them', async () => {
    const { gate, queue: first } = await prefetched()
    await later(1000)
    const second = await at.open(async () => {}, { scheduler: 'fair', concurrency: 5 })
    await until(async () => {
      const { waiting, running } = await second.counts()
      return waiting + running === 2
    })
    assert.equal(first.stats().prefetched, 0)
    gate.release(2)
    await first.onIdle()
    await second.onIdle()
    assert.equal(first.stats().done + second.stats().done, TYPES.length * COUNT)
  })

  /** The ids of those that wait for slots. */
  async function heldIds ({ gate, queue }) {
    const running = new Set(gate.open.map(({ context: { id } }) => id))
    await until(async () => (await queue.counts()).running === running.size + queue.stats().prefetched)
    const namesOf = type => at.server.cli('lrange', `{fairlane:${at.name}}:${type}:active`, '0', '-1').split('\n').filter(Boolean)
    return TYPES.flatMap(type => namesOf(type).map(name => `${type}:${name}`)).filter(id => !running.has(id))
  }

  it('are not run if they are cancelled', async () => {
    const all = await prefetched()
    const { gate, queue, over, started } = all
    const ids = await heldIds(all)
    assert(ids.length > 0)
    await Promise.all(ids.map(id => queue.cancel(id)))
    await until(async () => (await Promise.all(ids.map(id => queue.get(id)))).every(job => job === undefined))
    over.abort()
    gate.release(2)
    await queue.onIdle()
    assert.equal(started.length, TYPES.length * COUNT - ids.length)
    assert.equal(queue.stats().done, started.length)
  })

  it('are not given back if another process has them', async () => {
    const all = await prefetched()
    const { gate, queue } = all
    const lost = []
    queue.on('lost', ({ id }) => lost.push(id))
    for (const id of await heldIds(all)) at.server.cli('set', `{fairlane:${at.name}}:${id}:lock`, 'somebody')
    for (const type of TYPES) await queue.pauseGlobal(type)
    gate.release(2)
    await queue.close()
    assert.deepEqual(lost, []) // they had not been started
  })

  const limits = {
    paused: (queue, type) => queue.pauseGlobal(type),
    held: (queue, type) => queue.holdType(type, 3600000)
  }
  for (const [what, limit] of Object.entries(limits)) {
    it(`go back at once if their type is ${what} in all processes`, async () => {
      const { gate, queue, started, over } = await prefetched()
      for (const type of TYPES) await limit(queue, type)
      assert.equal(queue.stats().prefetched, 0)
      const { length } = started
      over.abort()
      gate.release(2)
      await until(async () => (await queue.counts()).running === 0)
      assert.equal(started.length, length)
      assert.equal(await queue.clear(), TYPES.length * COUNT - length)
    })
  }

  // the end of a process would count as the only start of what it has taken
  for (const options of [{ prefetch: 0 }, { maxAttempts: 1 }]) {
    it(`are none with ${JSON.stringify(options)}`, async () => {
      const queue = await at.open(async () => {}, { scheduler: 'fair', concurrency: 2, ...options })
      const pushes = Promise.all(TYPES.flatMap(type => Array.from({ length: COUNT }, (_, n) => queue.pushType(type, n))))
      let most = 0
      queue.on('done', () => { most = Math.max(most, queue.stats().prefetched) })
      await pushes
      await queue.onIdle()
      assert.equal(most, 0)
    })
  }
})

describeWithRedis('a push that the broker refuses', function () {
  const at = atServer()

  it('by the type of a key, names what the broker says', async () => {
    const queue = await at.open(null)
    at.server.cli('set', `{fairlane:${at.name}}:a:wait`, 'no list')
    const { cause } = await expectReject(queue.pushType('a', 1), 'FAIRLANE_ERR_BROKER')
    assert.match(cause.message, /WRONGTYPE/)
    const results = await Promise.allSettled([1, 2].map(n => queue.pushType('a', n)))
    assert.deepEqual(results.map(({ reason }) => reason.code), ['FAIRLANE_ERR_BROKER', 'FAIRLANE_ERR_BROKER'])
    await queue.pushType('b', 1)
  })
})
