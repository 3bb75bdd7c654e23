'use strict'

const assert = require('node:assert')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { kills, check } = require('./kills')

// A short form of what `npm run test:kill` does for long.
describe('a process that is killed', function () {
  const seed = seedFromEnvironment()

  for (const ack of ['os', 'disk']) {
    it(`again and again loses nothing that was acknowledged with '${ack}', and finishes nothing twice`, async () => {
      const { finished, unknown } = await kills({ ack, killsCount: rounds(6), seed })
      assert(finished > 0 && unknown > 0, 'nothing was done, or under way')
    })
  }

  it('... which a queue does that acknowledges before it writes', async () => {
    await assert.rejects(kills({ ack: 'os', killsCount: 20, seed, mutant: 'early' }), { name: 'AssertionError', message: /SEED=/ })
  })

  it('is found to have lost or done too much, to the payload', () => {
    const push = (isDone, ...numbers) => ({ numbers, isPush: true, isDone })
    const finish = (isDone, ...numbers) => ({ numbers, isPush: false, isDone })
    const cases = [
      { before: [1], calls: [push(true, 2, 3)], right: [[1, 2, 3]], wrong: [[], [1, 2], [2, 3], [2, 1, 3], [1, 2, 3, 3]] },
      { before: [1], calls: [push(false, 2, 3)], right: [[1], [1, 2, 3]], wrong: [[], [1, 3], [1, 2, 3, 4]] },
      { before: [1, 2, 3], calls: [finish(true, 1, 2)], right: [[3]], wrong: [[1, 2, 3], [1, 3], []] },
      { before: [1, 2, 3], calls: [finish(false, 1, 2)], right: [[3], [1, 2, 3]], wrong: [[2, 3], [1, 3], []] },
      { before: [], calls: [push(false, 1, 2), finish(false, 1)], right: [[2], [1, 2]], wrong: [[], [1]] }
    ]
    for (const { before, calls, right, wrong } of cases) {
      for (const found of right) assert.equal(check(before, calls, found, ''), found)
      for (const found of wrong) assert.throws(() => check(before, calls, found, ''), assert.AssertionError, String(found))
    }
  })
})
