'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const fairness = require('../../bench/cases/fairness')
const { roundedNumber } = require('../../bench/store')
const { root } = require('../support/child')

// After a change that is meant to alter who gets the slots: npm run bench -- fairness && npm run bench:report
describe('bench/results/fairness.json', () => {
  const { cells } = JSON.parse(readFileSync(join(root, 'bench/results/fairness.json'), 'utf8'))
  const rerun = fairness.cells({ quick: false })

  it('has every scenario', () => {
    assert.deepEqual(cells.map(({ id }) => id), rerun.map(({ id }) => id))
  })

  for (const cell of rerun) {
    for (const { name } of cell.contenders) {
      it(`is what a rerun gives: ${cell.id}, ${name}`, async () => {
        const { contenders } = cells.find(({ id }) => id === cell.id)
        const result = await fairness.measure(cell, name)
        assert.deepEqual(JSON.parse(JSON.stringify(result, roundedNumber)), contenders[name].rounds[0])
      })
    }
  }
})
