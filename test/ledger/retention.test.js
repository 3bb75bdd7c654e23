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

  it('no job that has ended once all of its segment were accepted too long ago, whether or not others of it live', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: Infinity, keepMs: 100 }, clock)
    ledger.retention.expire()
    pass(ledger, 2 * ROWS, id => id === ROWS + 1 || id === 2 * ROWS - 1)
    clock.advance(99)
    ledger.retention.expire()
    assert(knows(ledger, 1) && knows(ledger, ROWS + 2))
    clock.advance(1)
    ledger.retention.expire()
    assert.equal(endedCount(ledger), 0)
    assert(knows(ledger, ROWS + 1) && knows(ledger, 2 * ROWS - 1))
    pass(ledger, 10)
    ledger.cancelled(ROWS + 1, 'no')
    ledger.cancelled(2 * ROWS - 1, 'no')
    clock.advance(99)
    ledger.retention.expire()
    assert.equal(endedCount(ledger), 10)
    assert(!knows(ledger, ROWS + 1) && !knows(ledger, 2 * ROWS - 1) && knows(ledger, ledger.lastId))
    clock.advance(1)
    ledger.retention.expire()
    assert.equal(segmentCount(ledger), 0)
    assert.equal(ledger.names.numbers.size, 0)
    pass(ledger, 1)
    assert.equal(segmentCount(ledger), 1)
  })

  it('neighbours of a job that lives in the last segment no longer than others, and their texts neither', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: Infinity, keepMs: 100 }, clock)
    pass(ledger, 5000, id => id === 7)
    ledger.accepted(5001, 'b')
    ledger.failed(5001, 'secret')
    clock.advance(100)
    ledger.retention.expire()
    assert.deepEqual([ledger.tail.count, ledger.tail.endedCount, ledger.tail.failedCount, ledger.names.numbers.size], [1, 0, 0, 1])
    assert.deepEqual(Object.values(ledger.tail.errors), [])
    pass(ledger, 1)
    assert(knows(ledger, 7) && knows(ledger, 5002))
    ledger.cancelled(7, 'no')
    assert(knows(ledger, 7))
    clock.advance(100)
    ledger.retention.expire()
    assert.deepEqual([segmentCount(ledger), ledger.names.numbers.size], [0, 0])
  })

  it('no neighbours of many that live, and lets go of them without being asked, of few segments at a time', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: Infinity, keepMs: 100 }, clock)
    const isStuck = id => id % 4 === 0 // too many to be strays
    pass(ledger, 20 * ROWS, isStuck)
    clock.advance(100)
    pass(ledger, ROWS)
    assert(knows(ledger, 20 * ROWS - 2))
    assert(!knows(ledger, 1) && !knows(ledger, 8 * ROWS - 2))
    pass(ledger, 2 * ROWS)
    assert(!knows(ledger, 20 * ROWS - 2))
    assert.equal(ledger.strays.rows.size, 0)
    for (let id = 4; id <= 20 * ROWS; id += 4) assert(knows(ledger, id))
  })

  it('no stray that was accepted too long ago and has ended, and the others', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: 0, keepMs: 100 }, clock)
    const live = id => id % ROWS === 5
    pass(ledger, 6 * ROWS, live)
    clock.advance(50)
    pass(ledger, 6 * ROWS, live)
    const strays = liveStrays(ledger)
    assert(strays.length > 7)
    for (const id of strays) ledger.cancelled(id, 'no')
    const isKnown = () => strays.filter(id => knows(ledger, id))
    ledger.retention.expire()
    assert.deepEqual(isKnown(), strays)
    clock.advance(50)
    ledger.retention.expire()
    assert.deepEqual(isKnown(), strays.filter(id => id > 6 * ROWS))
    assert.equal(ledger.strays.endedCount, isKnown().length)
    clock.advance(49)
    ledger.retention.expire()
    assert.equal(isKnown().length, ledger.strays.endedCount)
    assert(isKnown().length > 0)
    clock.advance(1)
    ledger.retention.expire()
    assert.deepEqual(isKnown(), [])
    assert.equal(ledger.strays.endedCount, 0)
  })

  it('a job that was revived for as long as if it had been accepted then', function () {
    const clock = fakeClock()
    const ledger = ledgerOf({ keep: Infinity, keepMs: 100 }, clock)
    const dead = [1, ROWS + 1, 2 * ROWS + 1, 3 * ROWS + 1, 4 * ROWS + 1, 5 * ROWS + 1]
    for (let i = 0; i < 6 * ROWS; i++) {
      const id = ledger.nextId
      ledger.accepted(id, 'a')
      ledger.started(id)
      if (dead.includes(id)) ledger.dead(id, 'dead')
      else ledger.ended(id, false)
    }
    pass(ledger, 10)
    clock.advance(100)
    for (const id of dead) {
      ledger.revived(id)
      ledger.started(id)
      ledger.ended(id, false)
    }
    clock.advance(99)
    ledger.retention.expire()
    ledger.retention.expire()
    assert.deepEqual(dead.filter(id => knows(ledger, id)), dead)
    assert.equal(endedCount(ledger), dead.length)
    clock.advance(1)
    ledger.retention.expire()
    assert.equal(endedCount(ledger), 0)
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
