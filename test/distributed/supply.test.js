'use strict'

// A type's supply beside a stand-in for the other parts: answers of the broker come in the order that the test wants.

const assert = require('node:assert')
const { Matching } = require('../../lib/distributed/worker/matching')
const { Supply } = require('../../lib/distributed/worker/supply')

const CAPPED = { waitMs: 0, dueInMs: 0, isDry: false } // jobs wait, and none may be had
const DRY = { waitMs: 0, dueInMs: 0, isDry: true }
const RATED = { waitMs: 5000, dueInMs: 0 }

const found = (name, more) => ({ job: { opts: {} }, name, sentAt: 0, startBy: Infinity, isShort: false, dueInMs: 0, isDry: false, ...more })

describe('what a process has of a type', () => {
  const { setTimeout, clearTimeout } = global
  let timers, crew, supply, partition

  beforeEach(() => {
    timers = []
    global.setTimeout = (fn, ms) => {
      const timer = { fn, ms }
      timers.push(timer)
      return timer
    }
    global.clearTimeout = timer => { timers = timers.filter(one => one !== timer) }
    partition = { isAway: false }
    crew = {
      asks: [], // calls that wait for their answers
      begun: [],
      standingBy: [],
      returned: [],
      placedCount: 0,
      count: 0, // of jobs that were prefetched
      comingCount: 0,
      leaseMs: 1000,
      concurrency: 4,
      isStopped: false,
      isOn: true,
      isPaused: false,
      mayAsk: () => !crew.isStopped && !partition.isAway,
      mayStart: () => !crew.isPaused,
      hasRoom: () => false,
      place: () => { crew.placedCount++ },
      begin: (delivery, job) => crew.begun.push(job),
      started: () => {},
      add: () => { crew.count++ },
      ask: () => new Promise(resolve => crew.asks.push(resolve)),
      standBy: (one, ms) => crew.standingBy.push(ms),
      standByNoMore: () => {}
    }
    const parts = { taking: crew, slots: crew, prefetch: crew, requests: crew, announcer: crew, attempts: crew, matching: new Matching() }
    supply = new Supply({ type: 'a', partition, idOf: name => name }, { ...parts, endings: { tell: (...args) => crew.tell(...args), keepPlace: ending => crew.keepPlace(ending) } })
    supply.giveBack = jobs => { crew.returned.push(...jobs.map(({ name }) => name)) }
  })

  afterEach(() => { Object.assign(global, { setTimeout, clearTimeout }) })

  async function turns () {
    for (let count = 0; count < 10; count++) await undefined
  }

  /** Gives a token a slot. @returns {{ isSettled: boolean, givenBack: number, giveBack: () => void }} its delivery */
  function serve () {
    supply.tokensCount--
    const delivery = { isSettled: false, givenBack: 0, giveBack: () => { delivery.givenBack++ } }
    supply.serve(delivery)
    return delivery
  }

  /** Expects jobs, and has the broker asked for them. */
  async function ask () {
    supply.expectJobs()
    const delivery = serve()
    await turns()
    return delivery
  }

  async function answer (value, list = crew.asks) {
    list.shift()(value)
    await turns()
  }

  /** The type is ready, and twice gave nothing: it is at its cap. */
  async function beBlocked () {
    await ask()
    await answer(CAPPED)
    serve()
    await turns()
    await answer(CAPPED)
    assert.deepEqual([supply.isBlocked, supply.tokensCount], [true, 0])
  }

  it('asks for twice as many with each job that comes', async () => {
    await ask()
    await answer(found('j1'))
    assert.deepEqual([supply.window, supply.tokensCount], [2, 2])
    for (let n = 0; n < 2; n++) serve()
    await turns()
    await answer(found('j2'))
    await answer(found('j3'))
    assert.equal(supply.window, 4)
    serve()
    await turns()
    await answer(found('j4'))
    assert.equal(supply.window, 4) // no more than there are slots
    assert.deepEqual(crew.begun.map(({ name }) => name), ['j1', 'j2', 'j3', 'j4'])
  })

  it('asks once however often it hears of the type', async () => {
    for (let count = 0; count < 5; count++) supply.expectJobs()
    assert.deepEqual([supply.tokensCount, crew.placedCount], [1, 1])
    serve()
    for (let count = 0; count < 5; count++) supply.expectJobs()
    await turns()
    assert.deepEqual([supply.tokensCount, crew.placedCount, crew.asks.length], [0, 1, 1])
  })

  it('is dry when the broker has nothing, or nothing more than the job that it gives', async () => {
    for (const last of [[found('j1', { isDry: true })], [found('j1'), DRY]]) {
      await ask()
      await answer(last[0])
      if (last.length > 1) {
        const slots = [serve(), serve()]
        await turns()
        await answer(last[1])
        await answer(last[1])
        assert.deepEqual(slots.map(({ givenBack }) => givenBack), [1, 1])
      }
      assert.deepEqual([supply.window, supply.tokensCount, crew.asks.length], [0, 0, 0])
      supply.jobs.clear()
      assert.equal(supply.isIdle, true)
    }
    assert.equal(crew.begun.length, 2)
  })

  it('asks once more if it has heard of jobs while the broker said that it has no more', async () => {
    for (const last of [found('j1', { isDry: true }), DRY]) {
      await ask()
      supply.expectJobs()
      await answer(last)
      assert.deepEqual([supply.window, supply.tokensCount], [1, 1])
      serve()
      await turns()
      await answer(DRY)
      assert.deepEqual([supply.window, supply.tokensCount], [0, 0])
    }
  })

  it('knows when a delayed job is due behind the last one that waited', async () => {
    await ask()
    await answer(found('j1', { isDry: true, dueInMs: 100 }))
    assert.deepEqual(timers.map(({ ms }) => ms), [101])
    timers.splice(0)[0].fn()
    assert.deepEqual([supply.window, supply.tokensCount], [1, 1])
  })

  it('asks once more if the broker has jobs after all, then waits ever longer: the type is at its cap', async () => {
    const pauses = []
    await ask()
    for (let count = 0; count < 8; count++) {
      await answer(CAPPED)
      if (timers.length > 0) {
        assert.equal(supply.isAtCap, true)
        const [{ fn, ms }] = timers.splice(0)
        pauses.push(ms)
        fn()
      }
      serve()
      await turns()
    }
    assert.deepEqual(pauses, [25, 50, 100, 200, 400, 800, 1000])
  })

  it('asks at once when a job of a type at its cap ends', async () => {
    await beBlocked()
    crew.tell = async () => undefined
    supply.end({ mayFetch: true })
    assert.deepEqual([supply.isBlocked, supply.tokensCount], [false, 1])
    await turns()
  })

  it('asks at once when it hears of a place under the cap of its type', async () => {
    await beBlocked()
    supply.freed()
    assert.deepEqual([supply.isBlocked, supply.tokensCount, timers.length], [false, 1, 0])
    // the broker may have answered before the place was free, and be heard later
    serve()
    await turns()
    supply.freed()
    await answer(CAPPED)
    assert.deepEqual([supply.isBlocked, supply.tokensCount], [false, 1])
  })

  it('is not asked before a time for a place, if it is no cap that keeps it', async () => {
    await ask()
    await answer(RATED) // a rate
    supply.freed()
    assert.deepEqual([supply.isBlocked, timers.map(({ ms }) => ms)], [true, [5000]])
  })

  it('is not asked before a time that came with a job', async () => {
    await ask()
    await answer({ ...found('j1'), waitMs: 5000 })
    assert.deepEqual([supply.isBlocked, supply.tokensCount, timers.map(({ ms }) => ms)], [true, 0, [5000]])
    supply.askAgain()
    assert.deepEqual([supply.isBlocked, supply.tokensCount, timers.length], [false, 1, 0])
    serve()
    await turns()
    supply.recheck() // by other limits
    await answer({ ...found('j2'), waitMs: 5000 })
    assert.equal(supply.isBlocked, false)
  })

  it('stands by where other processes come first', async () => {
    await ask()
    await answer({ waitMs: 5000, dueInMs: 0, isLater: true })
    assert.deepEqual([supply.isBlocked, timers.length, crew.standingBy], [true, 0, [5000]])
    supply.standBy(3600000)
    assert.deepEqual(crew.standingBy, [5000, 30000]) // the message that a limit has changed may be lost
    supply.freed()
    assert.equal(supply.isBlocked, true)
    supply.askAgain()
    assert.deepEqual([supply.isBlocked, supply.tokensCount], [false, 1])
  })

  it('waits for the answers that are on their way before it takes the type for one at its cap, and no longer than it is told', async () => {
    await ask()
    await answer(found('j1'))
    serve()
    serve()
    await turns()
    await answer(CAPPED)
    assert.deepEqual([supply.window, supply.stillCount], [1, 0])
    await answer(RATED) // a rate
    assert.deepEqual([supply.isBlocked, timers.map(({ ms }) => ms)], [true, [5000]])
    supply.askAgain()
    supply.window = 2
    supply.topUp()
    serve()
    serve()
    await turns()
    await answer(RATED)
    await answer(CAPPED)
    assert.deepEqual([supply.isBlocked, supply.isAtCap, supply.stillCount, timers.length], [true, false, 0, 1])
  })

  it('leaves a late answer of nothing at that when the type is dry, and asks no more when it is stopped', async () => {
    await ask()
    supply.window = 0
    await answer(CAPPED)
    assert.deepEqual([supply.window, supply.tokensCount], [0, 0])
    await ask()
    crew.isStopped = true
    await answer(CAPPED)
    assert.equal(supply.tokensCount, 0)
  })

  it('asks again after a while without an answer, or when the partition is back', async () => {
    await ask()
    await answer(undefined)
    assert.deepEqual(timers.map(({ ms }) => ms), [1000])
    timers.splice(0)[0].fn()
    serve()
    await turns()
    partition.isAway = true
    await answer(undefined)
    assert.deepEqual(timers, [])
    partition.isAway = false
    supply.topUp()
    assert.equal(supply.tokensCount, 1)
  })

  it('keeps a job whose slot is gone, or whose type is paused', async () => {
    const gone = await ask()
    gone.isSettled = true
    await answer(found('j1'))
    assert.deepEqual(supply.prefetched.splice(0).map(({ name }) => name), ['j1'])
    crew.isPaused = true
    const paused = serve()
    await turns()
    await answer(found('j2'))
    assert.deepEqual(supply.prefetched.map(({ name }) => name), ['j2'])
    assert.deepEqual([crew.begun.length, gone.givenBack, paused.givenBack], [0, 1, 1])
  })

  it('starts a job that waits for a slot before one that was taken later, whichever slot asked for that', async () => {
    supply.window = 2
    supply.expectJobs()
    const [gone, other] = [serve(), serve()]
    await turns()
    gone.isSettled = true
    await answer(found('first'))
    assert.deepEqual(crew.begun, [])
    await answer(found('second'))
    assert.deepEqual([crew.begun.map(({ name }) => name), supply.prefetched.map(({ name }) => name), other.givenBack], [['first'], ['second'], 0])
  })

  it('brings the next job with the end of one, for the slot that waits or ahead of one, and none with one that goes back', async () => {
    const told = []
    crew.announce = async () => told.push('announced')
    crew.tell = (ending, taker) => new Promise(resolve => told.push({ fetches: taker !== undefined, resolve }))
    supply.expectJobs()
    const delivery = serve()
    supply.end({ mayFetch: true })
    await turns()
    assert.equal(told[0].fetches, true)
    told[0].resolve(found('j1'))
    await turns()
    assert.deepEqual([crew.begun.map(({ name }) => name), delivery.givenBack], [['j1'], 0])
    crew.hasRoom = () => true
    supply.end({ mayFetch: true })
    await turns()
    assert.deepEqual([told[1].fetches, crew.comingCount], [true, 1])
    told[1].resolve(found('j2'))
    await turns()
    assert.deepEqual([supply.prefetched.map(({ name }) => name), crew.comingCount], [['j2'], 0])
    supply.end({ mayFetch: false })
    await turns()
    assert.equal(told[2].fetches, false)
    told[2].resolve(undefined)
    await turns()
    assert.equal(told[3], 'announced')
    assert.equal(supply.tellingCount, 0)
  })

  it('takes fewer ahead of a type with a rate, whose jobs must start soon', async () => {
    const told = []
    crew.tell = async (ending, taker) => { told.push(taker !== undefined) }
    crew.hasRoom = isShort => !isShort
    await ask()
    await answer(found('j1', { isShort: true }))
    supply.end({ mayFetch: true })
    await turns()
    supply.topUp()
    serve()
    await turns()
    await answer(found('j2'))
    supply.end({ mayFetch: true })
    await turns()
    assert.deepEqual(told, [false, true])
  })

  it('gives the slot to others while the end of a job has to be told again', async () => {
    const failed = []
    let end, repeats
    crew.failed = (where, err) => failed.push(err)
    crew.hasRoom = () => true
    crew.tell = (ending, taker, again) => new Promise(resolve => {
      end = resolve
      repeats = again
    })
    for (const isAhead of [false, true]) {
      supply.expectJobs()
      const delivery = isAhead ? undefined : serve()
      supply.end({ mayFetch: true })
      await turns()
      repeats('first')
      repeats('second')
      if (!isAhead) assert.equal(delivery.givenBack, 1)
      assert.deepEqual([supply.askingCount, supply.askersCount, crew.comingCount, supply.tellingCount], [0, 0, 0, 1])
      end(undefined)
      await turns()
      assert.equal(supply.tellingCount, 0)
      supply.unblock()
    }
    assert.deepEqual(failed, ['first', 'second', 'first', 'second'])
  })

  it('gives back what was taken by an old limit, and asks by the new one', async () => {
    await ask()
    await answer(RATED)
    supply.prefetched.push({ name: 'j1', takenAt: 1 })
    crew.count = 1
    supply.recheck()
    assert.deepEqual(crew.returned, ['j1'])
    assert.deepEqual([supply.isBlocked, supply.tokensCount, timers.length], [false, 1, 0])
  })

  it('gives a job back where it may take none ahead', async () => {
    crew.isPaused = true
    crew.isOn = false
    await ask()
    await answer(found('j1'))
    assert.deepEqual(crew.returned, ['j1'])
    assert.equal(supply.prefetched.length, 0)
  })

  it('takes what was prefetched before it asks', () => {
    supply.prefetched.push({ name: 'j1', takenAt: 1 }, { name: 'j2', takenAt: 2 })
    crew.count = 2
    serve()
    assert.deepEqual([crew.begun.map(({ name }) => name), crew.count], [['j1'], 1])
  })

  it('gives all back when the first has waited for long, in the order that puts each before the others', () => {
    supply.prefetched.push({ name: 'j1', takenAt: 1 }, { name: 'j2', takenAt: 2 }, { name: 'j3', takenAt: 3 })
    crew.count = 3
    assert.equal(supply.returnPrefetched(0), undefined)
    supply.returnPrefetched(2)
    assert.deepEqual([crew.returned, crew.count, supply.prefetched], [['j3', 'j2', 'j1'], 0, []])
    assert.equal(supply.returnPrefetched(Infinity), undefined)
  })

  it('tells the broker at once of all that it gives back, and others when all are there', async () => {
    delete supply.giveBack
    const told = []
    crew.tell = ({ job, kind }) => new Promise(resolve => told.push({ name: job.name, kind, resolve }))
    crew.announce = async () => told.push('announced')
    supply.prefetched.push({ name: 'j1', takenAt: 1 }, { name: 'j2', takenAt: 2 })
    supply.returnPrefetched(Infinity)
    assert.deepEqual(told.map(({ name, kind }) => [name, kind]), [['j2', 'returned'], ['j1', 'returned']])
    assert.equal(supply.tellingCount, 2)
    told[0].resolve()
    await turns()
    assert.equal(told.length, 2)
    told[1].resolve()
    await turns()
    assert.deepEqual([told[2], supply.tellingCount], ['announced', 0])
  })

  it('starts jobs in the order in which the broker gave them out, whichever answer is heard of first', async () => {
    const told = []
    crew.tell = () => new Promise(resolve => told.push(resolve))
    supply.window = 3
    supply.expectJobs()
    for (let n = 0; n < 2; n++) {
      serve()
      supply.end({ mayFetch: true })
      await turns()
    }
    serve()
    await turns()
    await answer(found('j3'))
    assert.deepEqual([crew.begun, supply.askingCount], [[], 3])
    await answer(undefined, told)
    assert.deepEqual([crew.begun, supply.askingCount], [[], 2])
    await answer(found('j2'), told)
    assert.deepEqual([crew.begun.map(({ name }) => name), supply.askingCount], [['j2', 'j3'], 0])
  })

  it('tells of an end when its runner, which goes on, has a place: a job that was asked for meanwhile comes first', async () => {
    const told = []
    let keep
    crew.keepPlace = () => new Promise(resolve => { keep = resolve })
    crew.tell = () => new Promise(resolve => told.push(resolve))
    supply.window = 2
    supply.expectJobs()
    serve()
    supply.end({ mayFetch: true, delivery: {} })
    await turns()
    serve()
    await turns()
    assert.deepEqual([told.length, crew.asks.length], [0, 1])
    keep()
    await turns()
    await answer(found('j2'), told)
    await answer(found('j1'))
    assert.deepEqual(crew.begun.map(({ name }) => name), ['j1', 'j2'])
  })

  it('wakes for the next job that is due within a lease, by the earliest', async () => {
    supply.wakeIn(5000)
    assert.equal(timers.length, 0) // the keeper tells of it
    supply.wakeIn(500)
    supply.wakeIn(800)
    assert.equal(timers.length, 1)
    supply.wakeIn(100)
    assert.equal(timers.length, 1)
    assert.equal(supply.isIdle, false)
    timers.splice(0)[0].fn()
    assert.equal(supply.tokensCount, 1)
    crew.isStopped = true
    supply.wakeIn(100)
    assert.equal(timers.length, 0)
  })

  it('gives back what was asked for by an old limit, and comes when there is a new one', async () => {
    const delivery = await ask()
    supply.recheck()
    await answer(found('j1'))
    assert.deepEqual([crew.returned, crew.begun, supply.prefetched, delivery.givenBack], [['j1'], [], [], 1])
    serve()
    await turns()
    await answer(found('j2'))
    assert.deepEqual(crew.begun.map(({ name }) => name), ['j2'])
  })

  it('is asked again at once if it was by an old limit that there was nothing', async () => {
    await ask()
    supply.recheck()
    serve()
    await turns()
    await answer(RATED)
    assert.deepEqual([supply.isBlocked, supply.tokensCount + supply.askingCount], [false, 1])
  })

  it('gives a slot back that comes when nothing may be asked for', () => {
    supply.expectJobs()
    partition.isAway = true
    const delivery = serve()
    assert.deepEqual([delivery.givenBack, supply.askersCount], [1, 0])
  })

  it('has lost the job that is given to it again, unless that ends', async () => {
    const lost = []
    crew.lost = ({ name }, { code }) => lost.push([name, code])
    await ask()
    await answer(found('j1'))
    serve()
    await turns()
    await answer(found('j1'))
    assert.deepEqual(lost, [['j1', 'FAIRLANE_ERR_LEASE']])
    supply.jobs.get('j1').isEnding = true
    serve()
    await turns()
    await answer(found('j1'))
    assert.equal(lost.length, 1)
  })

  it('is idle only when nothing of it is here, nor on its way', () => {
    assert.equal(supply.isIdle, true)
    supply.jobs.set('j', {})
    assert.equal(supply.isIdle, false)
    supply.jobs.clear()
    supply.wakeIn(100)
    assert.equal(supply.isIdle, false)
    supply.stop()
    assert.equal(supply.isIdle, true)
    supply.expectJobs()
    assert.equal(supply.isIdle, false)
  })

  it('keeps a job for the next slot, unless nothing is taken any more', () => {
    supply.keep({ name: 'j1' })
    assert.deepEqual([crew.count, crew.placedCount, supply.prefetched.length], [1, 1, 1])
    crew.isOn = false
    supply.keep({ name: 'j2' })
    assert.deepEqual(crew.returned, ['j2'])
  })

  it('lets go of a job once, and not of the one that has taken its place', () => {
    crew.count = 1
    const [first, second] = [{ name: 'j' }, { name: 'j' }]
    supply.jobs.set('j', second)
    supply.prefetched.push(second)
    supply.drop(first)
    assert.deepEqual([...supply.jobs.values()], [second])
    supply.drop(second)
    supply.drop(second)
    assert.equal(supply.jobs.size + supply.prefetched.length + crew.count, 0)
  })
})
