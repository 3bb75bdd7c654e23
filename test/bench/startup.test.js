'use strict'

const assert = require('node:assert/strict')
const { loadCase, measureOnce } = require('../../bench/schedule')
const { peersTables, targetsTable } = require('../../bench/targets')

describe('the case startup', () => {
  const benchCase = loadCase('startup')

  it('times how each queue is loaded and made, in a process of its own', async () => {
    const [cell] = benchCase.cells({ quick: true })
    for (const { name } of cell.contenders) {
      const { result, failure } = await measureOnce(benchCase, cell, name, { node: process.execPath })
      assert(result !== undefined, `${name}: ${failure}`)
      assert(result.requireMs > 0 && result.firstMs > 0, name)
    }
  })

  it('has targets that are met or missed', () => {
    const contender = (requireMs, firstMs) => ({ requireMs: { value: requireMs }, firstMs: { value: firstMs } })
    const cells = [{ id: 'process', contenders: { fairlane: contender(6, 1), quickq: contender(2, 1) } }]
    const { rows } = targetsTable({ startup: { environment: { node: '26.0.0', major: 26 }, cells } })
    assert.deepEqual(rows.map(row => row.slice(2)), [['1 ms', 'met'], ['3×', 'missed']])
  })
})

describe('the comparison with the best peer', () => {
  const STYLES = ['sync', 'nextTick', 'microtask', 'setImmediate', 'promise']
  const times = { fairlane: 40, "asyncContext 'none'": 20, quickq: 40, fastq: 20, 'async.queue': 80, 'neo-async': 60 }

  function reportOf (sizes, factor) {
    const contenders = Object.fromEntries(Object.entries(times).map(([name, ns]) => (
      [name, { warm: { value: name === 'fairlane' ? ns * factor : ns }, cold: { value: ns } }]
    )))
    const cells = STYLES.flatMap(style => sizes.map(size => ({ id: `${style}-${size}`, contenders })))
    return { environment: { node: '24.0.0', major: 24 }, cells }
  }

  const results = { fifo: reportOf(['1e2', '1e4', '1e6'], 1), bursts: reportOf(['1e2', '1e4'], 4) }

  it('has a row for each cell, and one for the means', () => {
    const [{ header, rows }] = peersTables(results)
    assert.deepEqual(header, ['', "asyncContext 'none'", 'fairlane', 'the best peer'])
    assert.equal(rows.length, 11)
    assert.deepEqual(rows[0], ['sync, bursts of 100', '1.00×', '8.00×', 'fastq'])
    assert.deepEqual(rows.at(-1), ['geometric mean', '1.000×', '4.000×', '']) // of 8 and 2
  })

  it('is left out while one of the two cases has no results', () => {
    assert.deepEqual(peersTables({ fifo: results.fifo }), [])
  })

  it('is what the targets are about, which depend on Node', () => {
    const limitsOf = major => {
      const of = report => ({ ...report, environment: { node: `${major}.0.0`, major } })
      return targetsTable({ fifo: of(results.fifo), bursts: results.bursts }).rows.filter(([what]) => what.includes('mean of 10')).map(row => row.slice(1))
    }
    assert.deepEqual(limitsOf(24), [['≤ 0.9×', '1×', 'missed'], ['≤ 1.05×', '4×', 'missed']])
    assert.deepEqual(limitsOf(26), [['≤ 1.05×', '1×', 'met'], ['≤ 1.18×', '4×', 'missed']])
  })
})
