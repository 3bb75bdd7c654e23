'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { digestsOf } = require('../../bench/code')
const { HEADLINE, ROWS, headlineCases, headlineOf } = require('../../bench/headline')
const { newestTogether, costTable, headlineSentence } = require('../../bench/report')
const { loadResults, majorsWithResults } = require('../../bench/store')
const { root } = require('../support/child')

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

describe('the first table of docs/benchmarks/README.md', () => {
  const newest = Object.assign({}, ...majorsWithResults().map(loadResults))

  it('has five questions, a value of this queue for each, and no value of a queue that was not measured', () => {
    const [header, line, ...rows] = costTable(newest)[0].split('\n').map(row => row.split('|').slice(1, -1).map(cell => cell.trim()))
    assert.equal(rows.length, 5)
    assert(rows.every(row => row.length === header.length && row.length === line.length))
    const own = header.indexOf('fairlane')
    assert(rows.every(row => /^[\d.,]+$/.test(row[own])))
    const { value } = (newest['headline-memory'] ?? newest.memory).cells.find(({ id }) => id === '1e4').contenders.quickq.bytes
    assert.equal(Number(rows[3][header.indexOf('quickq')]), Number(value.toFixed(1)))
    assert.equal(rows[4][header.indexOf('p-queue')], '–')
  })

  it('is left out as long as one of its cases has no results', () => {
    assert.deepEqual(costTable({ ...newest, memory: undefined, 'headline-memory': undefined }), [])
  })

  it('prefers what was measured for it, on one Node', () => {
    const headline = structuredClone(newest.memory)
    headline.cells.find(({ id }) => id === '1e4').contenders.quickq.bytes.value = 12.3
    assert.match(costTable({ ...newest, 'headline-memory': headline })[0], /12\.3/)
  })

  it('says which of its rows are older than the code', () => {
    const code = digestsOf(['index.js'])
    const of = (code) => Object.fromEntries(ROWS.map(({ of }) => [headlineOf(of), { ...newest[of], code }]))
    assert.doesNotMatch(costTable(of(code))[1], /has changed/)
    assert.match(costTable({ ...of(code), 'headline-memory': { ...newest.memory, code: { 'index.js': 'other' } } })[1], /changed since these were measured: memory/)
  })
})

describe('the sentence of README.md', () => {
  const newest = Object.assign({}, ...majorsWithResults().map(loadResults))
  const row = ROWS.find(({ of }) => of === HEADLINE)
  const report = newest[headlineOf(HEADLINE)] ?? newest[HEADLINE]
  const code = digestsOf(['index.js'])

  it('has what was measured of each queue, and says nothing of one that was not', () => {
    const [sentence] = headlineSentence(newest)
    const { contenders } = report.cells.find(({ id }) => id === row.id)
    const [{ key }] = report.metrics
    for (const queue of ['p-limit', 'p-queue']) assert(sentence.includes(`${queue} ${Math.round(contenders[queue][key].value).toLocaleString('en')}`), queue)
    assert(!sentence.includes('quickq'))
  })

  it('is left out as long as a case of the table has no results', () => {
    assert.deepEqual(headlineSentence({ ...newest, memory: undefined, 'headline-memory': undefined }), [])
  })

  it('says whether it is older than the code', () => {
    const of = (code) => headlineSentence({ ...newest, [headlineOf(HEADLINE)]: { ...report, code } })[0]
    assert.doesNotMatch(of(code), /has changed/)
    assert.match(of({ 'index.js': 'other' }), /; the code has changed since\)/)
  })

  it('and the table are in their pages', () => {
    const withoutAge = text => text.replaceAll('; the code has changed since', '') // which each change of the code would change
    for (const [page, [first]] of [['README.md', headlineSentence(newest)], ['docs/benchmarks/README.md', costTable(newest)]]) {
      assert(withoutAge(readFileSync(join(root, page), 'utf8')).includes(withoutAge(first)), page)
    }
  })
})

describe('the headline', () => {
  it('measures one cell of each case, with the queues of the table', () => {
    for (const quick of [false, true]) {
      const cases = headlineCases().map((benchCase) => benchCase.cells({ quick }))
      assert.deepEqual(cases.map((cells) => cells.map(({ id }) => id)), ROWS.map(({ id }) => [id]))
      const [[{ contenders }]] = cases
      assert.deepEqual(contenders.map(({ name }) => name), ['fairlane', "asyncContext 'none'", 'quickq', 'fastq', 'async.queue'])
    }
  })
})
