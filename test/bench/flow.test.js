'use strict'

const assert = require('node:assert')
const bench = require('../../bench/cases/flow')
const { targetsTable } = require('../../bench/targets')
const { queues } = require('../../bench/flow/queues')

const INSTALLED = { bottleneck: { version: '2' }, limiter: { version: '4' }, 'p-retry': { version: '9' } }

describe('the case of flow', function () {
  it('has the same cells in a quick try, and all contenders where all are there', () => {
    const [whole, quick] = [false, true].map(quick => bench.cells({ quick, peers: INSTALLED }))
    assert.deepEqual(quick.map(({ id }) => id), whole.map(({ id }) => id))
    assert.deepEqual(whole.find(({ id }) => id === 'limited').contenders.map(({ name }) => name), Object.keys(queues.limited))
  })

  it('needs no others than those that are installed here', () => {
    for (const { contenders } of bench.cells({ quick: true })) {
      assert.deepEqual(contenders.filter(({ name }) => bench.versionOf(name) === null), [])
    }
    assert.equal(bench.versionOf('limiter', INSTALLED), 'limiter@4')
  })

  for (const { id, label, contenders, ...cell } of bench.cells({ quick: true }).filter(({ id }) => id !== 'windows')) {
    it(`counts each job of the cell ${id}`, async () => {
      for (const { name } of contenders) {
        const { ns } = await bench.measure({ ...cell, jobs: 100 }, name)
        assert(ns > 0, `${name} takes ${ns}`)
      }
    })
  }

  it('says what an option adds to the queue without any in the same round', () => {
    const contenders = { fairlane: { rounds: [{ ns: 20 }, { ns: 30 }] }, rate: { rounds: [{ ns: 50 }, { ns: 50 }, { ns: 1 }] } }
    bench.derive(contenders)
    assert.deepEqual(contenders.rate.rounds.map(({ added }) => added), [30, 20, undefined])
    const others = { 'p-queue strict': { rounds: [{ starts: 10 }] }, fairlane: { rounds: [{ starts: 10 }] } }
    bench.derive(others)
    assert.deepEqual(others['p-queue strict'].rounds, [{ starts: 10 }])
    const beside = { fairlane: { rounds: [{ ns: 20 }] }, 'p-queue strict': { rounds: [{ ns: 50 }] } }
    bench.derive(beside)
    assert.deepEqual(beside['p-queue strict'].rounds, [{ ns: 50 }])
  })

  it('has targets that are met or missed', () => {
    const cells = bench.cells({ quick: true, peers: INSTALLED }).map(({ id, contenders }) => ({
      id,
      contenders: Object.fromEntries(contenders.map(({ name }) => {
        return [name, { ns: { value: 50 }, starts: { value: 1000 }, most: { max: 150 } }]
      }))
    }))
    const { rows } = targetsTable({ flow: { environment: { node: '24.0.0' }, cells } })
    assert.equal(rows.length, 12)
    assert.deepEqual(rows.filter(([, , , how]) => how === 'missed').map(([what]) => what), ['add() with a rate to p-queue with intervalCap', 'the most in any window'])
  })
})
