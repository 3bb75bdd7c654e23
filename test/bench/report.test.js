'use strict'

const assert = require('node:assert')
const { newestTogether, costTable } = require('../../bench/report')
const { loadResults, majorsWithResults } = require('../../bench/store')

describe('a table of several cases', () => {
  const old = { schedulers: { node: 20 }, types: { node: 20 }, flood: { node: 20 } }
  const names = ['schedulers', 'types', 'flood']

  it('shows the newest Node that all of them were run on', () => {
    assert.equal(newestTogether([old, { schedulers: { node: 24 }, types: { node: 24 } }], names), old)
    const complete = { ...old, fifo: {} }
    assert.equal(newestTogether([old, complete], names), complete)
  })

  it('is left out if there is no such Node', () => {
    assert.equal(newestTogether([{ schedulers: {}, types: {} }, { flood: {} }], names), undefined)
    assert.equal(newestTogether([], names), undefined)
  })
})

describe('the table of README.md', () => {
  const newest = Object.assign({}, ...majorsWithResults().map(loadResults))

  it('has five questions, a value of this queue for each, and no value of a queue that was not measured', () => {
    const [header, line, ...rows] = costTable(newest)[0].split('\n').map(row => row.split('|').slice(1, -1).map(cell => cell.trim()))
    assert.equal(rows.length, 5)
    assert(rows.every(row => row.length === header.length && row.length === line.length))
    const own = header.indexOf('fairlane')
    assert(rows.every(row => /^[\d.,]+$/.test(row[own])))
    const { median } = newest.memory.cells.find(({ id }) => id === '1e4').contenders.quickq.bytes
    assert.equal(Number(rows[3][header.indexOf('quickq')]), Number(median.toFixed(1)))
    assert.equal(rows[4][header.indexOf('p-queue')], '–')
  })

  it('is left out as long as one of its cases has no results', () => {
    assert.deepEqual(costTable({ ...newest, memory: undefined }), [])
  })
})
