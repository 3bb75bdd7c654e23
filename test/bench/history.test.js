'use strict'

const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const bench = require('../../bench/cases/history')
const { preparePeers, PINNED } = require('../../bench/durable/peers')
const { bestQuarter, runFive, OPERATIONS } = require('../../bench/history/five')
const { recorders, recorded } = require('../../bench/history/recorders')

const PEERS = { 'node:sqlite': { version: '3' }, redoxql: { version: '1' } }
const OPTIONS = { node: 'node', environment: { node: '20.19.0', major: 20 }, names: ['redoxql'] }
const hasSqlite = Number(process.versions.node.split('.')[0]) >= 24

describe('the case of histories', () => {
  let folder

  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'fairlane-test-')) })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('has the same cells in a quick try, and those of peers only where these were asked for', () => {
    const ways = [{ quick: false, peers: PEERS }, { quick: true, peers: PEERS }, { quick: true }]
    const [whole, quick, without] = ways.map(options => bench.cells(options))
    assert.deepEqual(quick.map(({ id }) => id), whole.map(({ id }) => id))
    const names = cells => new Set(cells.flatMap(({ contenders }) => contenders.map(({ name }) => name)))
    assert.deepEqual([...names(whole)].filter(name => !names(without).has(name)), ['node:sqlite', 'RedoxQL'])
  })

  for (const name of Object.keys(recorders)) {
    for (const scheduler of [undefined, 'equal']) {
      it(`has a record of each job by ${name}${scheduler ? ', with a scheduler' : ''}, or fails`, async function () {
        if (name === 'node:sqlite' && !hasSqlite) this.skip()
        const recorder = recorders[name].open(folder)
        const { queue, push } = recorded(recorder, (id, done) => done(), { concurrency: 3, scheduler })
        for (let id = 1; id <= 50; id++) push(id, `type ${id % 3}`)
        await queue.onIdle()
        if (name !== 'fairlane') assert.throws(() => recorders[name].open(folder).close(50))
        recorder.close(50)
      })
    }
  }

  it('measures the five operations', async () => {
    const times = await runFive(1)
    assert.deepEqual(Object.keys(times), OPERATIONS)
    for (const ms of Object.values(times)) assert(ms > 0)
  })

  it('takes the mean of the best quarter, rounded up', () => {
    assert.equal(bestQuarter([9, 1, 3, 8, 7]), 2)
  })

  it('says what a record adds, round by round, where both were measured', () => {
    const contenders = {
      fairlane: { rounds: [{ least: 20 }, { least: 30 }] },
      history: { rounds: [{ least: 50 }, { least: 50 }, { least: 1 }] }
    }
    bench.derive(contenders)
    assert.deepEqual(contenders.history.rounds.map(({ added }) => added), [30, 20, undefined])
    const others = { history: { rounds: [{ bytes: 32 }] } }
    bench.derive(others)
    assert.deepEqual(others.history.rounds, [{ bytes: 32 }])
  })

  describe('RedoxQL', () => {
    const toldBy = failing => {
      const calls = []
      const result = preparePeers(OPTIONS, () => {}, (command, args) => {
        calls.push([command, ...args])
        const isFailing = args.includes('-c') || failing(command, args)
        return { status: isFailing ? 1 : 0, stdout: '', stderr: 'no' }
      })
      return { cannot: result.redoxql.cannot, calls }
    }

    it('is used as it is where it is built', () => {
      const { redoxql } = preparePeers(OPTIONS, () => {}, () => ({ status: 0, stdout: 'ok\n', stderr: '' }))
      assert.equal(redoxql.version, process.env.REDOX_PYTHON === undefined ? PINNED.redoxql.slice(0, 7) : 'of REDOX_PYTHON')
    })

    it('is built from its repository at the pinned commit, or it is said why not', () => {
      assert.equal(toldBy(command => command === 'cargo').cannot, 'skipped: there is no cargo')
      assert.equal(toldBy((command, args) => args.includes('fetch')).cannot, 'skipped: its repository could not be reached')
      assert.equal(toldBy((command, args) => args.includes('develop')).cannot, 'skipped: it could not be built')
      const { cannot, calls } = toldBy(() => false)
      assert.equal(cannot, 'skipped: it does not run')
      assert(calls.some(call => call.includes('fetch') && call.includes(PINNED.redoxql)))
    })
  })
})
