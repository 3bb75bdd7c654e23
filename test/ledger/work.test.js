'use strict'

// What a ledger with a million records has to look at. Work is counted, not timed.

const assert = require('node:assert/strict')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { Names } = require('../../lib/ledger/names')
const { Retention } = require('../../lib/ledger/retention')
const { Rows, ROWS } = require('../../lib/ledger/segment')
const { Strays } = require('../../lib/ledger/strays')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')

const MILLION = 1e6
const TYPES = Array.from({ length: 10 }, (_, i) => `type ${i}`)

/** How often a method is called while fn runs. */
function callsOf (prototype, method, fn) {
  const original = prototype[method]
  let count = 0
  prototype[method] = function (...args) {
    count++
    return original.apply(this, args)
  }
  try {
    fn()
  } finally {
    prototype[method] = original
  }
  return count
}

/** How many rows of segments are looked at while fn runs, each of which is read by `words`. */
function rowsRead ({ segments }, fn) {
  let count = 0
  for (const segment of segments) {
    const { words } = segment
    Object.defineProperty(segment, 'words', { get: () => { count++; return words } })
  }
  fn()
  return count
}

/** Jobs that ran one after the other. @param {(id: number) => any} errorOf what each of them fails with, if it does */
function run (ledger, count, errorOf = () => undefined) {
  const first = ledger.nextId
  for (let id = first; id < first + count; id++) {
    ledger.accepted(id, TYPES[id % 10])
    ledger.started(id)
    const error = errorOf(id)
    ledger.ended(id, error !== undefined, error)
  }
}

function historyOf (keep) {
  const history = new History({ keep })
  return { history, ledger: history[OBSERVE](undefined, undefined, { clock: fakeClock() }) }
}

describe('a ledger with a million records', function () {
  it('counts without looking at any of them: of a type in one place, of all in one for each type', function () {
    const { history, ledger } = historyOf(MILLION)
    run(ledger, MILLION)
    assert.equal(history.counts().done, MILLION)
    for (const [type, places] of [[TYPES[3], 1], [undefined, TYPES.length]]) {
      assert.equal(callsOf(Rows.prototype, 'stateOf', () => history.counts(type)), 0)
      assert.equal(callsOf(Names.prototype, 'addTo', () => history.counts(type)), places)
    }
  })

  it('finds the newest failures of a type in the segments that have failures', function () {
    const { history, ledger } = historyOf(MILLION)
    run(ledger, MILLION, id => id < ROWS && id % 7 === 0 ? 'no' : undefined)
    let found
    const looked = rowsRead(ledger, () => { found = [...history.list({ state: 'failed', type: TYPES[1], limit: 50 })] })
    assert.equal(found.length, 50)
    assert(found.every(({ id, type }, i) => type === TYPES[1] && (i === 0 || id < found[i - 1].id)))
    assert(looked > 50 && looked <= 2 * ROWS, `${looked} rows`)
  })

  for (const [state, isIn] of [['running', id => id % ROWS === 7], ['done', id => id < ROWS], ['cancelled', id => id === ROWS]]) {
    it(`finds what is ${state} in the segments that may have such`, function () {
      const { history, ledger } = historyOf(MILLION)
      for (let id = 1; id <= MILLION; id++) {
        ledger.accepted(id, TYPES[id % 10])
        if (state === 'cancelled' ? !isIn(id) : id >= 2 * ROWS || !isIn(id)) continue
        if (state !== 'cancelled') ledger.started(id)
        if (state === 'done') ledger.ended(id, false)
        if (state === 'cancelled') ledger.cancelled(id, 'gone')
      }
      let found
      const looked = rowsRead(ledger, () => { found = [...history.list({ state, limit: Infinity })] })
      assert.equal(found.length, { running: 2, done: ROWS - 1, cancelled: 1 }[state])
      assert(looked >= ROWS && looked <= 4 * ROWS, `${looked} rows`)
    })
  }

  for (const state of ['waiting', 'delayed']) {
    it(`finds what is ${state} in the segments that have jobs which have not ended`, function () {
      const { history, ledger } = historyOf(MILLION)
      run(ledger, MILLION)
      const id = ledger.nextId
      ledger.accepted(id, TYPES[0])
      if (state === 'delayed') ledger.delayed(id)
      let found
      const looked = rowsRead(ledger, () => { found = [...history.list({ state })] })
      assert.deepEqual(found.map(job => job.id), [id])
      assert(looked <= 2 * ROWS, `${looked} rows`)
    })
  }

  it('lets go of a few segments at a time, whatever has to go, and of all in the end', function () {
    const { ledger } = historyOf(0)
    const { look } = Retention.prototype
    const most = { retire: 0, moveRow: 0 }
    for (let id = 1; id <= MILLION; id++) ledger.accepted(id, TYPES[id % 10])
    Retention.prototype.look = function (...args) {
      let moved
      const retired = callsOf(Retention.prototype, 'retire', () => {
        moved = callsOf(Retention.prototype, 'moveRow', () => look.apply(this, args))
      })
      most.retire = Math.max(most.retire, retired)
      most.moveRow = Math.max(most.moveRow, moved)
    }
    try {
      // one of a hundred is stuck in each segment, and the others end in an order in which all segments come to that at once
      for (let row = 0; row < ROWS; row++) {
        for (let id = row; id <= MILLION; id += ROWS) if (id > 0 && row % 100 !== 1) ledger.cancelled(id, 'gone')
      }
      run(ledger, 60 * ROWS)
    } finally {
      Retention.prototype.look = look
    }
    assert(most.retire > 1 && most.retire <= 8, `${most.retire} segments`)
    assert(most.moveRow <= 8 * 1024, `${most.moveRow} rows`)
    assert(ledger.segments.filter(segment => segment !== undefined).length <= 6)
  })
})

