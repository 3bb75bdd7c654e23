'use strict'

// The gate of a process, with a broker that answers what the test says, at times that it says.

const assert = require('node:assert')
const { Gate } = require('../../lib/distributed/limits/gate')
const { Hand } = require('../../lib/distributed/limits/hand')
const { Pass } = require('../../lib/distributed/limits/pass')
const { EARLY, LOST } = require('../../lib/distributed/limits/permits')
const { Starts } = require('../../lib/distributed/limits/starts')
const { Terms } = require('../../lib/distributed/limits/terms')

const turns = async () => { for (let n = 0; n < 4; n++) await new Promise(resolve => setImmediate(resolve)) }
const RATE = JSON.stringify([{ limit: 10, intervalMs: 1000 }])

describe('permits in hand', () => {
  it('are used from their time on, in the first half of it, and are unused else', () => {
    const hand = new Hand()
    hand.add([2, 0, 'a', 1, 20, 'b'], 1000, 1005, 50)
    assert.deepEqual([hand.size, hand.nextAt, hand.overAt], [3, 1005, 1025])
    assert.equal(hand.has(1004), false)
    assert.equal(hand.has(1005), true)
    const permit = hand.take()
    assert.deepEqual(permit, { until: 1025, mark: 'a' })
    hand.putBack(permit, 1010)
    assert.equal(hand.size, 3)
    hand.take()
    hand.putBack(permit, 1030)
    assert.equal(hand.has(1030), true)
    assert.deepEqual(hand.takeUnused(), [['a', 2]])
    hand.dropAll()
    assert.deepEqual(hand.takeUnused(), [['b', 1]])
    assert.deepEqual([hand.nextAt, hand.overAt], [Infinity, Infinity])
  })
})

