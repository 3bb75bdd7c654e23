'use strict'

// What is asked about many types at once: how many calls that takes, and how much is done in one turn of the event loop.

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { rigged } = require('./rigged')
const { until } = require('./until')

const TYPES = 1000

describeWithRedis('many types', function () {
  const at = atServer()
  let rig, queue

  /** Counts what a call sends to the broker, and in how many turns of the event loop. */
  async function sentBy (call) {
    const { calls } = rig
    const { sendCommand } = calls
    const sent = { commands: 0, turns: 0, most: 0 }
    let now = 0
    calls.sendCommand = (...args) => {
      sent.commands++
      if (now++ === 0) {
        sent.turns++
        setImmediate(() => { now = 0 })
      }
      sent.most = Math.max(sent.most, now)
      return sendCommand.apply(calls, args)
    }
    try {
      return { ...sent, result: await call(), ...sent }
    } finally {
      delete calls.sendCommand
    }
  }

  beforeEach(async () => {
    rig = rigged(at.server.path)
    queue = await at.open(null, { connection: rig.connection })
    for (let n = 0; n < TYPES; n += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => queue.pushType(`type-${n + k}`, 1)))
  })

  it('that are pushed in one turn are sent a few in each turn, and others are told of hundreds with one call', async () => {
    const told = []
    rig.rig('fairlaneAnnounce', (call, keysCount) => {
      told.push((keysCount - 3) / 3)
      return call()
    })
    const { most, commands } = await sentBy(() => Promise.all(Array.from({ length: TYPES }, (_, n) => queue.pushType(`other-${n}`, n))))
    assert(most <= 210, `${most} in one turn`) // those of a turn, and of one that begins within it
    assert(commands <= 2 * TYPES + told.length, `${commands} calls`)
    assert.equal(told.reduce((a, b) => a + b), TYPES)
    assert.equal((await queue.counts()).types, 2 * TYPES)
    // and when nothing but the jobs is to be sent
    const again = await sentBy(() => Promise.all(Array.from({ length: TYPES }, (_, n) => queue.pushType(`other-${n}`, n))))
    assert(again.most <= 210, `${again.most} in one turn`)
    assert(again.commands <= TYPES + told.length, `${again.commands} calls`)
  })

  it('that wait longer than a call takes are told of some at a time', async () => {
    const told = []
    rig.rig('fairlaneAnnounce', (call, keysCount) => {
      told.push((keysCount - 3) / 3)
      return call()
    })
    const { reached, open: letGo } = rig.delay('fairlaneAnnounce')
    const first = queue.pushType('first', 1)
    await reached
    const others = Array.from({ length: TYPES }, (_, n) => queue.pushType(`other-${n}`, n))
    await until(
      async () => Number(
        at.server.cli('exists', ...Array.from({ length: TYPES }, (_, n) => `{fairlane:${at.name}}:other-${n}:wait`))
      ) === TYPES
    )
    letGo()
    await Promise.all([first, ...others])
    assert.deepEqual(told, [1, 500, 500])
  })

  it('without dead letters are asked for these with few calls', async () => {
    const { commands, result } = await sentBy(() => queue.deadLetters())
    assert.deepEqual(result, [])
    assert(commands <= 20, `${commands} calls`)
  })

  it('are counted with few calls', async () => {
    const { commands, result } = await sentBy(() => queue.counts())
    assert.deepEqual([result.waiting, result.types], [TYPES, TYPES])
    assert(commands <= 20, `${commands} calls`)
  })

  it('that are asked about in one turn are asked about together', async () => {
    let callsCount = 0
    rig.rig('pipeline', call => {
      callsCount++
      return call()
    })
    const types = Array.from({ length: 50 }, (_, n) => `type-${n}`)
    const told = await Promise.all(types.flatMap(type => [queue.explain(type), queue.counts(type)]))
    assert(told.every(({ waiting }) => waiting === 1))
    assert(callsCount > 0 && callsCount <= 2, `${callsCount} calls`) // records are read when it is known which
  })

  it('are cleared many at a time, and not too many', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => queue.pushType(`type-${n}`, 2, { delayMs: 3600000 })))
    const { commands, turns, most, result } = await sentBy(() => queue.clear())
    assert.equal(result, TYPES + 50)
    assert(commands <= TYPES + 20, `${commands} calls`)
    assert(turns <= 30, `in ${turns} turns`)
    assert(most <= 101, `${most} in one turn`)
    assert.equal((await queue.counts()).waiting, 0)
    const again = await sentBy(() => queue.clear())
    assert.equal(again.result, 0)
    assert(again.commands <= 20, `${again.commands} calls`)
  })
})

describeWithRedis('dead letters of many types', function () {
  const at = atServer()

  it('are the oldest of all, in their order', async () => {
    const rig = rigged(at.server.path)
    const queue = await at.open(
      async () => { throw new Error('no') }, { maxAttempts: 1, connection: rig.connection, concurrency: 10, partitions: 2 }
    )
    for (let n = 0; n < 60; n++) {
      await Promise.all([queue.pushType(`type-${n % 20}`, n), queue.pushType('large', 2 * n), queue.pushType('large', 2 * n + 1)])
      await queue.onIdle()
    }
    const all = await queue.deadLetters()
    assert.equal(all.length, 180)
    for (let n = 1; n < all.length; n++) assert(all[n - 1].at <= all[n].at)
    assert.deepEqual(new Set(all.filter(({ type }) => type === 'large').map(({ payload }) => payload)).size, 120)
    for (const limit of [1, 7, 50, 179]) {
      const some = await queue.deadLetters({ limit })
      assert.deepEqual(some.map(entry => entry.at), all.slice(0, limit).map(entry => entry.at))
      assert(some.every(({ error }) => error.message === 'no'))
    }
    assert.deepEqual((await queue.deadLetters({ type: 'large', limit: 2 })).map(({ payload }) => payload).sort(), [0, 1])
    assert.deepEqual(await queue.deadLetters({ type: 'nobody' }), [])
  })

  it('are not there that were deleted while they were looked for', async () => {
    const rig = rigged(at.server.path)
    const queue = await at.open(async () => { throw new Error('no') }, { maxAttempts: 1, connection: rig.connection })
    const ids = [await queue.pushType('a', 1), await queue.pushType('a', 2)]
    await until(async () => (await queue.counts()).dead === 2)
    rig.afterAnswers(() => at.server.cli('del', `{fairlane:${at.name}}:${ids[0]}`)) // what is counted comes first; records are read last
    assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [ids[1]])
  })
})
