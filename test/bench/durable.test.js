'use strict'

const assert = require('node:assert')
const { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const durable = require('../../bench/cases/durable')
const { runLoad, createPayload, isPayload } = require('../../bench/durable/load')
const { preparePeers, PINNED } = require('../../bench/durable/peers')
const { createPlace, inFolderOfItsOwn } = require('../../bench/durable/place')
const { queues } = require('../../bench/durable/queues')
const { loadResults } = require('../../bench/store')
const { tablesOf } = require('../../bench/tables')
const { targetsTable } = require('../../bench/targets')
const { root } = require('../support/child')

const INSTALLED = { rocksq: { version: '0.3.0' }, pqueue: { version: 'v0.2.3' }, 'better-sqlite3': { version: '12' }, lmdb: { version: '3' }, 'node:sqlite': { version: '3' } }

describe('the bench of durable queues', () => {
  let folder

  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'fairlane-test-')) })
  afterEach(() => rmSync(folder, { recursive: true }))

  describe('a load', () => {
    const SHAPES = [
      ['all', 10, ['popNs', 'pushNs']], ['turns', 10, ['turnNs']], ['parallel', 10, ['turnNs']],
      ['window', 1, ['pushNs']], ['window', 10, ['pushNs']]
    ]

    for (const name of ['fairlane', 'fairlane, disk']) {
      for (const [shape, batch, keys] of SHAPES) {
        it(`of shape ${shape}, in batches of ${batch}, is carried by ${name}, and measured`, async () => {
          const load = { shape, size: 32, count: 200, batch, repetitions: 2, window: 50 }
          const times = await runLoad(load, queues[name], folder)
          assert.deepEqual(Object.keys(times).sort(), keys)
          for (const key of keys) assert(times[key] > 0 && times[key] < 1e9, `${key}: ${times[key]}`)
        })
      }
    }

    it('is carried by what only writes and syncs, too', async () => {
      const { pushNs } = await runLoad({ shape: 'all', size: 32, count: 4, batch: 2 }, queues['write and fdatasync'], folder)
      assert(pushNs > 0)
    })

    for (const [what, spoil, expected] of [
      ['loses a payload', held => held.splice(7, 1), /miscounted|not what was pushed/],
      ['has one twice', held => held.splice(7, 0, held[7]), /not what was pushed/],
      ['has one more at the end', held => held.push(held[0]), /more payloads than were pushed/],
      ['swaps two', held => held.splice(7, 2, held[8], held[7]), /not what was pushed/],
      ['cuts one', held => held.splice(7, 1, held[7].subarray(1)), /not what was pushed/],
      ['alters the end of one', held => held.splice(7, 1, Buffer.from(held[7]).fill(255, 31)), /not what was pushed/]
    ]) {
      it(`fails when a queue ${what}`, async () => {
        await assert.rejects(runLoad({ shape: 'all', size: 32, count: 20, batch: 10 }, inMemory(spoil), folder), expected)
      })
    }

    it('has payloads that are told from those beside them', () => {
      const payload = createPayload(700, 16)
      assert.equal(payload.length, 16)
      assert(isPayload(payload, 700, 16))
      assert(!isPayload(payload, 701, 16))
      assert(!isPayload(payload, 700, 17))
    })
  })

  describe('recovery', () => {
    const cells = durable.cells({ quick: true }).filter(({ kind }) => kind === 'recovery')

    for (const cell of cells) {
      it(`opens what a process left behind: ${cell.end}`, async () => {
        const { openSeconds } = await durable.measure({ ...cell, count: 1500, folder }, 'fairlane')
        assert(openSeconds > 0)
        assert.deepEqual(readdirSync(folder), [])
      })
    }

    it('is measured after a close and after a kill', () => {
      assert.deepEqual(cells.map(({ end }) => end), ['close', 'kill'])
    })
  })

  describe('its folders', () => {
    it('are on a named file system', () => {
      const place = createPlace(folder)
      assert(existsSync(place.folder))
      assert.match(place.fileSystem, /./)
    })

    it('are removed when a measurement fails', async () => {
      const failure = new Error('it failed')
      await assert.rejects(inFolderOfItsOwn(folder, () => Promise.reject(failure)), failure)
      assert.deepEqual(readdirSync(folder), [])
    })
  })

  describe('its peers', () => {
    const options = { node: '/there/node', environment: { node: '20.19.0', major: 20 }, names: durable.peers }
    const missing = () => ({ status: null, stdout: '', stderr: '', error: Object.assign(new Error('spawn: ENOENT'), { code: 'ENOENT' }) })

    it('are used as they are when the right versions are there', () => {
      const said = []
      const peers = preparePeers(options, text => said.push(text), (command, args) => {
        const name = Object.keys(PINNED).find(name => args.join(' ').includes(name))
        assert(!args.includes('install') && !args.includes('build'))
        return { status: 0, stdout: `${PINNED[name ?? 'pqueue']}\n`, stderr: '' }
      })
      assert.deepEqual(said, [])
      assert.deepEqual(peers.rocksq, { version: PINNED.rocksq })
      assert.deepEqual(peers.lmdb, { version: PINNED.lmdb })
      assert.deepEqual(peers.pqueue, { version: PINNED.pqueue })
    })

    it('are skipped one by one, and it is said why', () => {
      const peers = preparePeers(options, () => {}, missing)
      assert.deepEqual(Object.keys(peers), Object.keys(INSTALLED))
      assert.equal(peers.rocksq.cannot, 'skipped: there is no python3')
      assert.equal(peers.pqueue.cannot, 'skipped: there is no go')
      assert.equal(peers['node:sqlite'].cannot, 'skipped: Node 20.19.0 has no node:sqlite')
      assert.equal(peers.lmdb.cannot, 'skipped: it could not be installed')
    })

    it('are installed in their pinned versions, and skipped if that fails, which is told in full to who runs it', () => {
      const installs = []
      const said = []
      const peers = preparePeers(options, text => said.push(text), (command, args) => {
        if (command === 'go' && args[0] === 'build') installs.push('pqueue')
        else if (!args.includes('install')) return ['python3', 'go'].includes(command) ? { status: 0, stdout: '' } : missing()
        else installs.push(args.at(-1))
        return { status: 1, stdout: '', stderr: 'no compiler' }
      })
      assert.deepEqual(installs, [`rocksq==${PINNED.rocksq}`, 'pqueue', `better-sqlite3@${PINNED['better-sqlite3']}`, `lmdb@${PINNED.lmdb}`])
      assert.equal(peers.rocksq.cannot, 'skipped: it could not be installed')
      assert.equal(peers.pqueue.cannot, 'skipped: it could not be built')
      assert.deepEqual(said.filter(text => text === 'no compiler').length, 4)
    })

    it('are skipped if what was installed does not run', () => {
      const peers = preparePeers(options, () => {}, (command, args) => {
        return args.includes('install') || args.includes('venv') || ['python3', 'go'].includes(command) ? { status: 0, stdout: '' } : { status: 1, stdout: '', stderr: 'an older ABI' }
      })
      assert.equal(peers.rocksq.cannot, 'skipped: it does not run')
      assert.equal(peers.pqueue.cannot, 'skipped: it does not run')
      assert.equal(peers.lmdb.cannot, 'skipped: what was installed does not run on Node 20.19.0')
    })

    it('have their versions said in one place: that of pqueue is the one its program is built with', () => {
      const source = readFileSync(join(root, 'bench/durable/pqueue/go.mod'), 'utf8')
      assert(source.includes(`require github.com/linxGnu/pqueue ${PINNED.pqueue}\n`))
    })

    it('are in no cell unless they were asked for', () => {
      const names = durable.cells({ quick: true }).flatMap(({ contenders }) => contenders.map(({ name }) => name))
      assert.deepEqual([...new Set(names)], ['fairlane', 'write', 'fairlane, disk', 'write and fdatasync'])
    })

    it('that are skipped are in their cells with the reason, and without a note', () => {
      const peers = { ...INSTALLED, rocksq: { cannot: 'skipped: no' } }
      const [{ contenders }] = durable.cells({ quick: true, peers })
      const { cannot, note } = contenders.find(({ name }) => name === 'RocksQ')
      assert.equal(cannot, 'skipped: no')
      assert.equal(note, undefined)
    })
  })

  describe('the results', () => {
    const report = loadResults(20).durable

    it('are those of the cells that there are', () => {
      assert.deepEqual(report.cells.map(({ id }) => id), durable.cells({ quick: false, peers: INSTALLED }).map(({ id }) => id))
    })

    it('say of each peer which version it was or why it was skipped', () => {
      for (const [name, { cannot }] of Object.entries(report.cells[0].contenders)) {
        if (queues[name].isBare) continue
        assert(cannot === undefined ? report.versions[name] : cannot.startsWith('skipped: '), name)
      }
    })

    it('show who waits for the disk where some do not, and each note once', () => {
      const tables = tablesOf(report)
      const mixed = tables.filter(({ header }) => header.includes('fairlane') && header.includes('fairlane, disk'))
      assert(mixed.length > 0)
      for (const { header, rows } of mixed) {
        const [[title, ...values]] = rows
        assert.equal(title, 'waits for the disk')
        assert.equal(values[header.indexOf('fairlane, disk') - 1], 'yes')
        assert.equal(values[header.indexOf('fairlane') - 1], 'no')
      }
      const notes = tables.flatMap(({ notes }) => notes)
      assert.equal(new Set(notes).size, notes.length)
    })

    it('are held against the targets, without peers only those that need none', () => {
      const rows = targetsTable({ durable: report }).rows
      assert(rows.some(([what]) => what.includes('RocksQ')))
      assert(rows.every(([, , measured]) => /^[\d,.]+/.test(measured)), JSON.stringify(rows))

      const alone = { ...report, cells: report.cells.map(cell => ({ ...cell, contenders: onlyOurs(cell.contenders) })) }
      assert.deepEqual(targetsTable({ durable: alone }).rows.map(([what]) => what), rows.map(([what]) => what).slice(-2))
    })
  })
})

function onlyOurs (contenders) {
  return Object.fromEntries(Object.entries(contenders).filter(([name]) => name.startsWith('fairlane')))
}

/** A queue in memory whose payloads are spoilt once, when the first one is asked for. */
function inMemory (spoil) {
  return {
    open () {
      const held = []
      let isSpoilt = false
      return {
        push: payloads => held.push(...payloads),
        pop (max) {
          if (!isSpoilt && held.length >= 10) {
            spoil(held)
            isSpoilt = true
          }
          return held.splice(0, max)
        },
        close () {}
      }
    }
  }
}
