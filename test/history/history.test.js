'use strict'

const assert = require('node:assert/strict')
const { join } = require('node:path')
const { performance } = require('node:perf_hooks')
const fairlane = require('../..')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { revoked } = require('../support/proxies')
const { quiet, turn } = require('../support/turns')

/** A queue in which three jobs have ended, one runs and one waits. */
async function example () {
  const clock = fakeClock(1000)
  const history = new History()
  const gate = gates()
  const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, observers: history, clock })
  for (const type of ['a', 'b', 'a', 'b', 'a']) queue.pushType(type, 'payload')
  await gate.until(1)
  clock.advance(10)
  gate.release()
  await gate.until(2)
  clock.advance(20)
  gate.fail(new RangeError('no'))
  await gate.until(3)
  queue.remove(({ type }) => type === 'b')
  return { clock, history, queue, gate }
}

describe('a history', function () {
  it('tells what became of each job, by the clock of the queue', async function () {
    const { history } = await example()
    assert.deepEqual(history.get(1), { id: 1, type: 'a', state: 'done', attempts: 1, acceptedAt: 1000, startedAt: 1000, endedAt: 1010, error: undefined })
    const failed = history.get(2)
    assert.deepEqual({ ...failed }, { id: 2, type: 'b', state: 'failed', attempts: 1, acceptedAt: 1000, startedAt: 1010, endedAt: 1030, error: 'RangeError: no' })
    assert.deepEqual([3, 4, 5].map(id => history.get(id).state), ['running', 'cancelled', 'waiting'])
    assert.equal(history.get(4).error, 'FAIRLANE_ERR_CLEARED: The job was removed')
    assert.equal(history.get(6), undefined)
    assert.deepEqual(history.versions(6), [])
    assert.deepEqual(history.counts(), { waiting: 1, running: 1, delayed: 0, done: 1, failed: 1, cancelled: 1 })
    assert.deepEqual(history.counts('b'), { waiting: 0, running: 0, delayed: 0, done: 0, failed: 1, cancelled: 1 })
    assert.deepEqual(history.counts('none'), { waiting: 0, running: 0, delayed: 0, done: 0, failed: 0, cancelled: 0 })
  })

  it('lists jobs by state, type and time, the newest first, in pages', async function () {
    const { history } = await example()
    const ids = options => [...history.list(options)].map(({ id }) => id)
    assert.deepEqual(ids(), [5, 4, 3, 2, 1])
    assert.deepEqual(ids({ state: 'failed' }), [2])
    assert.deepEqual(ids({ type: 'a' }), [5, 3, 1])
    assert.deepEqual(ids({ type: 'none' }), [])
    assert.deepEqual(ids({ since: 1010, until: 1030 }), [1])
    assert.deepEqual(ids({ since: new Date(1010) }), [4, 3, 2, 1])
    assert.deepEqual(ids({ limit: 2 }), [5, 4])
    assert.deepEqual(ids({ limit: 2, before: 4 }), [3, 2])
  })

  it('lists what is there when it is asked for, while jobs go on', async function () {
    const { history, gate } = await example()
    const jobs = history.list()
    gate.open[0].done()
    assert.equal(jobs.next().value.id, 5)
    assert.equal([...jobs].find(({ id }) => id === 3).state, 'done')
  })

  it('lists on where segments have gone meanwhile, and has the live jobs of these', async function () {
    const history = new History({ keep: 0 })
    const queue = fairlane((id, done) => { if (id % 8192 > 2) done() }, { observers: history, concurrency: Infinity })
    let id = 1
    const more = async count => {
      for (const end = id + count; id < end; id++) queue.push(id)
      while (queue.waiting > 0) await turn()
    }
    await more(30000)
    const jobs = history.list({ limit: Infinity })
    const first = jobs.next().value
    const tail = 30000 % 8192 + 1
    const page = history.list({ limit: tail + 1 })
    page.next()
    await more(60000)
    const rest = [...jobs]
    assert.equal([...page].length, tail)
    assert.equal(first.id, 30000)
    for (const live of [1, 2, 8192, 8193, 8194, 16384]) assert(rest.some(({ id, state }) => id === live && state === 'running'), `job ${live}`)
  })

  it('sums up, and tells of each type how long its jobs waited and ran', async function () {
    const { history } = await example()
    assert.equal(history.sum('waitMs'), 0 + 10 + 30)
    assert.equal(history.sum('runMs', { type: 'b' }), 20)
    assert.equal(history.sum('attempts', { first: 2, last: 4 }), 1)
    assert.equal(history.sum('runMs', { type: 'none' }), 0)
    assert.deepEqual([...history.stats()], [
      ['a', { done: 1, failed: 0, cancelled: 0, waitMs: { mean: 0, max: 0 }, runMs: { mean: 10, max: 10 } }],
      ['b', { done: 0, failed: 1, cancelled: 1, waitMs: { mean: 20, max: 30 }, runMs: { mean: 20, max: 20 } }]
    ])
    assert.deepEqual([...history.stats({ since: 2000 })], [])
  })

  it('tells what was so at a time, and what a job was before', async function () {
    const { history } = await example()
    assert.deepEqual(history.at(1005).counts(), { waiting: 4, running: 1, delayed: 0, done: 0, failed: 0, cancelled: 0 })
    assert.equal(history.at(1010).sum('runMs'), 10)
    assert.equal(history.at(new Date(1010)).sum('runMs', { type: 'none' }), 0)
    assert.equal(history.at(999).counts().waiting, 0)
    assert.equal(history.at(1005).counts('none').waiting, 0)
    assert.deepEqual([0, 1, 2, 9, Infinity].map(back => history.get(2, { back }).state), ['failed', 'running', 'waiting', 'waiting', 'waiting'])
    assert.equal(history.get(2, { back: 1 }).endedAt, undefined)
    assert.equal(history.get(2, {}).state, 'failed')
    assert.deepEqual(history.versions(2), [
      { state: 'waiting', at: 1000, attempt: 0, error: undefined },
      { state: 'running', at: 1010, attempt: 1, error: undefined },
      { state: 'failed', at: 1030, attempt: 1, error: 'RangeError: no' }
    ])
  })

  it('forgets an ended job, and no other one', async function () {
    const { history } = await example()
    assert.equal(history.remove(2), true)
    assert.equal(history.remove(2), false)
    assert.equal(history.get(2), undefined)
    assert.equal(history.counts('b').failed, 0)
    for (const id of [3, 5]) assert.throws(() => history.remove(id), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('goes on after the queue has closed, and has what closing came to', async function () {
    const { history, queue } = await example()
    await queue.close({ drain: false })
    assert.deepEqual([3, 5].map(id => history.get(id).state), ['cancelled', 'cancelled'])
    assert.equal(history.get(5).error, 'FAIRLANE_ERR_CLOSED: The queue was closed before the job ended')
    assert.deepEqual(history.counts(), { waiting: 0, running: 0, delayed: 0, done: 1, failed: 1, cancelled: 3 })
    assert.equal(history.versions(3).length, 3)
  })

  it('keeps the type of a job whose queue has no scheduler and ignores it', async function () {
    const history = new History()
    const queue = fairlane(async () => {}, { observers: history })
    queue.push(1).pushType('a', 2).unshiftType(7, 3)
    await queue.onIdle()
    assert.deepEqual([...history.list()].map(({ type }) => type), ['7', 'a', undefined])
    assert.equal(history.counts('a').done, 1)
  })

  it('is not misled by a runner that goes on after its job has settled', async function () {
    const clock = fakeClock()
    const history = new History()
    const dones = []
    const queue = fairlane((n, done) => dones.push(done), { observers: history, clock, timeoutMs: 5, onTimeout: 'release', scheduler: 'fair' })
    queue.pushType('a', 1)
    await quiet()
    clock.advance(5)
    dones[0]()
    assert.deepEqual(history.get(1), { id: 1, type: 'a', state: 'failed', attempts: 1, acceptedAt: 0, startedAt: 0, endedAt: 5, error: 'FAIRLANE_ERR_TIMEOUT: The job ran longer than 5 ms' })
  })

  it('is not broken by an error whose getters call back into the queue', async function () {
    const history = new History()
    const queue = fairlane((n, done) => done({ get message () { queue.push(2).clear(); return 'hostile' } }), { observers: history, concurrency: 1 })
    queue.push(1)
    await quiet()
    await queue.close({ drain: false })
    assert.equal(history.get(1).error, 'hostile')
    assert.equal(history.get(1).state, 'failed')
    assert.equal(history.get(2).state, 'cancelled')
  })

  it('shows times of the system in ms since 1970', async function () {
    const before = performance.timeOrigin + performance.now()
    const history = new History()
    const queue = fairlane(async () => {}, { observers: history })
    await queue.add(1)
    const { acceptedAt, startedAt, endedAt } = history.get(1)
    assert(acceptedAt >= before - 1 && startedAt >= acceptedAt && endedAt >= startedAt)
    assert(endedAt <= performance.timeOrigin + performance.now())
  })

  it('reads the clock each time if that is to be exact', async function () {
    const history = new History({ clock: 'exact' })
    const queue = fairlane((n, done) => {
      for (const end = performance.now() + 5; performance.now() < end;);
      done()
    }, { observers: history })
    queue.push(1)
    await queue.onIdle()
    assert(history.sum('runMs') >= 4.9)
  })

  const wrong = [null, 1, 'x', [], { keep: -1 }, { keep: 1.5 }, { keep: '1' }, { keepMs: 0 }, { keepMs: NaN }, { keepMs: '1' }, { clock: 'fast' }, { clock: 1 }, { keeps: 1 }]
  it('throws FAIRLANE_ERR_OPTION for options that it does not know', function () {
    for (const options of wrong) assert.throws(() => new History(options), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(options))
    assert.throws(() => new History({ keeps: 1 }), /did you mean 'keep'/)
    assert.doesNotThrow(() => new History({ keep: 0, keepMs: 1, clock: 'exact' }))
  })

  it('throws FAIRLANE_ERR_ARGUMENT for arguments that a method does not take', function () {
    const history = new History()
    const calls = [
      () => history.get('1'), () => history.get(1, { back: -1 }), () => history.get(1, 1), () => history.get(1, { back: 'x' }), () => history.versions(1.5), () => history.remove(),
      () => history.list({ state: 'lost' }), () => history.list({ state: 1 }), () => history.list({ since: 'noon' }), () => history.list({ until: NaN }), () => history.list({ since: revoked() }),
      () => history.list({ before: '5' }), () => history.list({ limit: -1 }), () => history.list({ what: 1 }), () => history.list(null),
      () => history.sum('tenants'), () => history.sum(1), () => history.sum('runMs', { first: 'a' }), () => history.sum('runMs', []), () => history.stats({ type: 'a' }),
      () => history.at(), () => history.at('now'), () => history.at(new Date(NaN)), () => history.at(1).sum('x'), () => history.at(1).sum('runMs', { last: null }),
      () => history.save(), () => history.save(''), () => History.open(1), () => history.exportTo(), () => history.exportTo({}), () => history.exportTo(database(), { table: '' }),
      () => history.exportTo(database(), { table: 'a\0b' }), () => history.exportTo(database(), { after: 'a' })
    ]
    for (const call of calls) assert.throws(call, { code: 'FAIRLANE_ERR_ARGUMENT' }, String(call))
    assert.throws(() => history.list({ type: Symbol('a') }), { code: 'FAIRLANE_ERR_TYPE' })
    assert.throws(() => history.counts({}), { code: 'FAIRLANE_ERR_TYPE' })
  })

  it('is empty before it observes a queue', function () {
    const history = new History({ keepMs: 5 })
    assert.deepEqual([...history.list()], [])
    assert.equal(history.sum('runMs'), 0)
    assert.equal(history.get(1), undefined)
  })
})

describe('a history of a queue with attempts', function () {
  let clock, history, ledger

  /** What the list of a queue tells, so many ms later. */
  function tell (ms, change, ...args) {
    clock.advance(ms)
    ledger[change](...args)
  }

  const idsOf = options => [...history.list(options)].map(({ id }) => id)
  const statesOf = id => history.versions(id).map(({ state, at }) => `${state} at ${at}`)

  beforeEach(() => {
    clock = fakeClock(1000)
    history = new History()
    ledger = history[OBSERVE](undefined, undefined, { clock, hasIds: true })
  })

  /** Its second attempt is its last one; then somebody asks for another, which is done. */
  function tryAgain (id) {
    tell(0, 'accepted', id, 'a')
    tell(10, 'started', id)
    tell(10, 'undecided', id, new Error('first'))
    tell(30, 'due', id)
    tell(10, 'started', id)
    tell(10, 'dead', id, new Error('second'))
    tell(30, 'revived', id)
    tell(30, 'started', id)
    tell(10, 'ended', id, false)
  }

  it('tells what a job was before each of its transitions', function () {
    tryAgain(1)
    const before = [8, 7, 6, 5, 4, 3, 2, 1, 0].map(back => {
      const { state, attempts, acceptedAt, startedAt, endedAt, error } = history.get(1, { back })
      return [state, attempts, acceptedAt, startedAt, endedAt, error]
    })
    assert.deepEqual(before, [
      ['waiting', 0, 1000, undefined, undefined, undefined],
      ['running', 1, 1000, 1010, undefined, undefined],
      ['delayed', 1, 1000, 1010, undefined, 'Error: first'],
      ['waiting', 1, 1000, 1010, undefined, undefined],
      ['running', 2, 1000, 1060, undefined, undefined],
      ['failed', 2, 1000, 1060, 1070, 'Error: second'],
      ['waiting', 0, 1100, undefined, undefined, undefined],
      ['running', 1, 1100, 1130, undefined, undefined],
      ['done', 1, 1100, 1130, 1140, undefined]
    ])
  })

  it('tells what was so at any time, and what was summed up then', function () {
    tryAgain(1)
    const at = [1000, 1010, 1030, 1050, 1065, 1080, 1110, 1130, 1140]
    const stateAt = ms => Object.entries(history.at(ms).counts('a')).filter(([, count]) => count > 0).join()
    assert.deepEqual(at.map(stateAt), ['waiting,1', 'running,1', 'delayed,1', 'waiting,1', 'running,1', 'failed,1', 'waiting,1', 'running,1', 'done,1'])
    assert.equal(stateAt(999), '')
    const sums = ms => ['waitMs', 'runMs', 'attempts'].map(column => history.at(ms).sum(column))
    assert.deepEqual([999, 1030, 1080, 1110, 1140].map(sums), [[0, 0, 0], [0, 0, 0], [60, 10, 2], [0, 0, 0], [30, 10, 1]])
    assert.deepEqual(['waitMs', 'runMs', 'attempts'].map(column => history.sum(column)), [30, 10, 1])
  })

  it('sums up the waits of jobs that never started, which have no run', function () {
    tell(0, 'accepted', 1, 'a')
    tell(0, 'delayed', 1)
    tell(20, 'cancelled', 1, new Error('no'))
    tell(10, 'accepted', 2, 'a')
    tell(5, 'cancelled', 2, new Error('no'))
    assert.deepEqual([history.sum('waitMs'), history.sum('runMs'), history.at(1020).sum('waitMs'), history.at(1020).sum('runMs')], [25, 0, 20, 0])
    assert.deepEqual([...history.stats()], [['a', { done: 0, failed: 0, cancelled: 2, waitMs: { mean: 12.5, max: 20 }, runMs: { mean: undefined, max: undefined } }]])
  })

  describe('whose ids are far apart', function () {
    const FAR = 2 ** 40

    beforeEach(() => {
      for (const id of [1, 2]) tryAgain(id)
      tell(0, 'accepted', 3, 'b')
      tell(10, 'started', 3)
      tell(10, 'failed', 3, new Error('third'))
      tell(0, 'accepted', FAR, 'b')
    })

    it('lists them in pages, the newest first', function () {
      assert.deepEqual(idsOf(), [FAR, 3, 2, 1])
      const pages = [{ limit: 1 }, { limit: 2 }, { limit: 2, before: FAR }, { before: 2 }]
      assert.deepEqual(pages.map(idsOf), [[FAR], [FAR, 3], [3, 2], [1]])
      assert.deepEqual([idsOf({ state: 'failed' }), idsOf({ type: 'a' })], [[3], [2, 1]])
    })

    it('sums them up from one id to another, and has all versions of each', function () {
      assert.deepEqual([history.sum('waitMs'), history.sum('waitMs', { first: 2 }), history.sum('waitMs', { first: 2, last: 2 }), history.sum('waitMs', { last: 1 })], [70, 40, 30, 30])
      assert.deepEqual(statesOf(1), [
        'waiting at 1000', 'running at 1010', 'delayed at 1020', 'waiting at 1050', 'running at 1060', 'failed at 1070', 'waiting at 1100', 'running at 1130', 'done at 1140'
      ])
      assert.equal(history.get(3).error, 'Error: third')
    })

    it('has nothing of a job that was removed, though another one takes its place in memory', async function () {
      const path = join(temporaryFolder(), 'history')
      assert.equal(history.remove(3), true)
      tell(0, 'delayed', FAR)
      tell(0, 'accepted', 2 * FAR, 'b')
      for (const each of [history, (await history.save(path), await History.open(path))]) {
        assert.deepEqual([each.get(3), each.get(FAR).state, each.get(FAR).error], [undefined, 'delayed', undefined])
      }
    })
  })
})

function database () {
  return { exec () {}, prepare: () => ({ run () {} }) }
}
