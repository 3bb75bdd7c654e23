'use strict'

const assert = require('node:assert')
const { existsSync, mkdtempSync, readdirSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const jobs = require('../../bench/cases/durable-jobs')
const { jobQueues } = require('../../bench/durable/job-queues')
const { runJobs, createPayloads } = require('../../bench/durable/job-load')
const { packagePath, preparePeers, PINNED } = require('../../bench/durable/peers')
const { loadResults, majorsWithResults } = require('../../bench/store')
const { tablesOf } = require('../../bench/tables')
const { targetsTable } = require('../../bench/targets')

const INSTALLED = { 'better-sqlite3': { version: '12' }, plainjob: { version: '0.0.14 on better-sqlite3@12' } }
const APART = { shape: 'apart', size: 32, count: 40, burst: 10, isCold: true }
const LOADS = {
  'pushes each job alone, then runs all': { ...APART, burst: 1 },
  'pushes jobs together, then runs all': APART,
  'pushes jobs while others run': { ...APART, shape: 'beside', window: 20 },
  'pushes a job when the one before has ended': { ...APART, shape: 'beside', burst: 1, window: 1 }
}

describe('the bench of job queues on disk', () => {
  let folder

  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'fairlane-test-')) })
  afterEach(() => rmSync(folder, { recursive: true }))

  describe('a load', () => {
    for (const [name, contender] of Object.entries(jobQueues)) {
      for (const [what, load] of Object.entries(LOADS)) {
        it(`that ${what} is carried by ${name}, and measured`, async function () {
          if (contender.peer !== undefined && !existsSync(packagePath(contender.peer))) this.skip()
          const measured = await runJobs(load, contender, folder)
          const keys = load.shape === 'apart' ? ['pushCpuUs', 'pushPerSecond', 'runCpuUs', 'runPerSecond'] : ['bothCpuUs', 'bothPerSecond']
          assert.deepEqual(Object.keys(measured).sort(), keys)
          // CPU time that is too short to be seen is 0
          for (const key of keys) assert(measured[key] >= 0 && (measured[key] > 0 || key.endsWith('CpuUs')), `${key}: ${measured[key]}`)
        })
      }
    }

    for (const [what, spoilt, expected] of [
      ['ends a job that was not run', { run: job => job !== 7 }, /miscounted: job 7 was started 0 times/],
      ['runs a job twice', { extraRun: 7 }, /miscounted: job 7 was started 2 times/],
      ['tells an end twice', { extraEnd: 39 }, /miscounted: 40 jobs, 41 ended/],
      ['says that a job is not done', { counts: { done: 39, left: 1 } }, /the queue says 39 done and 1 left/],
      ['has a job too many', { counts: { done: 40, left: 1 } }, /the queue says 40 done and 1 left/],
      ['alters a payload', { alter: payload => ({ ...payload, text: 'another' }) }, /a payload that was not pushed/],
      ['makes up a payload', { alter: payload => ({ ...payload, id: 1 }) }, /a payload that was not pushed/],
      ['fails an attempt', { failure: new Error('it failed') }, /it failed/]
    ]) {
      it(`fails when a queue ${what}`, async () => {
        await assert.rejects(runJobs(APART, inMemory(spoilt), folder), expected)
        await assert.rejects(runJobs(LOADS['pushes jobs while others run'], inMemory(spoilt), folder), expected)
      })
    }

    it('is carried by a queue that makes no mistake', async () => {
      await runJobs(APART, inMemory({}), folder)
    })

    it('begins no burst beside others before at most so many jobs have not ended', async () => {
      const unended = []
      await runJobs({ ...LOADS['pushes jobs while others run'], count: 100 }, inMemory({ whenPushed: count => unended.push(count) }), folder)
      assert(Math.max(...unended) <= 20, unended.join())
      assert(unended.length === 10)
    })

    it('is warmed up in folders of their own, and measured in another', async () => {
      const folders = []
      const contender = inMemory({})
      const open = (path, options) => { folders.push(path); return contender.open(path, options) }
      await runJobs({ ...APART, isCold: false }, { open }, folder)
      assert(folders.length > 1)
      assert.equal(new Set(folders).size, folders.length)
      assert.equal(folders.at(-1), join(folder, 'measured'))
    })

    for (const size of [16, 26, 256, 1024]) {
      it(`has payloads of ${size} bytes as JSON, no two of them the same`, () => {
        const texts = createPayloads({ size, count: 300 }).map(payload => JSON.stringify(payload))
        for (const text of texts) assert.equal(text.length, size)
        assert.equal(new Set(texts).size, 300)
      })
    }
  })

  describe('a queue of jobs that wait', () => {
    const cell = jobs.cells({ quick: true }).find(({ kind }) => kind === 'waiting')
    const { gc } = globalThis

    // as --expose-gc, with which its processes run
    before(() => {
      setFlagsFromString('--expose-gc')
      globalThis.gc = runInNewContext('gc')
    })
    after(() => {
      if (gc === undefined) delete globalThis.gc
      setFlagsFromString('--no-expose-gc')
    })

    for (const name of cell.contenders.map(({ name }) => name)) {
      it(`is filled in a process of its own, and opened: ${name}`, async () => {
        const { openSeconds, bytesPerJob } = await jobs.measure({ ...cell, count: 1500, folder }, name)
        assert(openSeconds > 0)
        assert.notEqual(bytesPerJob, undefined)
        assert.deepEqual(readdirSync(folder), [])
      })
    }
  })

  describe('its peers', () => {
    const options = { node: '/there/node', environment: { node: '24.0.0', major: 24 }, names: jobs.peers }
    const isAsked = args => Object.keys(PINNED).find(name => args.join(' ').includes(join(name, 'node_modules', name)))
    const found = (command, args) => ({ status: 0, stdout: `${PINNED[isAsked(args)]}\n`, stderr: '' })

    it('are those that it needs, and no others', () => {
      const peers = preparePeers(options, () => {}, found)
      assert.deepEqual(peers, {
        'better-sqlite3': { version: PINNED['better-sqlite3'] },
        plainjob: { version: `${PINNED.plainjob} on better-sqlite3@${PINNED['better-sqlite3']}` }
      })
    })

    it('are plainjob with its driver, also where only plainjob is asked for', () => {
      const peers = preparePeers({ ...options, names: ['plainjob'] }, () => {}, found)
      assert.deepEqual(Object.keys(peers), ['plainjob'])
      assert.match(peers.plainjob.version, /on better-sqlite3@/)
    })

    it('are skipped where better-sqlite3 is not to be had, and it is said why; plainjob is not installed then', () => {
      const installs = []
      const peers = preparePeers(options, () => {}, (command, args) => {
        if (args.includes('install')) installs.push(args.at(-1))
        return { status: args.includes('install') ? 0 : 1, stdout: '', stderr: 'another ABI' }
      })
      assert.deepEqual(installs, [`better-sqlite3@${PINNED['better-sqlite3']}`])
      assert.equal(peers.plainjob.cannot, 'skipped: it needs better-sqlite3 (skipped: what was installed does not run on Node 24.0.0)')
    })

    it('are skipped where plainjob can not be installed', () => {
      const peers = preparePeers(options, () => {}, (command, args) => (
        isAsked(args) === 'better-sqlite3' ? found(command, args) : { status: 1, stdout: '', stderr: 'no registry' }
      ))
      assert.equal(peers.plainjob.cannot, 'skipped: it could not be installed')
      assert.equal(peers['better-sqlite3'].cannot, undefined)
    })

    it('are in no cell unless they were asked for', () => {
      const names = jobs.cells({ quick: true }).flatMap(({ contenders }) => contenders.map(({ name }) => name))
      const ours = Object.keys(jobQueues).filter(name => jobQueues[name].peer === undefined)
      assert.deepEqual([...new Set(names)], ours.sort((a, b) => names.indexOf(a) - names.indexOf(b)))
    })

    it('that are skipped are in their cells with the reason, and without a note', () => {
      const [{ contenders }] = jobs.cells({ quick: true, peers: { ...INSTALLED, plainjob: { cannot: 'skipped: no' } } })
      const { cannot, note } = contenders.find(({ name }) => name === 'plainjob')
      assert.equal(cannot, 'skipped: no')
      assert.equal(note, undefined)
    })
  })

  it('tries all cells when it is to be quick, with whole bursts', () => {
    const [whole, quick] = [false, true].map(quick => jobs.cells({ quick, peers: INSTALLED }))
    assert.deepEqual(quick.map(({ id }) => id), whole.map(({ id }) => id))
    assert.equal(new Set(whole.map(({ id }) => id)).size, whole.length)
    for (const { load } of [...whole, ...quick]) if (load !== undefined) assert.equal(load.count % load.burst, 0)
  })

  const reports = majorsWithResults().map(major => loadResults(major)['durable-jobs']).filter(report => report !== undefined)

  it('has results', () => {
    assert.notEqual(reports.length, 0)
  })

  for (const report of reports) {
    describe(`its results on Node ${report.environment.major}`, () => {
      it('are those of the cells that there are', () => {
        assert.deepEqual(report.cells.map(({ id }) => id), jobs.cells({ quick: false, peers: INSTALLED }).map(({ id }) => id))
      })

      it('say of each peer which version it was or why it was skipped', () => {
        for (const { contenders } of report.cells) {
          for (const [name, { cannot }] of Object.entries(contenders)) {
            if (jobQueues[name].isBare) continue
            assert(cannot === undefined ? report.versions[name] : cannot.startsWith('skipped: '), name)
          }
        }
      })

      it('are ratios to ours, also where all wait for the disk', () => {
        for (const { header, rows } of tablesOf(report).filter(({ header }) => header.includes('bare loop') || header.includes('bare loop, synced'))) {
          assert(header[1].startsWith('fairlane'))
          for (const [, own, ...others] of rows) {
            assert(!own.includes('×'), own)
            for (const text of others) assert.match(text, /×$/)
          }
        }
      })

      it('are held against the targets, those without peers against none', () => {
        const rows = targetsTable({ 'durable-jobs': report }).rows
        assert.equal(rows.length, 7)
        assert(rows.every(([, , measured]) => /^[\d,.]+/.test(measured)), JSON.stringify(rows))

        const alone = { ...report, cells: report.cells.map(cell => ({ ...cell, contenders: withoutPeers(cell.contenders) })) }
        assert.deepEqual(targetsTable({ 'durable-jobs': alone }).rows, [])
      })
    })
  }
})