describe('a ledger whose records go by time', function () {
  const KEEP_MS = 100

  function ledgerOf (keep) {
    const clock = fakeClock()
    const history = new History({ keep, keepMs: KEEP_MS })
    return { clock, history, ledger: history[OBSERVE](undefined, undefined, { clock, hasIds: true }) }
  }

  it('looks at single records of a segment only if some have ended and all are too old, and it does not go whole', function () {
    const { clock, history, ledger } = ledgerOf(0)
    const sifted = fn => callsOf(Retention.prototype, 'sift', fn)
    for (let id = 1; id < 3 * ROWS; id++) ledger.accepted(id, 'a')
    ledger.cancelled(1, 'gone')
    assert.equal(sifted(() => history.get(1)), 0)
    clock.advance(KEEP_MS)
    assert.equal(sifted(() => history.get(1)), 1)
    assert.equal(sifted(() => history.get(1)), 0)
    assert.equal(sifted(() => { for (let id = ROWS; id < 2 * ROWS; id++) ledger.cancelled(id, 'gone') }), 0)
  })

  it('looks at no single records where nobody asks for records', function () {
    const metrics = new Metrics()
    const clock = fakeClock()
    const { records } = metrics[OBSERVE]({ scheduler: undefined }, undefined, { clock })
    for (let id = 1; id < 4 * ROWS; id++) records.accepted(id, 'a')
    assert.equal(callsOf(Retention.prototype, 'sift', () => {
      for (let id = 1; id < 3 * ROWS; id++) {
        clock.advance(1)
        if (id % 10 !== 0) records.cancelled(id, 'gone')
      }
    }), 0)
  })

  it('looks at strays only if one of those that have ended may be too old', function () {
    const { clock, history, ledger } = ledgerOf(Infinity)
    for (let i = 0; i < 6; i++, clock.advance(10)) ledger.accepted(1 + i * 2 ** 26, 'a')
    for (const i of [0, 2]) ledger.cancelled(1 + i * 2 ** 26, 'gone')
    const looked = () => callsOf(Strays.prototype, 'acceptedAt', () => history.get(1))
    assert.equal(looked(), 0)
    clock.advance(KEEP_MS - 60)
    assert.equal(looked(), 2)
    assert.equal(looked(), 0)
    clock.advance(20)
    assert.equal(looked(), 1)
    assert.equal(looked(), 0)
    assert.equal(ledger.strays.endedCount, 0)
  })
})
