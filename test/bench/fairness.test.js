'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { roundedNumber } = require('../../bench/store')
const { root } = require('../support/child')

// After a change that is meant to alter who gets the slots: npm run bench -- fairness fairness-options && npm run bench:report
for (const name of ['fairness', 'fairness-options']) {
  describe(`bench/results/${name}.json`, () => {
    const bench = require(`../../bench/cases/${name}`)
    const { cells } = JSON.parse(readFileSync(join(root, `bench/results/${name}.json`), 'utf8'))
    const rerun = bench.cells({ quick: false })

    it('has every scenario', () => {
      assert.deepEqual(cells.map(({ id }) => id), rerun.map(({ id }) => id))
    })

    for (const cell of rerun) {
      for (const { name } of cell.contenders) {
        it(`is what a rerun gives: ${cell.id}, ${name}`, async () => {
          const { contenders } = cells.find(({ id }) => id === cell.id)
          const result = await bench.measure(cell, name)
          assert.deepEqual(JSON.parse(JSON.stringify(result, roundedNumber)), contenders[name].rounds[0])
        })
      }
    }
  })
}
