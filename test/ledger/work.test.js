'use strict'

// What a ledger with a million records has to look at. Work is counted, not timed.

const assert = require('node:assert/strict')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { Names } = require('../../lib/ledger/names')
const { Retention } = require('../../lib/ledger/retention')
const { Rows, ROWS } = require('../../lib/ledger/segment')
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
    const looked = callsOf(Rows.prototype, 'stateOf', () => { found = [...history.list({ state: 'failed', type: TYPES[1], limit: 50 })] })
    assert.equal(found.length, 50)
    assert(found.every(({ id, type }, i) => type === TYPES[1] && (i === 0 || id < found[i - 1].id)))
    assert(looked <= 2 * ROWS, `${looked} rows`)
  })

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
