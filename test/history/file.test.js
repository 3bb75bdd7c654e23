'use strict'

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { once } = require('node:events')
const { join } = require('node:path')
const fairlane = require('../..')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { LedgerRound } = require('../support/ledger-round')
const { seeded, seedFromEnvironment } = require('../support/random')
const { turn, turns } = require('../support/turns')

describe('a history that is saved and opened', function () {
  const seed = seedFromEnvironment()
  let path

  beforeEach(() => { path = join(temporaryFolder(), 'history') })

  it(`answers as before (SEED=${seed})`, async function () {
    const random = seeded(seed)
    const kinds = [{ keep: Infinity }, { keep: 0 }]
    for (let i = 0; i < 6; i++) {
      const options = kinds[i % 2]
      const round = new LedgerRound(random.below(4294967296), options)
      round.play(3000, 0, options.keep === 0 ? 10000 : 100)
      await round.history.save(path)
      round.history = await History.open(path)
      try {
        round.compareAll()
      } catch (error) {
        throw new Error(`SEED=${seed}, round ${i}: ${error.message}`, { cause: error })
      }
    }
  })

  it('is as it was when save() was called, whatever happens meanwhile', async function () {
    const history = new History()
    const ledger = history[OBSERVE](undefined, undefined, { clock: fakeClock() })
    ledger.accepted(1, 'a')
    const saved = history.save(path)
    ledger.started(1)
    ledger.accepted(2, 'a')
    await saved
    const opened = await History.open(path)
    assert.deepEqual(opened.counts(), { waiting: 1, running: 0, delayed: 0, done: 0, failed: 0, cancelled: 0 })
  })

  it('goes on with the next queue: ids follow, and what was live has failed', async function () {
    const first = new History({ keep: 5, clock: 'exact' })
    const queue = fairlane((n, done) => { if (n !== 2) done() }, { observers: first, concurrency: 1 })
    queue.push(1).push(2).push(3)
    while (queue.waiting > 1) await turn()
    await first.save(path)
    const history = await History.open(path)
    const before = [...history.list()]
    assert.deepEqual(before, [...first.list()])
    await history.save(path)
    assert.deepEqual([...(await History.open(path)).list()], before)
    const next = fairlane(async () => {}, { observers: history })
    next.unshift(4).push(5)
    await next.onIdle()
    assert.deepEqual([5, 4, 3, 2, 1].map(id => history.get(id).state), ['done', 'done', 'failed', 'failed', 'done'])
    assert.equal(history.get(2).error, 'FAIRLANE_ERR_CRASHED: The process ended before the job did')
    assert(history.get(2).endedAt >= before[1].startedAt && history.get(2).endedAt <= history.get(4).acceptedAt)
    assert.deepEqual(history.get(1), before[2])
  })

  it('shows the same times with a queue whose clock began at another time, and dead letters as failed', async function () {
    const first = new History()
    const ledger = first[OBSERVE](undefined, undefined, { clock: fakeClock(1000), hasIds: true })
    for (const id of [1, 2, 3, 2 ** 40]) ledger.accepted(id, 'a')
    for (const id of [1, 2, 2 ** 40]) ledger.started(id)
    ledger.dead(1, 'dead')
    for (const id of [2, 2 ** 40]) ledger.undecided(id, 'again')
    await first.save(path)
    const history = await History.open(path)
    const jobs = [...history.list()]
    fairlane(() => {}, { observers: history })
    assert.deepEqual(history.get(1), { ...jobs.find(({ id }) => id === 1), endedAt: 1000 })
    for (const id of [2, 2 ** 40]) {
      assert.deepEqual(history.versions(id).map(({ state, at }) => [state, at]), [['waiting', 1000], ['running', 1000], ['delayed', 1000], ['failed', 1000]])
    }
    assert.deepEqual(history.counts(), { waiting: 0, running: 0, delayed: 0, done: 0, failed: 4, cancelled: 0 })
    assert.equal(history.remove(1), true)
  })

  it('has no segments where there were none', async function () {
    const first = new History({ keep: 0 })
    const queue = fairlane((n, done) => { if (n !== 0) done() }, { observers: first, concurrency: 2 })
    for (let n = 0; n < 20000; n++) queue.push(n)
    while (queue.waiting > 0) await turn()
    await first.save(path)
    const history = await History.open(path)
    assert.deepEqual([...history.list({ limit: Infinity })], [...first.list({ limit: Infinity })])
    assert.equal(history.get(10000), undefined)
    assert.equal(history.sum('attempts'), first.sum('attempts'))
    fairlane(() => {}, { observers: history })
    assert.equal(history.counts().running, 0)
  })

  it('lets go of what outlived its neighbours as before: by age, and of what ended first', async function () {
    const clock = fakeClock(1000)
    const history = new History({ keepMs: 100 })
    const ledger = history[OBSERVE](undefined, undefined, { clock, hasIds: true })
    for (let i = 0; i < 5; i++, clock.advance(10)) ledger.accepted(1 + i * 2 ** 26, 'a') // each but the last is a stray
    for (const i of [1, 0, 3]) {
      ledger.cancelled(1 + i * 2 ** 26, 'no')
      clock.advance(1)
    }
    await history.save(path)
    const opened = await History.open(path)
    const known = () => [...opened.list()].map(({ id }) => (id - 1) / 2 ** 26)
    assert.deepEqual(known(), [4, 3, 2, 1, 0])
    const later = fakeClock(1053)
    opened[OBSERVE](undefined, undefined, { clock: later })
    later.advance(46)
    assert.deepEqual(known(), [4, 3, 2, 1, 0])
    later.advance(1)
    assert.deepEqual(known(), [4, 3, 2, 1])
    later.advance(29)
    assert.deepEqual(known(), [4, 3])
  })

  it('goes by age where its clock began at another time, too', async function () {
    const history = new History({ keepMs: 1e9 })
    const ledger = history[OBSERVE](undefined, undefined, { clock: fakeClock(1000), hasIds: true })
    for (const id of [1, 2 ** 26]) ledger.accepted(id, 'a')
    ledger.cancelled(1, 'no')
    await history.save(path)
    const opened = await History.open(path)
    assert.equal(opened.get(1).state, 'cancelled')
    fairlane(() => {}, { observers: opened })
    assert.deepEqual([...opened.list()], [])
  })

  it('lets go of those first that ended first, of jobs that outlived their neighbours', async function () {
    const clock = fakeClock()
    const history = new History()
    const ledger = history[OBSERVE](undefined, undefined, { clock, hasIds: true })
    for (let id = 1; id <= 2000; id++) ledger.accepted(id, 'a')
    ledger.accepted(2 ** 26, 'a')
    for (let id = 1000; id >= 1; id--, clock.advance(1)) ledger.cancelled(id, 'no')
    await history.save(path)
    const opened = await History.open(path)
    opened[OBSERVE](undefined, undefined, { clock }) // a thousand more have failed
    const known = [...opened.list({ limit: Infinity })].map(({ id }) => id)
    assert.deepEqual(known, [2 ** 26, ...Array.from({ length: 1000 }, (_, i) => 2000 - i), ...Array.from({ length: 24 }, (_, i) => 24 - i)])
  })

  it('can only be the first observer of a queue in memory', async function () {
    await new History().save(path)
    const history = await History.open(path)
    assert.throws(() => fairlane(() => {}, { observers: [new History(), history] }), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => history[OBSERVE](undefined, undefined, { clock: fakeClock(), hasIds: true }), { code: 'FAIRLANE_ERR_OPTION' })
    const queue = fairlane(async () => {}, { observers: [history, new History()] })
    const attach = (new History())[OBSERVE]
    assert.throws(() => attach.call(history, undefined, undefined, { clock: fakeClock() }), { code: 'FAIRLANE_ERR_OPTION' })
    await queue.add(1)
    assert.equal(history.get(1).state, 'done')
  })

  it('rejects with FAIRLANE_ERR_IO where the file system fails, and leaves nothing behind', async function () {
    const folder = temporaryFolder()
    await assert.rejects(History.open(join(folder, 'none')), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'ENOENT')
    await assert.rejects(new History().save(join(folder, 'no', 'folder')), { code: 'FAIRLANE_ERR_IO' })
    fs.mkdirSync(join(folder, 'taken', 'inside'), { recursive: true })
    await assert.rejects(new History().save(join(folder, 'taken')), { code: 'FAIRLANE_ERR_IO' })
    assert.deepEqual(fs.readdirSync(folder), ['taken'])
  })

  it('rejects with FAIRLANE_ERR_CORRUPT wherever a byte of the file is another one, or the end is missing', async function () {
    const history = new History()
    const ledger = history[OBSERVE](undefined, undefined, { clock: fakeClock(), hasIds: true })
    ledger.accepted(1, 'a')
    ledger.accepted(2 ** 40, 'a')
    ledger.unaccepted(2 ** 40)
    await history.save(path)
    const whole = fs.readFileSync(path)
    for (let at = 0; at < whole.length; at += at < 300 ? 1 : 9973) {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 1 << at % 8
      fs.writeFileSync(path, bytes)
      await assert.rejects(History.open(path), ({ code, file, offset }) => code === 'FAIRLANE_ERR_CORRUPT' && file === path && offset >= 0)
    }
    for (const length of [0, 7, 19, 20, 500, whole.length - 1]) {
      fs.writeFileSync(path, whole.subarray(0, length))
      await assert.rejects(History.open(path), { code: 'FAIRLANE_ERR_CORRUPT' })
    }
  })

  it('is the old or the new one after a kill at any moment', async function () {
    await new History().save(path)
    for (let i = 0; i < 12; i++) {
      const child = spawn(process.execPath, ['--eval', `
        const { History } = require('./lib/history')
        const { OBSERVE } = require('./lib/core/internals')
        const { systemClock: clock } = require('./lib/platform/clock')
        const history = new History()
        const ledger = history[OBSERVE](undefined, undefined, { clock })
        for (let id = 1; id <= 50000; id++) ledger.accepted(id, 'a')
        process.stdout.write('.')
        const save = () => history.save(process.argv[1]).then(save)
        save()
      `, path], { cwd: root, env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'inherit'] })
      await once(child.stdout, 'data')
      await turns(40 * i)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const { waiting } = (await History.open(path)).counts()
      assert(waiting === 50000 || waiting === 0, `${waiting} wait`)
    }
  })
})
