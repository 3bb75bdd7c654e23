'use strict'

const assert = require('node:assert/strict')
const { Ledger } = require('../../lib/ledger/ledger')
const { ROWS, isLive } = require('../../lib/ledger/segment')
const { fakeClock } = require('../../lib/testing')

/** A ledger with a clock that stands still. */
function ledgerOf ({ keep = 0, keepMs = Infinity } = {}, clock = fakeClock()) {
  const ledger = new Ledger({ keep, keepMs, isExact: false })
  ledger.begin(clock)
  return ledger
}

/** Jobs come, start and end, but for those of which `isStuck(id)` is true. */
function pass (ledger, count, isStuck = () => false) {
  for (let i = 0; i < count; i++) {
    const id = ledger.nextId
    ledger.accepted(id, 'a')
    if (isStuck(id)) continue
    ledger.started(id)
    ledger.ended(id, false)
  }
}

function segmentCount ({ segments }) {
  return segments.filter(segment => segment !== undefined).length
}

function knows (ledger, id) {
  return ledger.find(id) !== undefined
}

function isStray (ledger, id) {
  return ledger.find(id) === ledger.strays
}

function liveStrays ({ strays }) {
  return [...strays.rows].filter(([, row]) => isLive(strays.stateOf(row))).map(([id]) => id)
}

function endedCount ({ endedCount, strays }) {
  return endedCount + strays.endedCount
}

