'use strict'

// Types whose next jobs other processes are to start: with calls that the test answers, and by a clock of its own; then at a broker.

const assert = require('node:assert')
const { Redis } = require('ioredis')
const { Standby } = require('../../lib/distributed/worker/standby')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { until } = require('./until')

const turns = async () => { for (let n = 0; n < 4; n++) await new Promise(resolve => setImmediate(resolve)) }

describe('types whose next jobs other processes start', () => {
  const { now } = performance
  const timers = { setTimeout, clearTimeout }
  let ms, timer, looked, answers, refused, isAway, standby

  beforeEach(() => {
    ms = 1000
    timer = undefined
    looked = []
    answers = []
    refused = []
    isAway = false
    performance.now = () => ms
    global.setTimeout = (fn, after) => (timer = { fn, at: ms + after })
    global.clearTimeout = () => { timer = undefined }
    standby = new Standby({
      broker: { troubles: { refused: what => refused.push(what) } },
      scouts: { failed: () => isAway },
      takes: {
        async look (places) {
          looked.push(places.map(({ name }) => name))
          const answer = answers.shift()
          if (answer instanceof Error) throw answer
          return answer
        }
      }
    })
  })

  afterEach(() => {
    performance.now = now
    Object.assign(global, timers)
  })

  function supplyOf (name, partition = 'first') {
    const supply = {
      place: { name, partition },
      isBlocked: true,
      asked: 0,
      askAgain () { this.asked++ },
      standBy (later) { standby.add(this, later) }
    }
    return supply
  }

  async function due () {
    const { fn, at } = timer
    timer = undefined
    ms = at
    fn()
    await turns()
  }

  it('are looked at a little later, those of a time together', async () => {
    const supplies = ['a', 'b', 'c', 'd'].map(name => supplyOf(name))
    standby.add(supplies[1], 60)
    standby.add(supplies[0], 50)
    standby.add(supplies[2], 110)
    standby.add(supplies[3], 50)
    standby.remove(supplies[3])
    standby.remove(supplies[3])
    answers.push([0], [0, 4000], [0])
    await due()
    assert.deepEqual([ms, looked], [1075, [['a']]])
    await due()
    assert.deepEqual([ms, looked.at(-1)], [1175, ['b', 'c']])
    assert.deepEqual(supplies.map(({ asked }) => asked), [1, 1, 0, 0])
    await due()
    assert.deepEqual([ms, looked.at(-1), timer], [5200, ['c'], undefined])
    assert.equal(supplies[2].asked, 1)
  })

  it('are looked at where they are, so many with a call', async () => {
    for (let n = 0; n < 250; n++) standby.add(supplyOf(`type-${n}`), 10)
    standby.add(supplyOf('other', 'second'), 10)
    await due()
    assert.deepEqual(looked.map(({ length }) => length), [200, 50, 1])
  })

  it('are looked at later where the broker is away or refuses, which is told', async () => {
    const supply = supplyOf('a')
    standby.add(supply, 10)
    answers.push(new Error('Connection is closed'), new Error('ERR no'), [0])
    isAway = true
    await due()
    assert.deepEqual([supply.asked, timer.at, refused], [0, 2060, []])
    isAway = false
    await due()
    assert.deepEqual(refused, ['rates of types'])
    await due()
    assert.equal(supply.asked, 1)
  })

  it('are left to what has come over them meanwhile', async () => {
    const supplies = ['asked', 'anew', 'stopped'].map(name => supplyOf(name))
    for (const supply of supplies.slice(0, 2)) standby.add(supply, 10)
    answers.push([0, 0], [0])
    const { look } = standby.takes
    standby.takes.look = places => {
      supplies[0].isBlocked = false
      standby.add(supplies[1], 5000)
      return look(places)
    }
    await due()
    standby.add(supplies[2], 0)
    standby.takes.look = places => {
      standby.stop()
      return look(places)
    }
    await due()
    standby.add(supplies[2], 0)
    assert.deepEqual([supplies.map(({ asked }) => asked), timer], [[0, 0, 0], undefined])
  })
})

describeWithRedis('a rate of a type, in several processes', function () {
  const at = atServer()
  const HOUR_MS = 3600000
  const SLOW = { ratePerType: { limit: 1, intervalMs: HOUR_MS }, concurrency: 5 }

  const first = () => at.server.cli('hget', `{fairlane:${at.name}}:a:.starts`, 'first').split(',').slice(1, -1)

  /** Queues that wait for the rate, and how many have started jobs. */
  async function waiting (count, options) {
    const started = []
    const runner = async n => { started.push(n) }
    const queues = []
    for (let n = 0; n < count; n++) queues.push(await at.open(runner, options))
    await Promise.all([1, 2, 3, 4, 5].map(n => queues[0].pushType('a', n)))
    return { queues, started }
  }

  it('has as many come first as jobs may start, and the others look later', async () => {
    const { queues, started } = await waiting(3, SLOW)
    await until(() => started.length === 1 && first().length === 1)
    await queues[0].setRates({ ratePerType: { limit: 2, intervalMs: HOUR_MS } })
    await until(() => started.length === 2)
    const key = `{fairlane:${at.name}}:a:.starts`
    const client = new Redis(at.server.path)
    await client.hset(key, `${HOUR_MS}:1`, await client.hgetBuffer(key, `${HOUR_MS}:0`)) // as if both had started at once
    client.disconnect()
    await queues[0].holdType('a', 0) // it is asked again
    await until(() => first().length === 2)
    assert.equal(new Set(first()).size, 2)
    await queues[0].clear()
  })

  it('has another process start the next job where the one that comes first is stopped', async () => {
    const { queues, started } = await waiting(2, { ...SLOW, ratePerType: { limit: 1, intervalMs: 1000 } })
    await until(() => started.length === 1)
    for (let n = 2; n <= 4; n++) {
      queues[n % 2].resume()
      queues[(n + 1) % 2].pause() // it comes first, if it has just started one
      await until(() => started.length === n)
    }
    await queues[0].clear()
  })
})
