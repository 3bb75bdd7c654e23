'use strict'

const assert = require('node:assert/strict')
const { Ledger } = require('../../lib/ledger/ledger')
const { Buckets } = require('../../lib/metrics/buckets')
const { Labels } = require('../../lib/metrics/labels')
const { Meter } = require('../../lib/metrics/meter')
const places = require('../../lib/metrics/places')
const { USED } = require('../../lib/metrics/types')
const { fakeClock } = require('../../lib/testing')

/** A meter of a ledger, and what is in the cells of a label. */
function example (labelOf) {
  const clock = fakeClock(1000)
  const ledger = new Ledger({ keep: 0, keepMs: 0, isExact: false })
  ledger.begin(clock)
  const buckets = new Buckets([10])
  const own = new places.Places({ maxTypes: 9, otherType: 'other' }, buckets.count)
  const meter = new Meter(ledger, { places: own, buckets, labels: new Labels(labelOf, 'other') })
  const cell = (name, label = 'a') => own.cells[own.byLabel.get(label).at + places[name]]
  const usedMs = (number = 0) => meter.types.cells[number + USED] // of running jobs without now
  return { clock, ledger, meter, own, cell, usedMs }
}

describe('a meter', function () {
  it('hands on what it is told of jobs that have no record, and counts nothing', function () {
    const { meter, ledger, own } = example()
    for (const tell of ['started', 'ended', 'cancelled', 'undecided', 'again', 'due', 'dead', 'revived', 'buried', 'failed', 'postponed', 'uncounted', 'unaccepted']) meter[tell](7, true, 'no')
    meter.cancelledAll([7, 8], 'no')
    meter.outlivedEnds(meter.outlived(7))
    assert.deepEqual([own.byLabel.size, ledger.names.numbers.size], [0, 0])
  })

  it('takes a start back that does not count, but not its wait', function () {
    const { clock, meter, cell, usedMs } = example()
    meter.accepted(1, 'a')
    clock.advance(5)
    meter.started(1)
    clock.advance(3)
    meter.uncounted(1)
    assert.deepEqual([usedMs(), cell('WAIT_SUM'), cell('RUN_SUM')], [0, 5, 0])
    meter.started(1)
    clock.advance(7)
    meter.ended(1, false)
    assert.deepEqual([usedMs(), cell('WAIT_SUM'), cell('RUN_SUM'), cell('DONE_LESS_RUNS')], [7, 13, 7, 0])
  })

  it('counts jobs that could not be written apart, since nothing that is counted falls', function () {
    const { meter, cell, ledger } = example()
    meter.accepted(1, 'a')
    meter.accepted(2, 'a')
    meter.unaccepted(2)
    assert.equal(cell('UNACCEPTED'), 1)
    assert.equal(ledger.find(2), undefined)
  })

  it('takes the wait of a job from when it was pushed, or from when it waited again', function () {
    const { clock, meter, cell } = example()
    meter.recovered(1, 'a', 400, 0)
    clock.advance(100)
    meter.started(1)
    assert.equal(cell('WAIT_SUM'), 500)
    clock.advance(20)
    meter.undecided(1, 'no')
    assert.equal(cell('RETRIED'), 0)
    meter.again(1, 'no')
    clock.advance(1000)
    meter.due(1)
    clock.advance(4)
    meter.started(1)
    assert.deepEqual([cell('WAIT_SUM'), cell('RUN_SUM'), cell('RETRIED')], [504, 20, 1])
    meter.dead(1, 'no')
    clock.advance(50)
    meter.revived(1)
    clock.advance(6)
    meter.started(1)
    meter.cancelled(1, 'no')
    assert.deepEqual([cell('WAIT_SUM'), cell('FAILED'), cell('CANCELLED')], [510, 1, 1])
  })

  it('takes times of a clock that another process has set otherwise for 0', function () {
    const { clock, meter, cell } = example()
    meter.recovered(1, 'a', -400, 0)
    meter.started(1)
    meter.ledger.time.clock = { now: () => 900 }
    clock.advance(1)
    meter.ended(1, false)
    assert.deepEqual([cell('WAIT_SUM'), cell('RUN_SUM')], [0, 0])
  })

  it('counts a job that is done though its last start does not count', function () {
    const { clock, meter, cell, usedMs } = example()
    meter.accepted(1, 'a')
    meter.started(1)
    clock.advance(4)
    meter.uncounted(1)
    meter.ended(1, false)
    assert.deepEqual([cell('DONE_LESS_RUNS'), cell('RUN_SUM'), usedMs()], [1, 0, 0])
  })

  it('gives a type whose number was that of another a place of its own', function () {
    const { clock, ledger, meter, cell, usedMs } = example()
    const number = meter.accepted(1, 'a')
    meter.started(1)
    clock.advance(4)
    meter.ended(1, false)
    ledger.names.drop(number, 4)
    assert.equal(meter.accepted(2, 'b'), number)
    meter.cancelled(2, 'no')
    assert.deepEqual([cell('USED', 'a'), cell('USED', 'b'), cell('CANCELLED', 'a'), cell('CANCELLED', 'b'), usedMs()], [4, 0, 0, 1, 0])
  })

  it('has room for more types than it had at first', function () {
    const { ledger, meter, own } = example()
    for (let i = 0; i < 1000; i++) meter.accepted(i + 1, `type ${i}`)
    assert.equal(own.byLabel.size, 10)
    const { at } = own.byLabel.get('other')
    assert.equal([...ledger.names.numbers.values()].filter(number => meter.types.cells[number] === at).length, 991)
  })
})