describe('a ledger keeps', function () {
  it('as many ended jobs as it is to, and not many more', function () {
    const keep = 3 * ROWS
    const ledger = ledgerOf({ keep })
    pass(ledger, 2 * keep)
    for (let i = 0; i < 2 * ROWS; i += 100) {
      pass(ledger, 100)
      assert(ledger.endedCount >= keep && ledger.endedCount <= keep + 2 * ROWS, `${ledger.endedCount} ended`)
      assert(segmentCount(ledger) <= 5)
    }
  })

  it('all live jobs, though one of a hundred is stuck, and no more segments for it', function () {
    const keep = 5 * ROWS
    const ledger = ledgerOf({ keep })
    const isStuck = id => id % 100 === 1
    pass(ledger, 5 * keep, isStuck)
    for (let id = 1; id <= 5 * keep; id++) if (isStuck(id)) assert.equal(ledger.find(id)?.stateOf(ledger.row), 1, `job ${id}`)
    assert(segmentCount(ledger) <= keep / ROWS + 6)
    assert(endedCount(ledger) <= keep + 6 * ROWS)
    for (let id = 1; id <= 5 * keep; id += 100) ledger.cancelled(id, 'at last')
    assert.equal(ledger.segments.reduce((sum, segment) => sum + (segment?.liveCount ?? 0), 0) + ledger.strays.liveCount, 0)
    assert(endedCount(ledger) <= keep + 6 * ROWS)
  })

  it('nothing back for a stuck job in the oldest segment', function () {
    const ledger = ledgerOf()
    pass(ledger, 10 * ROWS, id => id === 5)
    assert(segmentCount(ledger) <= 2)
    assert(knows(ledger, 5))
    ledger.started(5)
    ledger.ended(5, true, new Error('late'))
    pass(ledger, 2 * ROWS)
    assert(segmentCount(ledger) <= 2)
  })

  it('a burst of live jobs in segments, and moves none of them', function () {
    const ledger = ledgerOf()
    for (let id = 1; id < 20 * ROWS; id++) ledger.accepted(id, 'a')
    assert.equal(segmentCount(ledger), 20)
    for (let id = 1; id < 20 * ROWS; id++) {
      ledger.started(id)
      ledger.ended(id, false)
      assert.equal(ledger.strays.rows.size, 0)
    }
    assert.equal(segmentCount(ledger), 1)
  })

  it('few of the jobs that were stuck and have ended: those that ended last', function () {
    const ledger = ledgerOf()
    const isStuck = id => id % 5 === 1
    pass(ledger, 2 * ROWS, isStuck)
    pass(ledger, 10 * ROWS, id => id % 50 === 1)
    assert(liveStrays(ledger).length > 500)
    for (const id of liveStrays(ledger)) ledger.cancelled(id, 'stuck')
    pass(ledger, 30 * ROWS, id => id % 50 === 1)
    for (const id of liveStrays(ledger)) ledger.cancelled(id, 'stuck')
    assert.equal(ledger.strays.rows.size, 1024)
    assert.equal(ledger.strays.endedCount, 1024)
    for (const id of [...ledger.strays.rows.keys()]) ledger.remove(id, ledger.find(id))
    assert.equal(ledger.strays.rows.size, 0)
    pass(ledger, 20 * ROWS, id => id % 50 === 1)
    for (const id of liveStrays(ledger)) ledger.ended(id, true, 'stuck')
    assert.equal(ledger.strays.failedCount, ledger.strays.rows.size)
  })

  it('dead letters as it keeps live jobs', function () {
    const ledger = ledgerOf()
    ledger.accepted(1, 'a')
    ledger.started(1)
    ledger.dead(1, 'dead')
    pass(ledger, 6 * ROWS, id => id % ROWS === 0)
    assert(isStray(ledger, 1))
    assert.equal(ledger.strays.failedCount, 1)
    const { liveCount } = ledger.strays
    ledger.buried(1)
    assert.equal(ledger.strays.endedCount, 1)
    assert.equal(ledger.strays.liveCount, liveCount - 1)
  })

  it('no segment whose newest job was accepted too long ago, unless a job of it lives', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: Infinity, keepMs: 100 }, clock)
    ledger.retention.expire()
    pass(ledger, 2 * ROWS, id => id === ROWS + 1)
    clock.advance(100)
    ledger.retention.expire()
    assert.equal(segmentCount(ledger), 1)
    assert(!knows(ledger, ROWS - 1))
    assert(knows(ledger, ROWS + 1))
    pass(ledger, 10)
    ledger.cancelled(ROWS + 1, 'no')
    clock.advance(99)
    ledger.retention.expire()
    assert(knows(ledger, ledger.lastId))
    clock.advance(1)
    ledger.retention.expire()
    assert.equal(segmentCount(ledger), 0)
    assert.equal(ledger.names.numbers.size, 0)
    pass(ledger, 1)
    assert.equal(segmentCount(ledger), 1)
  })

  it('no segments before a gap between ids, nor for more ids than are in 31 bits', function () {
    const ledger = ledgerOf({ keep: Infinity })
    ledger.accepted(5, 'a')
    ledger.accepted(2 ** 40, 'a')
    assert.equal(segmentCount(ledger), 1)
    assert(isStray(ledger, 5))
    for (let id = 2 ** 40; id < 2 ** 40 + 2 ** 30; id += 512 * ROWS) ledger.accepted(id + ROWS, 'a')
    assert(ledger.segments.length < 2 ** 17)
    for (let id = 2 ** 40; id < 2 ** 40 + 2 ** 30; id += 512 * ROWS) assert(knows(ledger, id + ROWS))
    for (const id of [1, 2 ** 39, 2 ** 40 - 2 ** 32 + 1, 2 ** 41, -1, 2 ** 53]) assert(!knows(ledger, id))
  })

  it('its segments where some between them have gone', function () {
    const ledger = ledgerOf()
    pass(ledger, 5 * ROWS, id => id === 7 || id === 3 * ROWS)
    assert.equal(ledger.segments[1], undefined)
    assert(knows(ledger, 7) && knows(ledger, 3 * ROWS) && !knows(ledger, ROWS))
    ledger.recovered(ledger.nextId + 5000 * ROWS, 'a', 5, 0)
    assert(isStray(ledger, 7) && isStray(ledger, 3 * ROWS))
    assert.equal(segmentCount(ledger), 1)
  })

  it('what it is told of jobs that it does not know to itself', function () {
    const ledger = ledgerOf()
    ledger.started(1)
    ledger.ended(1, false)
    ledger.ended(1, true, 'e')
    ledger.cancelled(1, 'e')
    ledger.undecided(1, 'e')
    ledger.due(1)
    ledger.dead(1, 'e')
    ledger.revived(1)
    ledger.buried(1)
    ledger.uncounted(1)
    ledger.unaccepted(1)
    assert.equal(endedCount(ledger), 0)
  })

  it('no record of a job that turned out to be none', function () {
    const ledger = ledgerOf({ keep: Infinity })
    ledger.accepted(1, 'a')
    ledger.unaccepted(1)
    assert(!knows(ledger, 1))
    ledger.accepted(2, 'a')
    ledger.accepted(2 ** 30, 'a')
    ledger.unaccepted(2)
    assert(!knows(ledger, 2))
    assert.deepEqual([ledger.endedCount, ledger.strays.endedCount, ledger.strays.liveCount, ledger.names.numbers.size], [0, 0, 0, 1])
  })
})
