'use strict'

// Calls of a turn that end a job and take one: which go together, beside stand-ins for supplies, and what becomes of both at a broker.

const assert = require('node:assert')
const { once } = require('node:events')
const { Matching } = require('../../lib/distributed/worker/matching')
const { Supply } = require('../../lib/distributed/worker/supply')
const { nameOf } = require('../../lib/distributed/names')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { latch, openRigged } = require('./rigged')

const [HERE, THERE] = [{ name: 'here' }, { name: 'there' }] // partitions

describe('calls of a turn', () => {
  let matching, calls

  beforeEach(() => {
    matching = new Matching()
    calls = []
  })

  function supplyOf (name, partition = HERE) {
    const supply = {
      name,
      place: { partition },
      endings: [],
      askers: [],
      isOpen: false,
      mayTakeAhead: () => supply.isOpen,
      toDecide: () => ({ endings: supply.endings.splice(0), askers: supply.askers.splice(0) }),
      tell: (ending, taker, asker) => calls.push([`end ${name}${ending.n}`, ...asker === undefined ? [] : [`${taker.name}${asker}`]].join(' for ')),
      ask: asker => calls.push(`ask ${name}${asker}`)
    }
    return supply
  }

  function has (supply, endings, askers) {
    supply.endings.push(...endings.map(n => ({ mayFetch: true, ...Object(n) === n ? n : { n } })))
    supply.askers.push(...askers)
    matching.add(supply)
  }

  async function made () {
    assert.deepEqual(calls, []) // not in this turn's own code
    await undefined
    return calls.splice(0)
  }

  it('are put together by type first, then by partition, in order', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map(name => supplyOf(name))
    has(a, [1, 2, 3], [1])
    has(b, [], [1, 2, 3])
    has(c, [1], [])
    assert.deepEqual(await made(), ['end a1 for a1', 'end a2 for b1', 'end a3 for b2', 'end c1 for b3'])
  })

  it('take a job of the same type ahead of a slot before they take one of another type', async () => {
    const [a, b] = [supplyOf('a'), supplyOf('b')]
    a.isOpen = true
    has(a, [1], [])
    has(b, [1], [1, 2])
    assert.deepEqual(await made(), ['end a1', 'end b1 for b1', 'ask b2'])
  })

  it('are made for themselves where there is nothing to put them with', async () => {
    const [a, b] = [supplyOf('a', HERE), supplyOf('b', THERE)]
    has(a, [1], [])
    has(b, [], [1, 2])
    assert.deepEqual(await made(), ['end a1', 'ask b1', 'ask b2'])
    has(b, [], [3])
    assert.deepEqual(await made(), ['ask b3'])
  })

  it('take nothing with the end of a job that goes back, and nothing of another type where a runner goes on', async () => {
    const [a, b] = [supplyOf('a'), supplyOf('b')]
    has(a, [{ n: 1, mayFetch: false }, { n: 2, delivery: {} }], [])
    has(b, [{ n: 1, delivery: {} }], [1, 2])
    assert.deepEqual(await made(), ['end a1', 'end a2', 'end b1 for b1', 'ask b2'])
  })

  describe('of two types in one', () => {
    let partition, told, asked, repeats, failed, begun, a, b, slot

    beforeEach(() => {
      partition = { isAway: false }
      told = latch()
      asked = []
      failed = []
      begun = []
      const parts = {
        taking: { isOn: true, isStopped: false },
        slots: { concurrency: 10, place: () => {}, mayStart: () => true },
        prefetch: { hasRoom: () => true, comingCount: 0, started: () => {}, add: () => {} },
        requests: {
          mayAsk: () => true,
          standByNoMore: () => {},
          failed: ({ type }) => failed.push(type),
          ask: ({ type }) => new Promise(resolve => asked.push({ type, resolve }))
        },
        endings: {
          tell (ending, taker, again) {
            repeats = again
            told.taker = taker.type
            return new Promise(resolve => { told.answer = resolve })
          }
        },
        attempts: { begin: (delivery, job) => begun.push(job.name) },
        matching
      };
      [a, b] = ['a', 'b'].map(type => new Supply({ type, partition, idOf: name => name }, parts))
      slot = { givenBack: 0, giveBack: () => { slot.givenBack++ } }
      b.window = 1
      b.tokensCount = 1
      a.end({ mayFetch: true })
      b.tokensCount--
      b.serve(slot)
    })

    const found = { job: { opts: {} }, name: 'j1', sentAt: 0, startBy: Infinity, waitMs: 0, dueInMs: 0, isDry: true }

    async function turns () {
      for (let count = 0; count < 10; count++) await undefined
    }

    const counts = () => [a.tellingCount, a.askingCount, b.askingCount, b.askersCount]

    it('give the slot the job, which is of the type that had asked', async () => {
      await turns()
      assert.deepEqual([told.taker, ...counts()], ['b', 1, 0, 1, 1])
      told.answer(found)
      await turns()
      assert.deepEqual([begun, [...b.jobs.keys()], a.jobs.size, slot.givenBack, asked.length], [['j1'], ['j1'], 0, 0, 0])
      assert.deepEqual([...counts(), b.window], [0, 0, 0, 0, 0])
    })

    it('have the type ask for itself if the end is refused', async () => {
      await turns()
      told.answer(undefined)
      await turns()
      assert.deepEqual([asked.map(({ type }) => type), ...counts()], [['b'], 0, 0, 1, 1])
      asked[0].resolve(found)
      await turns()
      assert.deepEqual([begun, slot.givenBack, b.isBlocked, ...counts()], [['j1'], 0, false, 0, 0, 0, 0])
    })

    it('give the slot back while the end has to be told again', async () => {
      await turns()
      repeats('away')
      repeats('away')
      assert.deepEqual([failed, slot.givenBack, b.isBlocked, ...counts()], [['a', 'a'], 1, true, 1, 0, 0, 0])
      told.answer(undefined)
      await turns()
      assert.deepEqual([asked.length, a.tellingCount], [0, 0])
      b.stop()
    })
  })
})

