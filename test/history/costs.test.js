'use strict'

const assert = require('node:assert/strict')
const { readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { deserialize, serialize } = require('node:v8')
const { crc32 } = require('node:zlib')
const fairlane = require('../..')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { Ledger } = require('../../lib/ledger/ledger')
const { fakeClock } = require('../../lib/testing')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { turns } = require('../support/turns')

const LIMITED = { scheduler: 'equal', ratePerType: { limit: 1000, intervalMs: 1000000, of: 'cost' } }

describe('a history of a queue that counts costs', function () {
  let folder
  beforeEach(() => { folder = temporaryFolder() })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('has what each job was charged in all of its attempts, as corrected', async function () {
    const history = new History()
    const gate = gates()
    const queue = fairlane(gate.runner, { ...LIMITED, maxAttempts: 2, backoffMs: 0, observers: history })
    queue.add('a', { type: 'a', cost: 5 }).catch(() => {})
    queue.pushType('b', 'b')
    assert.equal('cost' in history.get(1), false)
    await gate.until(2)
    gate.started[0].context.spent(3)
    gate.started[1].context.spent(0)
    gate.open.shift().done(new Error('again'))
    await gate.until(3)
    gate.started[2].context.spent(4)
    gate.release(2)
    await turns(3)
    assert.deepEqual([1, 2].map(id => history.get(id).cost), [7, 0])
    assert.deepEqual([history.sum('cost'), history.sum('cost', { type: 'a' }), history.sum('cost', { type: 'b' })], [7, 7, 0])
    assert.equal(queue.stats().spent, 7)
    assert.equal(history.remove(1), true)
    assert.equal(history.sum('cost'), 0)
  })

  it('has it without a scheduler, and by windows, too', async function () {
    for (const scheduler of [undefined, { waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 }]) {
      const history = new History()
      const queue = fairlane(async n => n, { rate: { limit: 1000, intervalMs: 1000000, of: 'cost' }, scheduler, observers: history })
      await Promise.all([3, 4].map(cost => queue.add(1, { type: 'a', cost, timeoutMs: 1000 })))
      assert.deepEqual([...history.list()].map(({ cost, state }) => [cost, state]), [[4, 'done'], [3, 'done']])
    }
  })

  it('is saved and opened with it, also of a job that has outlived those around it, and as files of before had none', async function () {
    const path = join(folder, 'history')
    const history = new History()
    const ledger = history[OBSERVE](undefined, undefined, { clock: fakeClock(), hasIds: true })
    for (const id of [1, 2, 2 ** 26]) ledger.accepted(id, 'a') // the first two are strays
    ledger.charged(2, 5)
    ledger.charged(2 ** 26, 6)
    await history.save(path)
    const costsOf = opened => [1, 2, 2 ** 26].map(id => opened.get(id).cost)
    assert.deepEqual(costsOf(await History.open(path)), [undefined, 5, 6])
    writeFileSync(path, withoutCosts(readFileSync(path)))
    assert.deepEqual(costsOf(await History.open(path)), [undefined, undefined, undefined])
  })
})

/** The same file as it was before there were costs: magic 8 | version u32 | length u32 | v8 | rows | crc u32 */
function withoutCosts (bytes) {
  const end = 16 + bytes.readUInt32LE(12)
  const meta = deserialize(bytes.subarray(16, end))
  for (const rows of [...meta.segments, meta.strays]) delete rows.costs
  const text = serialize(meta)
  const head = Buffer.from(bytes.subarray(0, 16))
  head.writeUInt32LE(text.length, 12)
  const body = Buffer.concat([head, text, bytes.subarray(end, -4)])
  const crc = Buffer.alloc(4)
  crc.writeUInt32LE(crc32(body))
  return Buffer.concat([body, crc])
}

describe('a ledger', function () {
  it('keeps the cost of a record that becomes a stray, and forgets that of one that goes', function () {
    const ledger = new Ledger({ keep: 0, keepMs: Infinity, isExact: false })
    ledger.accepted(1, 'a')
    ledger.started(1)
    ledger.charged(1, 5)
    ledger.charged(99, 5) // of which there is no record
    const rows = ledger.find(1)
    const { row } = ledger
    ledger.strays.copy(ledger.strays.open(1), rows, row)
    assert.equal(ledger.strays.costs[0], 5)
    ledger.strays.close(1, 0)
    assert.equal(ledger.strays.costs, undefined)
    rows.clearRow(row)
    assert.equal(rows.costs[row], undefined)
    rows.reset()
    assert.equal(rows.costs, undefined)
  })
})