describe('the gate of a process', () => {
  const { now } = performance
  const timers = { setTimeout, clearTimeout }
  let ms
  let due // timers, by their times
  let asked
  let answers
  let answerMs
  let woken
  let told
  let dispatch
  let broker
  let limits
  let lostCount
  let gate

  beforeEach(() => {
    ms = 1000
    due = []
    asked = []
    answers = []
    woken = lostCount = answerMs = 0
    told = []
    performance.now = () => ms
    global.setTimeout = (fn, after) => {
      const timer = { fn, at: ms + after }
      due.push(timer)
      return timer
    }
    global.clearTimeout = timer => { due = due.filter(other => other !== timer) }
    dispatch = { running: 0, concurrency: 10, list: { size: 5 }, wake () { woken++ } }
    broker = {
      name: 'q',
      isReady: true,
      isClosed: false,
      client: {
        defineCommand () {},
        async fairlanePermits (...args) {
          const [generation, , , held, places, isKnown, wantNow, wantAll, goodMs, , , , free, promisedMs, ...unused] = args.slice(3)
          asked.push({ held, places, free, isKnown, wantNow, wantAll, goodMs, promisedMs, unused })
          ms += answerMs
          const answer = answers.shift() ?? [generation, 0, 0, 0, 0]
          if (answer instanceof Error) throw answer
          return answer
        }
      },
      troubles: { refused: what => told.push(what) }
    }
    limits = { terms: new Terms('7'), looks: 0, async look () { this.looks++ } }
    gate = new Gate({ broker, limits, stage: { dispatch } }, { token: 'me', leaseMs: 1000 }, () => lostCount++)
  })

  afterEach(() => {
    performance.now = now
    Object.assign(global, timers)
  })

  async function pass (until) {
    while (due.some(({ at }) => at <= until)) {
      const [next] = due.sort((a, b) => a.at - b.at)
      due = due.filter(timer => timer !== next)
      ms = Math.max(ms, next.at)
      next.fn()
      await turns()
    }
    ms = until
  }

  it('asks once for all that wait, and opens at the time of a permit', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    answers.push(['7', 0, 0, 0, 0, 1, 0, 'a', 1, 15, 'b'])
    assert.equal(gate.isOpen(), false)
    assert.equal(gate.isOpen(), false)
    await turns()
    assert.deepEqual(asked.map(({ wantNow, wantAll }) => [wantNow, wantAll]), [[1, 1]])
    assert.equal(gate.isOpen(), true)
    gate.count()
    const first = gate.takePass()
    assert.equal(first.begin(), true)
    assert.equal(gate.isOpen(), false)
    await pass(1015)
    assert.equal(gate.isOpen(), true)
    gate.count()
    const second = gate.takePass()
    ms = 1050
    assert.equal(second.begin(), false) // too late, and there is no other one
    second.end()
    second.end()
    first.end()
    gate.isOpen()
    await turns()
    assert.deepEqual(asked.at(-1).unused, ['b', 1])
  })

  it('lets a job begin with a later permit, where its own is over', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    gate.hand.add([1, 0, 'a', 1, 20, 'b'], ms, ms, 50)
    assert(gate.isOpen())
    gate.count()
    const late = gate.takePass()
    ms += 30
    assert.equal(late.begin(), true)
    assert.equal(late.permit.mark, 'b')
    assert.deepEqual(gate.hand.takeUnused(), [['a', 1]])
    gate.update(new Map(), []) // no rate any more: what was given counts no more
    gate.update(new Map([['rate', RATE]]), [])
    assert.equal(gate.isOn, true)
  })

  it('waits as long as it is told to, and gives back what nobody used', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    answers.push(['7', 300, 0, 0, 0])
    gate.isOpen()
    await turns()
    gate.isOpen()
    await pass(1299)
    assert.equal(asked.length, 1)
    await pass(1301)
    answers.push(['7', 0, 0, 0, 0, 1, 0, 'a'])
    gate.isOpen()
    await turns()
    assert.equal(asked.length, 2)
    gate.rest()
    await pass(1400)
    assert.deepEqual(asked.at(-1), { held: 0, places: 0, free: 0, isKnown: 0, wantNow: 0, wantAll: 0, goodMs: 50, promisedMs: 0, unused: ['a', 1] })
  })

  it('asks at least once in ten seconds, and says what time it was told', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    answers.push(['7', 25000, 0, 0, 0], ['7', 15000, 0, 0, 0], ['7', 4995, 0, 0, 0])
    answerMs = 5
    for (const at of [1000, 11004, 11005, 21009, 21010, 26004, 26005]) {
      await pass(at)
      gate.isOpen()
      await turns()
    }
    assert.deepEqual(asked.map(({ promisedMs }) => promisedMs), [0, 15000, 4995, 0])
  })

  /** A job that has come too late for its permit, after which there is no other one for long. */
  async function late (waitMs = 600000) {
    gate.update(new Map([['rate', RATE]]), [])
    answers.push(['7', 0, 0, 0, 0, 1, 0, 'a'], ['7', waitMs, 0, 0, 0])
    gate.isOpen()
    await turns()
    assert(gate.isOpen())
    gate.count()
    const late = gate.takePass()
    gate.isOpen()
    await turns()
    ms += 30
    assert.equal(late.begin(), false)
    assert.deepEqual(asked.map(({ unused }) => unused), [[], []])
    return late
  }

  it('asks at once where it has a permit to give back, though it was told to wait', async () => {
    const one = await late()
    answers.push(['7', 600000, 0, 0, 0])
    one.end()
    gate.isOpen()
    await turns()
    assert.deepEqual([asked.length, asked[2].unused, asked[2].wantAll], [3, ['a', 1], 1])
    gate.isOpen()
    await turns()
    assert.equal(asked.length, 3)
  })

  it('gives a permit back with its next request, where that comes soon', async () => {
    const one = await late(200)
    one.end()
    await pass(1199)
    gate.isOpen()
    await turns()
    assert.equal(asked.length, 2)
    await pass(1200)
    gate.isOpen()
    await turns()
    assert.deepEqual([asked.length, asked[2].unused], [3, ['a', 1]])
  })

  for (const isWaiting of [true, false]) {
    it(`gives a permit back in a quarter of a second ${isWaiting ? 'where jobs wait and may not start here' : 'where none wait'}`, async () => {
      const one = await late()
      if (!isWaiting) gate.rest()
      one.end()
      broker.isReady = false
      await pass(1300)
      broker.isReady = true
      assert.equal(asked.length, 2)
      await pass(1600)
      assert.deepEqual([asked.length, asked[2].unused, asked[2].wantAll], [3, ['a', 1], 0])
      await pass(5000)
      assert.equal(asked.length, 3)
      if (!isWaiting) assert.deepEqual(due, [])
    })
  }

  it('gives back a permit that a job has left in time, when that is over', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    gate.hand.add([1, 0, 'a'], ms, ms, 50)
    dispatch.list.size = 1
    assert(gate.isOpen())
    gate.count()
    gate.takePass().end()
    gate.rest()
    await pass(1024)
    assert.deepEqual(asked, [])
    await pass(1025)
    assert.deepEqual(asked.map(({ unused }) => unused), [['a', 1]])
  })

  it('gives back a permit whose job went on with a later one', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    gate.hand.add([1, 0, 'a', 1, 20, 'b'], ms, ms, 50)
    assert(gate.isOpen())
    gate.count()
    ms += 30
    assert.equal(gate.takePass().begin(), true)
    await pass(1300)
    assert.deepEqual(asked.map(({ unused }) => unused), [['a', 1]])
  })

  it('gives a permit back that is left when it has stopped', async () => {
    const one = await late()
    await gate.stop()
    one.end()
    await turns()
    assert.deepEqual(asked.at(-1).unused, ['a', 1])
    new Pass(gate, { until: ms + 10, mark: 'c' }, false).end()
    await turns()
    assert.deepEqual(asked.at(-1).unused, ['c', 1])
    gate.hand.drop('b', 1)
    await gate.renew()
    assert.deepEqual(asked.at(-1).unused, ['b', 1])
  })

  it('asks again where the limits are others, the broker is away, or refuses', async () => {
    gate.update(new Map([['rate', RATE]]), [])
    gate.hand.drop('x', 2)
    answers.push(['8'], new Error('Connection is closed.'), new Error('ERR no'))
    gate.isOpen()
    await turns()
    assert.equal(limits.looks, 1)
    gate.isOpen()
    await turns()
    assert.deepEqual(asked.at(-1).unused, ['x', 2])
    assert.deepEqual(told, [])
    await pass(1300)
    gate.isOpen()
    await turns()
    assert.deepEqual(told, ['a request for permits'])
    broker.isReady = false
    await pass(1600)
    gate.isOpen()
    await turns()
    assert.equal(asked.length, 3)
  })

  it('has places for what runs, which go back when no job takes them', async () => {
    const ended = []
    const running = { done: () => ended.push('done') }
    gate.update(new Map([['concurrency', '3']]), [running])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 2, 0, 0])
    gate.isOpen()
    await turns()
    assert.deepEqual(asked.map(({ held, places }) => [held, places]), [[1, 0], [1, 5]])
    assert.equal(gate.isOpen(), true)
    gate.count()
    const taken = gate.takePass()
    assert.equal(taken.begin(), true)
    await pass(1025)
    await turns()
    assert.deepEqual([asked.at(-1).held, asked.at(-1).isKnown], [2, 1])
    running.done()
    assert.deepEqual(ended, ['done'])
    assert.equal(gate.isOpen(), true)
    taken.end()
    await pass(1050)
    await turns()
    assert.equal(asked.at(-1).held, 0)
  })

  it('shares places with processes that wait for them, and hears of free ones', async () => {
    gate.update(new Map([['concurrency', '2']]), [])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 2, 0, 1])
    gate.isOpen()
    await turns()
    for (let n = 0; n < 2; n++) {
      assert(gate.isOpen())
      gate.count()
    }
    const [first, second] = gate.passes
    first.end()
    await turns()
    assert.deepEqual([asked.at(-1).held, gate.places], [1, 0])
    gate.othersCount = 0
    ms += 1500
    second.end() // others may have come meanwhile
    await turns()
    assert.equal(asked.at(-1).held, 1)
    answers.push(['7', 1000, 0, 0, 0])
    gate.places = 0
    gate.isOpen()
    await turns()
    const before = woken
    gate.freed(['other'])
    assert.equal(woken, before)
    gate.freed(['other', 'me'])
    assert.equal(woken, before + 1)
    await gate.renew()
  })

  /** Runs as many jobs as it is given places. */
  async function running (count) {
    answers.push(['7', 0, 0, 0, 0], ['7', 0, count, 0, 0])
    gate.isOpen()
    await turns()
    return Array.from({ length: count }, () => {
      assert(gate.isOpen())
      gate.count()
      const pass = gate.takePass()
      assert(pass.begin())
      return pass
    })
  }

  it('uses no place again while more jobs run than a lower limit lets', async () => {
    gate.update(new Map([['concurrency', '5']]), [])
    const passes = await running(4)
    answers.push(['7', 0, -2, 0, 0])
    for (const cap of ['3', '2']) gate.update(new Map([['concurrency', cap]]), [])
    await turns()
    assert.equal(asked.at(-1).held, 4)
    for (const held of [3, 2]) {
      passes.pop().end()
      answers.push(['7', 1000, Math.min(0, 2 - held), 0, 0])
      assert.equal(gate.isOpen(), false)
      await turns()
      assert.deepEqual([asked.at(-1).held, gate.passes.size, gate.places], [held, held, 0])
    }
    passes.pop().end()
    assert.equal(gate.isOpen(), true)
  })

  it('lets go of its share where all processes have too many places, first of those that no job has', async () => {
    gate.update(new Map([['concurrency', '5']]), [])
    const passes = await running(3)
    passes.pop().end()
    assert.equal(gate.places, 1)
    answers.push(['7', 0, -2, 0, 0])
    await gate.renew()
    assert.deepEqual([gate.places, gate.surplus], [0, 1])
    passes.pop().end()
    assert.deepEqual([gate.places, gate.surplus], [0, 0])
    await turns()
    assert.equal(asked.at(-1).held, 1)
  })

  it('has no job begin in a slot that was given before there was a limit', async () => {
    gate.update(new Map([['concurrency', '5']]), [])
    const [withoutPermit] = await running(1)
    gate.update(new Map([['rate', RATE]]), [])
    assert.equal(withoutPermit.begin(), false)
    gate.hand.add([2, 0, 'a'], ms, ms, 50)
    assert.equal(withoutPermit.begin(), true)
    assert.equal(withoutPermit.permit.mark, 'a')
    assert(gate.isOpen())
    gate.count()
    const withoutPlace = gate.takePass()
    gate.update(new Map([['concurrency', '5']]), [])
    assert.equal(withoutPlace.begin(), false)
  })

  it('asks for a place and a permit at once, and keeps the place until the time of the permit', async () => {
    gate.update(new Map([['concurrency', '5'], ['rate', RATE]]), [])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 1, 0, 0, 1, 80, 'a'])
    gate.isOpen()
    await turns()
    assert.deepEqual(asked.at(-1), {
      held: 0, places: 1, free: 0, isKnown: 1, wantNow: 1, wantAll: 1, goodMs: 50, promisedMs: 0, unused: []
    })
    await pass(1079)
    assert.deepEqual([gate.places, asked.length, gate.isOpen()], [1, 2, false])
    await pass(1080)
    assert.equal(gate.isOpen(), true)
    gate.isOpen()
    await pass(1200)
    assert.deepEqual([gate.places, gate.hand.size], [0, 0])
    assert(asked.some(({ unused }) => unused.join() === 'a,1'))
  })

  it('asks for a permit when a runner of its own has left the place that it was told to wait for', async () => {
    gate.update(new Map([['concurrency', '1'], ['rate', RATE]]), [])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 1, 0, 0, 1, 0, 'a'], ['7', 1000, 0, 0, 0], ['7', 0, 0, 0, 0, 1, 0, 'b'])
    gate.isOpen()
    await turns()
    assert(gate.isOpen())
    gate.count()
    const runs = gate.takePass()
    assert(runs.begin())
    await turns()
    gate.isOpen()
    await turns()
    assert.equal(asked.length, 3)
    runs.end()
    assert.equal(gate.isOpen(), false) // it has a place, and no permit
    await turns()
    assert.deepEqual([asked.at(-1).free, asked.at(-1).wantAll > 0, gate.isOpen()], [1, true, true])
  })

  it('has nothing start by places while others may run jobs that they have not told of, whatever it knew of an earlier limit', async () => {
    gate.update(new Map([['concurrency', '2']]), [])
    answers.push(['7', 0, 1, 0, 0])
    gate.isOpen()
    await turns()
    assert.equal(gate.isOpen(), true)
    gate.update(new Map(), [])
    const delivery = { done () {} }
    gate.update(new Map([['concurrency', '2']]), [delivery])
    delivery.done() // before the broker has answered
    assert.deepEqual([gate.places, gate.isOpen()], [1, false])
    answers.push(['7', 900, 0, EARLY, 0], ['7', 900, 0, EARLY, 0]) // it tells what it has, and asks for more
    await turns()
    assert.equal(gate.isOpen(), false)
    ms += 1000
    answers.push(['7', 0, 0, 0, 0])
    gate.isOpen()
    await turns()
    assert.equal(gate.isOpen(), true)
  })

  it('has lost what runs when its lease was over', async () => {
    gate.update(new Map([['concurrency', '2']]), [])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 1, 0, 0])
    gate.isOpen()
    await turns()
    gate.isOpen()
    gate.count()
    const held = gate.takePass()
    ms += 2000
    assert.equal(held.begin(), false)
    answers.push(['7', 0, 0, LOST, 0])
    await gate.renew()
    assert.equal(lostCount, 1)
    held.end()
    assert.equal(gate.places, 0)
    await gate.renew() // there is nothing
  })

  it('gives all back when it stops, and says which runners are left', async () => {
    gate.update(new Map([['concurrency', '5'], ['rate', RATE]]), [])
    answers.push(['7', 0, 0, 0, 0], ['7', 0, 2, 0, 0], ['7', 0, 0, 0, 0, 2, 0, 'a'])
    gate.isOpen()
    await turns()
    gate.isOpen() // places come first
    await turns()
    assert.equal(gate.isOpen(), true)
    gate.count()
    const runs = gate.takePass()
    runs.begin()
    answers.push(['7', 0, 1, 0, 0])
    await gate.stop()
    await turns()
    assert.deepEqual([asked[3].held, asked[3].unused], [1, ['a', 1]])
    gate.isOpen()
    runs.end()
    await turns()
    assert.equal(asked.at(-1).held, 0)
    await gate.renew()
  })
})