function withoutPeers (contenders) {
  return Object.fromEntries(Object.entries(contenders).filter(([name]) => jobQueues[name].peer === undefined))
}

/** A queue in memory that makes one mistake, perhaps. Jobs are told by the order in which they are pushed. */
function inMemory ({ run = () => true, extraRun, extraEnd, alter = payload => payload, failure, counts, whenPushed = () => {} }) {
  return {
    open (folder, { runner, whenDone, whenFailed }) {
      const waiting = []
      let pushed = 0
      let done = 0
      let isStarted = false
      return {
        push: payload => pushAll([payload]),
        pushAll,
        start () {
          isStarted = true
          setImmediate(runAll)
        },
        written () {},
        counts: () => counts ?? { done, left: waiting.length },
        close () {}
      }

      function pushAll (payloads) {
        for (const payload of payloads) waiting.push({ number: pushed++, payload })
        whenPushed(pushed - done)
        if (isStarted) setImmediate(runAll)
      }

      async function runAll () {
        if (failure !== undefined) whenFailed(failure)
        for (const { number, payload } of waiting.splice(0)) {
          if (run(number)) await runner(alter(payload))
          if (number === extraRun) await runner(payload)
          done++
          whenDone()
          if (number === extraEnd) whenDone()
        }
      }
    }
  }
}
