'use strict'

const assert = require('node:assert')
const bench = require('../../bench/cases/http-admission')

const INSTALLED = { 'express-rate-limit': { version: '8' }, 'express-queue': { version: '0' } }

describe('the case of http-admission', function () {
  it('has the same cells in a quick try, and all contenders where all are there', () => {
    const [whole, quick] = [false, true].map(quick => bench.cells({ quick, peers: INSTALLED }))
    assert.deepEqual(quick.map(({ id }) => id), whole.map(({ id }) => id))
    assert.deepEqual(whole[2].contenders.map(({ name }) => name), ['fairlane', 'no middleware', 'express-rate-limit', 'express-queue'])
    for (const { contenders } of bench.cells({ quick: true })) assert.deepEqual(contenders.map(({ name }) => name), ['fairlane', 'no middleware'])
    assert.equal(bench.versionOf('express-queue', INSTALLED), 'express-queue@0')
    assert.match(bench.versionOf('fairlane'), /^fairlane@/)
    assert.deepEqual([bench.versionOf('no middleware'), bench.versionOf('express-queue')], [null, null])
  })

  // the flood takes seconds, and all of the machine: npm run bench -- http-admission --quick
  for (const { id, contenders, ...cell } of bench.cells({ quick: true }).filter(({ id }) => id !== 'flood')) {
    it(`asks the servers of the cell ${id}`, async () => {
      for (const { name } of contenders) {
        const { perSecond } = await bench.measure({ ...cell, id }, name)
        assert(perSecond > 0)
      }
    })
  }

  it('says what is lost to the server without a middleware in the same round', () => {
    const contenders = { fairlane: { rounds: [{ perSecond: 90 }, { perSecond: 80 }] }, 'no middleware': { rounds: [{ perSecond: 100 }] } }
    bench.derive(contenders)
    assert.deepEqual(contenders.fairlane.rounds.map(({ lost }) => lost && Math.round(lost)), [10, undefined])
    const flood = { fairlane: { rounds: [{ slower: 2 }] }, 'no middleware': { rounds: [{ slower: 9 }] } }
    bench.derive(flood)
    assert.deepEqual(flood.fairlane.rounds, [{ slower: 2 }])
  })
})