describeWithRedis('a distributed queue, of jobs of several types,', function () {
  const at = atServer()
  const open = openRigged(at)
  const key = what => `{fairlane:${at.name}}:${what}`

  /** Calls that end a job: what they take. @returns {string[]} */
  function watchEnds (rig) {
    const takers = []
    rig.rig('fairlaneEnd', (call, count, ...rest) => {
      const [, name,,,,,,, fetches,,,, other] = rest.slice(count)
      takers.push(fetches === 1 ? other || name : '')
      return call()
    })
    return takers
  }

  /** Has a type pushed that was not ready. @returns {Promise<{ pushed: Promise<any> }>} when the queue has heard of it */
  async function heard (rig, push) {
    const message = once(rig.messages, 'message')
    const pushed = push()
    await message
    return { pushed }
  }

  // a name with all that separates names of keys
  for (const names of [['a', 'b'], ['wait', 'a:b wait'], ['__proto__', ' :{x}']]) {
    it(`ends one of '${names[0]}' and takes one of '${names[1]}' in one call`, async () => {
      const gate = gates()
      const { queue, rig } = await open(gate.runner, { settleBy: 'callback', concurrency: 1, scheduler: 'equal', prefetch: 0 })
      const takers = watchEnds(rig)
      const first = queue.add(1, { type: names[0] })
      await gate.until(1)
      const { pushed: second } = await heard(rig, () => queue.add(2, { type: names[1] }))
      let takesCount = 0
      rig.rig('fairlaneTake', call => {
        takesCount++
        return call()
      })
      gate.release(1)
      await gate.until(2)
      gate.release(1)
      assert.deepEqual(await Promise.all([first, second]), [1, 2])
      await queue.onIdle()
      assert.deepEqual([takers, takesCount], [[nameOf(names[1]), ''], 0])
    })
  }

  it('ends a job whatever is wrong with the type whose job it would take, and says what that is', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { settleBy: 'callback', concurrency: 1, scheduler: 'equal', prefetch: 0 })
    const takers = watchEnds(rig)
    const first = queue.add(1, { type: 'a' })
    await gate.until(1)
    await (await heard(rig, () => queue.pushType('b', 2))).pushed
    at.server.cli('rename', key('b:wait'), key('b:kept'))
    at.server.cli('set', key('b:wait'), 'no list')
    const failed = once(queue, 'error')
    gate.release(1)
    assert.equal(await first, 1)
    assert.match((await failed)[0].message, /jobs of the type 'b'/)
    assert.deepEqual([takers, queue.stats().lost], [['b'], 0])
    at.server.cli('rename', key('b:kept'), key('b:wait'))
    await gate.until(2)
    gate.release(1)
    await queue.onIdle()
  })

  it('takes a job of another type all the same if an end is refused', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { settleBy: 'callback', concurrency: 1, scheduler: 'equal', prefetch: 0 })
    const takers = watchEnds(rig)
    const id = await queue.pushType('a', 1)
    await gate.until(1)
    const { pushed: second } = await heard(rig, () => queue.add(2, { type: 'b' }))
    at.server.cli('hincrby', key(id), 'ats', '1')
    const lost = once(queue, 'lost')
    gate.release(1)
    assert.equal((await lost)[0].id, id)
    await gate.until(2)
    gate.release(1)
    assert.equal(await second, 2)
    assert.deepEqual(takers, ['b', ''])
  })

  it('says of a type in the step that takes its last job that it is not ready any more, and of no other one', async () => {
    const gate = gates()
    const { queue, rig } = await open(gate.runner, { settleBy: 'callback', concurrency: 1, scheduler: 'equal', prefetch: 0 })
    const ready = () => at.server.cli('smembers', key('.ready')).split('\n').filter(Boolean).sort()
    let takesCount = 0
    rig.rig('fairlaneTake', call => {
      takesCount++
      return call()
    })
    await queue.pushType('a', 1)
    await gate.until(1)
    assert.deepEqual([ready(), takesCount], [[], 1])
    await heard(rig, () => queue.pushType('b', 2))
    await queue.pushType('b', 3) // it is ready
    await heard(rig, () => queue.pushType('c', 4))
    assert.deepEqual(ready(), ['b', 'c'])
    for (const [n, left] of [['b', 'c'], ['b'], []].entries()) {
      gate.release(1)
      await gate.until(n + 2)
      assert.deepEqual(ready(), left)
    }
    gate.release(1)
    await queue.onIdle()
    assert.equal(takesCount, 1) // all others came with the end of one
  })

  it('runs what is pushed while the last one of its type runs, at once', async () => {
    const gate = gates()
    const { queue } = await open(gate.runner, { settleBy: 'callback', concurrency: 2 })
    for (let n = 1; n <= 20; n++) {
      await queue.pushType('a', n)
      await gate.until(n)
      if (n > 1) gate.release(1)
    }
    gate.release(1)
    await queue.onIdle()
  })
})
