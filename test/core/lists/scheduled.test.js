'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { turn } = require('../../support/turns')

const schedulers = { equal: () => 'equal', 'of a window': () => ({ waiting () {}, start () {}, done () {}, select: types => types.size() - 1 }) }

for (const [name, makeScheduler] of Object.entries(schedulers)) {
  describe(`flushes of a queue with a scheduler ${name}`, function () {
    it('come when all jobs of before have settled, and no later, in random histories', async function () {
      const seed = seedFromEnvironment()
      const random = seeded(seed)
      const unsettled = new Set()
      const open = []
      const queue = fairlane((payload, done) => { open.push(done) }, { scheduler: makeScheduler(), concurrency: 4 })
      let count = 0
      let flushes = [] // { left: the jobs that it waits for, isOver }
      for (let i = 0; i < 3000; i++) {
        const step = random.below(6)
        if (step < 2) {
          const id = count++
          unsettled.add(id)
          queue[random.chance(0.3) ? 'unshiftType' : 'pushType'](`type ${random.below(4)}`, id, () => {
            unsettled.delete(id)
            for (const { left } of flushes) left.delete(id)
          })
        } else if (step === 2) {
          const flush = { left: new Set(unsettled), isOver: false }
          flushes.push(flush)
          queue.fflush(() => { flush.isOver = true })
        } else if (step === 3 && random.chance(0.1)) {
          const rest = random.below(3)
          queue.remove(({ payload }) => payload % 3 === rest)
        } else if (open.length > 0) {
          open.splice(random.below(open.length), 1)[0]()
        }
        await turn()
        for (const { left, isOver } of flushes) assert.equal(isOver, left.size === 0, `SEED=${seed}, step ${i}`)
        flushes = flushes.filter(({ isOver }) => !isOver)
      }
    })
  })
}