describe('what limits the whole queue, in a process', () => {
  it('is nothing, and loads nothing, without a rate or a globalConcurrency', async () => {
    const hooks = []
    const limits = { terms: new Terms('1'), follow: hook => hooks.push(hook), noticed: async generation => generation }
    const dispatch = { running: 0, concurrency: 1, list: { size: 0 }, wake () {} }
    const broker = { name: 'q', isReady: false, client: { defineCommand () {} }, troubles: {}, listen: async () => {} }
    const stage = { dispatch, list: { gate: null } }
    const starts = new Starts({ broker, limits, stage }, { token: 'me', leaseMs: 1000 })
    const changed = []
    let lostCount = 0
    for (const hook of hooks) hook.changed([], false)
    assert.deepEqual([starts.gate, starts.isBinding, starts.takePass()], [null, false, undefined])
    assert.deepEqual([starts.renew(), starts.stop(), starts.leave()], [undefined, undefined, undefined])
    assert.equal(await starts.noticed('partition', '1'), 'partition')

    const inLine = []
    const calls = { running: () => [], lost: () => lostCount++, changed: names => changed.push(names), inLine: one => inLine.push(one) }
    starts.tell(calls)
    hooks[1].changed(['cap:a', 'rates:b', 'rate'], false)
    hooks[1].changed(['rate'], false)
    hooks[1].changed([], true)
    hooks[1].changed(['paused'], false)
    hooks[1].inLine('here')
    hooks[0].inLine('here')
    for (const hook of hooks) hook.freed(['me'])
    assert.deepEqual([changed, inLine], [[['a', 'b'], undefined, undefined], ['here']])

    limits.terms.values.set('rate', RATE)
    hooks[0].changed(['rate'], false)
    assert.equal(stage.list.gate, starts.gate)
    assert.equal(starts.takePass(), undefined)
    starts.gate.mayAskAt = 5
    for (const hook of hooks) hook.freed(['me'])
    assert.equal(starts.gate.mayAskAt, -Infinity)
    starts.gate.isWaitedFor = true
    assert.equal(starts.isBinding, true)
    starts.gate.lost()
    assert.equal(lostCount, 1)
    await Promise.all([starts.renew(), starts.stop(), starts.leave()])
    limits.terms.values.delete('rate')
    hooks[0].changed(['rate'], false)
    assert.equal(stage.list.gate, null)
  })
})
