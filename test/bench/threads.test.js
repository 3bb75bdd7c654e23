'use strict'

const assert = require('node:assert')
const bench = require('../../bench/cases/threads')
const { targetsTable } = require('../../bench/targets')
const { pools } = require('../../bench/threads/pools')
const { resultOf } = require('../../bench/threads/work')

const INSTALLED = { tinypool: { version: '2' }, workerpool: { version: '10' }, poolifier: { version: '5' } }

describe('the case of threads', function () {
  it('has the same cells in a quick try, and all contenders where all are there', () => {
    const [whole, quick] = [false, true].map(quick => bench.cells({ quick, peers: INSTALLED }))
    assert.deepEqual(quick.map(({ id }) => id), whole.map(({ id }) => id))
    assert.deepEqual(whole[0].contenders.map(({ name }) => name), Object.keys(pools))
  })

  it('needs none but ours and piscina', () => {
    for (const { contenders } of bench.cells({ quick: true })) {
      assert.deepEqual(contenders.filter(({ name }) => bench.versionOf(name) === null), [])
    }
  })

  for (const name of Object.keys(pools).filter(name => pools[name].peer === undefined)) {
    it(`gets from ${name} the result of each job`, async () => {
      const pool = await pools[name].open(1)
      const results = await Promise.all([1, 2, 3].map(n => new Promise((resolve, reject) => {
        pool.push('type', { n, loops: 1 }, (err, result) => err ? reject(err) : resolve(result))
      })))
      await pool.close()
      assert.deepEqual(results, [1, 2, 3].map(n => resultOf({ n })))
    })
  }

  it('has targets that are met or missed', () => {
    const of = (metrics) => Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, { value }]))
    const contenders = (metrics) => ({ fairlane: of(metrics), 'fairlane, perThread 16': of(metrics), piscina: of(metrics) })
    const ids = bench.cells({ quick: true }).map(({ id }) => id)
    const cells = ids.map(id => ({
      id,
      contenders: contenders({ usPerJob: 2, servedPerSecond: 20000, p95Ms: 5, untilNextMs: 20, aloneMs: 1, besideMs: 1 })
    }))
    const { rows } = targetsTable({ threads: { environment: { node: '24.0.0' }, cells } })
    assert.equal(rows.length, 10)
    assert.deepEqual(rows.filter(([, , , how]) => how === 'missed').map(([what]) => what), ['the same, perThread 16', "the same: piscina's to ours"])
  })
})
