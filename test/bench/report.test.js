'use strict'

const assert = require('node:assert')
const { newestTogether } = require('../../bench/report')

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
