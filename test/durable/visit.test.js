'use strict'

// How the command line comes to a folder: it reads one whoever has it open, or opens it as a queue in which nothing starts.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { join } = require('node:path')
const { durable, Postponed } = require('../../lib/durable')
const { OVER } = require('../../lib/durable/run/job-state')
const { openFolder, readFolder } = require('../../lib/durable/visit/visit')
const { PersistentQueue } = require('../../lib/log')
const { files } = require('../../lib/log/files')
const { lock } = require('../../lib/log/lock')
const { Metrics } = require('../../lib/metrics')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')

const HOUR_MS = 3600000

describe('a folder of jobs that is visited', function () {
  let base, path, queue

  beforeEach(() => {
    base = temporaryFolder()
    path = join(base, 'queue')
  })
  afterEach(async () => {
    await queue?.close({ timeoutMs: 0 })
    queue = undefined
    fs.rmSync(base, { recursive: true })
  })

  const open = async (runner, options) => (queue = await durable(runner, { path, ack: 'os', ...options }))
  const openPaused = async options => (await open(() => {}, options)).pause()
  const close = async () => {
    await queue.close({ timeoutMs: 0 })
    queue = undefined
  }
  const fail = async payload => { throw Object.assign(new Error(`no ${payload}`), { code: 'E_NO' }) }

  async function read (use, options) {
    const { folder, ...about } = await readFolder(path, options)
    try {
      return await use(folder, about)
    } finally {
      folder.close()
    }
  }

  describe('is read without its lock, and', function () {
    it('has its jobs by state and type, while they wait, run and are delayed', async () => {
      const gate = gates()
      await open(gate.runner, { concurrency: 1 })
      await queue.pushType('a', 1)
      await gate.until(1)
      await queue.pushType('a', 2)
      await queue.pushType('b', 3, { delayMs: HOUR_MS })
      await queue.push(4, { key: 'k', keyUntil: 'settled' })
      const { folder } = await readFolder(path, { now: Date.now() + 5 })
      const { oldestAt, ...counts } = folder.counts()
      assert.deepEqual(counts, { waiting: 3, delayed: 1, running: 1, dead: 0, types: 2 })
      assert(oldestAt <= Date.now())
      assert.deepEqual(folder.types(), [
        { type: 'a', waiting: 1, delayed: 0, running: 1, dead: 0 },
        { type: 'b', waiting: 1, delayed: 1, running: 0, dead: 0 },
        { type: undefined, waiting: 1, delayed: 0, running: 0, dead: 0 }
      ])
      const jobs = [...folder.jobs()]
      assert.deepEqual(jobs.map(({ id, state, payload }) => [id, state, payload]), [[1, 'running', 1], [2, 'waiting', 2], [3, 'delayed', 3], [4, 'waiting', 4]])
      assert(jobs[2].dueAt > Date.now() + HOUR_MS / 2)
      assert.deepEqual([jobs[3].key, jobs[3].type], ['k', undefined])
      assert.equal(folder.holder.pid, process.pid)
      folder.close()
    })

    it('says of a job that was running when the process ended that it waits', async () => {
      const gate = gates()
      await open(gate.runner)
      await queue.pushType('a', 1)
      await gate.until(1)
      const copy = join(base, 'copy')
      fs.cpSync(path, copy, { recursive: true, filter: file => !file.includes('lock-') })
      path = copy
      await read(folder => {
        assert.equal(folder.holder, undefined)
        assert.deepEqual([...folder.jobs()].map(({ state, attempts }) => [state, attempts]), [['waiting', 1]])
      })
    })

    it('has dead letters, jobs that are tried later, and none that have ended', async () => {
      await open((payload, done) => payload === 'dead' ? fail(payload) : payload === 'later' ? done(new Postponed(HOUR_MS)) : done(), { maxAttempts: 1 })
      await queue.pushType('a', 'done', { key: 'k', keyUntil: HOUR_MS })
      await queue.pushType('a', 'dead', { priority: undefined })
      await queue.fflush()
      await queue.pushType('b', 'later')
      for (let isOver = false; !isOver; await new Promise(setImmediate)) isOver = (await queue.counts()).delayed === 1
      await close()
      await read(folder => {
        const [dead, later] = folder.jobs()
        assert.deepEqual([dead.state, dead.attempts, dead.error.code, dead.error.message], ['dead', 1, 'E_NO', 'no dead'])
        assert(dead.at > 0 && dead.dueAt === undefined)
        assert.deepEqual([later.state, later.error], ['delayed', undefined])
        assert.deepEqual(folder.counts(), { waiting: 1, delayed: 1, running: 0, dead: 1, types: 2, oldestAt: undefined })
        assert.equal([...folder.jobs(({ state }) => state === 'dead')].length, 1)
        assert.equal(folder.get(dead.id).payload, 'dead')
        for (const id of [1, 99, 0, -1, 0.5, NaN, '2', 2 ** 60]) assert.equal(folder.get(id), undefined, String(id))
      })
    })

    it('goes by the delay of a push until the first start only, whatever the clock says', async () => {
      await open(fail, { maxAttempts: 1 })
      await queue.push(1, { delayMs: 1 })
      await queue.onIdle()
      queue.pause()
      await queue.retryDead(1)
      await read(folder => assert.equal(folder.get(1).state, 'waiting'), { now: 0 })
    })

    for (const [serialize, payload, bytes] of [['json', { a: 1 }, '{"a":1}'], ['structured', new Map([[1, 2]])]]) {
      it(`decodes payloads as its mark says: ${serialize}`, async () => {
        await openPaused({ serialize })
        await queue.push(payload)
        await close()
        await read((folder, about) => {
          assert.equal(about.serializer, serialize)
          const [job] = folder.jobs()
          assert.deepEqual(job.payload, payload)
          if (bytes !== undefined) assert.equal(String(job.bytes), bytes)
        })
      })
    }

    it('gives bytes where a service encodes payloads by itself', async () => {
      await openPaused({ serialize: { encode: text => Buffer.from(text).reverse(), decode: bytes => String(bytes.reverse()) } })
      await queue.push('abc')
      await close()
      await read((folder, { serializer }) => {
        assert.deepEqual([serializer, String(folder.jobs().next().value.payload)], ['custom', 'cba'])
      })
    })

    it('knows what its schedules are, how far they are, and when their next times are', async () => {
      const gate = gates()
      const schedules = {
        often: { everyMs: HOUR_MS, payload: 1, type: 'x' },
        nightly: { cron: '0 3 * * *', timezone: 'UTC' },
        overlapping: { everyMs: HOUR_MS, overlap: true },
        paused: { everyMs: HOUR_MS }
      }
      await open(gate.runner, { schedules })
      await queue.pauseSchedule('paused')
      await queue.runSchedule('often')
      await queue.setSchedule('often', { everyMs: 2 * HOUR_MS })
      await queue.setSchedule('gone', { everyMs: HOUR_MS })
      await queue.setSchedule('gone', null)
      await queue.flush()
      const listed = (await queue.listSchedules()).map(({ paused, ...known }) => known)
      await read(folder => {
        const found = folder.schedules()
        assert.deepEqual(found.map(({ name, nextAt, lastAt }) => ({ name, nextAt, lastAt })).sort(byName), listed.sort(byName))
        assert.deepEqual(found.sort(byName).map(({ cron, everyMs }) => cron ?? everyMs), ['0 3 * * *', 2 * HOUR_MS, HOUR_MS, HOUR_MS])
        assert.equal(folder.counts().types, 1) // that of the job that was pushed by hand
      })
      await close()
    })

    it('knows the last time of a schedule, and that times until the end of its job are none', async () => {
      let now = 10.5 * HOUR_MS
      const environment = { files, lock, now: () => now }
      const schedules = { often: { everyMs: HOUR_MS } }
      const once = async () => {
        queue = await durable((payload, done) => { done() }, { path, ack: 'os', schedules }, environment)
        await queue.onIdle()
        await close()
      }
      await once()
      now = 13.5 * HOUR_MS
      await once()
      await read(folder => {
        assert.deepEqual(folder.schedules().map(({ nextAt, lastAt }) => [nextAt, lastAt]), [[14 * HOUR_MS, 13 * HOUR_MS]])
      }, { now })
    })

    it('takes the record of a schedule that says most, and begins with now where none says anything', () => {
      const records = [
        { note: { name: 'new', everyMs: 10 } },
        { schedule: { name: 'far', time: 50 } }, { schedule: { name: 'far', time: 30 } }, { note: { name: 'far', everyMs: 10, overlap: true } },
        { schedule: { name: 'anew', time: 90 } }, { schedule: { name: 'anew', time: -20 } }, { note: { name: 'anew', everyMs: 10 } },
        { schedule: { name: 'forgotten', time: 5 } },
        { schedule: { name: 'anew', time: 70 }, byHand: true },
        {},
        { schedule: { name: 'slow', time: 50 } }, { note: { name: 'slow', everyMs: 10, overlap: false } },
        { schedule: { name: 'both', time: 50 } }, { note: { name: 'both', everyMs: 10, overlap: true } }
      ]
      const ended = { phase: OVER, dueAt: 75 }
      const folder = {
        now: 42,
        seqs: () => records.keys(),
        survey: { find: seq => ({ type: 'x', hasOptions: seq !== 9 }) },
        read: seq => ({ options: { ...records[seq], note: records[seq].note && JSON.stringify(records[seq].note) } }),
        reading: { live: { states: new Map([[10, ended], [12, ended]]) } }
      }
      const { schedulesIn } = require('../../lib/durable/visit/schedule-notes')
      assert.deepEqual(schedulesIn(folder).map(({ name, nextAt, lastAt }) => [name, nextAt, lastAt]), [
        ['new', 50, undefined], ['far', 60, 50], ['anew', 30, undefined], ['slow', 80, 50], ['both', 60, 50]
      ])
    })

    it('has no next time of an expression that cannot be read, or has none', async () => {
      await openPaused({ schedules: { never: { cron: '0 3 * * *' } } })
      await queue.flush()
      await read(folder => {
        const { Calendars } = require('../../lib/job/schedule-times')
        const { of } = Calendars.prototype
        Calendars.prototype.of = () => { throw new Error('no croner') }
        try {
          assert.equal(folder.schedules()[0].nextAt, undefined)
          Calendars.prototype.of = () => ({ after: () => Infinity })
          assert.equal(folder.schedules()[0].nextAt, undefined)
        } finally {
          Calendars.prototype.of = of
        }
      })
    })

    it('fails where a record cannot be read any more', async () => {
      await openPaused()
      await queue.push('x'.repeat(70000))
      await close()
      await read(folder => {
        const { readSync } = fs
        fs.readSync = () => { throw Object.assign(new Error('bad sector'), { code: 'EIO' }) }
        try {
          assert.throws(() => [...folder.jobs()], { code: 'FAIRLANE_ERR_IO' })
          fs.readSync = (fd, buffer, offset, length) => length
          assert.throws(() => [...folder.jobs()], { code: 'FAIRLANE_ERR_CORRUPT' })
        } finally {
          fs.readSync = readSync
        }
      })
    })

    it('knows how many payloads a queue of bytes has', async () => {
      const bytes = await PersistentQueue.open(path)
      await bytes.push([Buffer.from('a'), Buffer.from('b')])
      await bytes.close()
      await read((folder, { kind }) => assert.deepEqual([kind, folder.entriesCount], ['bytes', 2]))
    })
  })

  describe('is opened by who runs nothing, and', function () {
    const visit = async options => (queue = await openFolder(path, options))

    async function left (use, options) {
      await open(() => {}, options)
      queue.pause()
      await use()
      await close()
    }

    it('has nobody else open it meanwhile', async () => {
      await left(() => queue.push(1))
      await visit()
      await assert.rejects(durable(() => {}, { path }), { code: 'FAIRLANE_ERR_LOCKED', pid: process.pid })
      await assert.rejects(openFolder(path), { code: 'FAIRLANE_ERR_LOCKED' })
    })

    it('makes no folder, and takes none that is no queue', async () => {
      await assert.rejects(openFolder(path), { code: 'FAIRLANE_ERR_ARGUMENT' })
      assert(!fs.existsSync(path))
    })

    it('starts nothing, and cannot be told to', async () => {
      await left(() => queue.pushType('a', 1))
      await visit()
      assert.deepEqual([queue.paused, queue.waiting], [true, 1])
      assert.throws(() => queue.resume(), { code: 'FAIRLANE_ERR_RUNNER' })
      queue.concurrency = 5
      assert(queue.paused)
      queue.pause()
      await queue.pushType('a', 2).then(() => queue.cancel(2))
      assert.deepEqual([queue.running, queue.waiting], [0, 1])
    })

    it('decides nothing: neither that a job has had all its attempts, nor that it has waited for too long', async () => {
      const gate = gates()
      queue = await durable(gate.runner, { path, ack: 'os', concurrency: 1, maxAttempts: 1 }, { files, lock, now: () => Date.now() - HOUR_MS })
      await queue.pushType('a', 'ran', { maxAttempts: 1 })
      await gate.until(1)
      await queue.pushType('a', 'late', { maxWaitMs: HOUR_MS / 2 })
      await queue.pushType('b', 'delayed', { delayMs: 2 * HOUR_MS, maxWaitMs: HOUR_MS / 2 })
      const copy = join(base, 'copy')
      fs.cpSync(path, copy, { recursive: true, filter: file => !file.includes('lock-') })
      await close()
      path = copy
      await visit({ scheduler: 'equal', observers: new Metrics() })
      assert.deepEqual(await queue.counts(), { waiting: 3, delayed: 1, running: 0, dead: 0, types: 2 })
      assert.deepEqual(queue.stats().cancelled, 0)
      await close()
      await read(folder => assert.deepEqual([...folder.jobs()].map(({ state, attempts }) => [state, attempts]), [['waiting', 1], ['waiting', 0], ['delayed', 0]]))
    })

    it('puts jobs that are tried later where they were', async () => {
      await open(fail, { backoffMs: HOUR_MS })
      await queue.push(1)
      for (let isOver = false; !isOver; await new Promise(setImmediate)) isOver = (await queue.counts()).delayed === 1
      await close()
      await visit()
      assert.equal((await queue.counts()).delayed, 1)
    })

    it('has dead letters queued again and deleted, as they would be by the service', async () => {
      await open(fail, { maxAttempts: 1 })
      for (const payload of [1, 2, 3]) await queue.pushType('a', payload, { key: String(payload), keyUntil: 'settled' })
      await queue.onIdle()
      queue.pause()
      await queue.pushType('a', 'has the key', { key: '3', keyUntil: 'settled' })
      await close()
      await visit()
      const ids = (await queue.deadLetters()).map(({ id }) => id)
      assert.deepEqual([await queue.retryDead(ids[0]), await queue.deleteDead(ids[1]), await queue.retryDead(ids[2])], [true, true, false])
      await close()
      const ran = []
      await open(async payload => { ran.push(payload) })
      await queue.onIdle()
      assert.deepEqual(ran, [1, 'has the key'])
      assert.deepEqual((await queue.deadLetters()).map(({ payload }) => payload), [3])
    })

    it('pushes nothing for schedules, and keeps them', async () => {
      const schedules = { often: { everyMs: 1, catchUp: 'last' }, nightly: { cron: '0 3 * * *' } }
      await left(() => queue.flush(), { schedules, ack: 'disk' })
      const before = await read(folder => [...folder.jobs()].length)
      await visit()
      assert.deepEqual((await queue.listSchedules()).map(({ name, nextAt }) => [name, nextAt]).sort(), [['nightly', undefined], ['often', undefined]])
      await close()
      assert.equal(await read(folder => [...folder.jobs()].length), before)
      assert.deepEqual(await read(folder => folder.schedules().map(({ name }) => name).sort()), ['nightly', 'often'])
    })

    it('leaves alone what schedules need that is not here, and schedules of which only their progress is known', async () => {
      await left(() => queue.flush(), { schedules: { nightly: { cron: '0 3 * * *' } } })
      const { Schedules } = require('../../lib/durable/schedule/schedules')
      const { isKnown } = Schedules.prototype
      for (const answer of [() => false, () => { throw Object.assign(new Error('no croner'), { code: 'FAIRLANE_ERR_PEER' }) }]) {
        Schedules.prototype.isKnown = answer
        try {
          await visit()
          assert.deepEqual(await queue.listSchedules(), [])
          await close()
        } finally {
          Schedules.prototype.isKnown = isKnown
        }
      }
      assert.equal(await read(folder => folder.schedules().length), 1)
    })

    it('pushes the job of a schedule when it is told to, whoever encodes its payload', async () => {
      const serialize = { encode: text => Buffer.from(text), decode: String }
      await left(() => queue.flush(), { serialize, schedules: { often: { everyMs: HOUR_MS, payload: 'abc' } } })
      await visit()
      await queue.runSchedule('often')
      await close()
      await read(folder => assert.deepEqual([...folder.jobs()].map(({ payload }) => String(payload)), ['abc']))
    })

    for (const serialize of ['json', 'structured', { encode: text => Buffer.from(text), decode: String }]) {
      const name = typeof serialize === 'string' ? serialize : 'custom'
      it(`leaves the mark of ${name} as it is, and marks no folder that had none`, async () => {
        await left(() => queue.push('abc'), { serialize })
        await visit()
        const [{ payload }] = queue.jobs()
        assert.equal(String(payload), 'abc')
        await close()
        const mark = join(path, `serializer-${name}`)
        assert(fs.existsSync(mark))
        fs.rmSync(mark)
        await visit()
        assert(queue.jobs().next().value.payload instanceof Buffer)
        await close()
        assert.deepEqual(fs.readdirSync(path).filter(name => name.startsWith('serializer')), [])
      })
    }
  })
})

function byName (a, b) {
  return a.name < b.name ? -1 : 1
}
