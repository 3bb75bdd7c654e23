'use strict'

// What types get beside each other: at a server in npm test, at a Redis Cluster in npm run test:cluster.

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { once } = require('../support/attempts')
const { describeWithRedis } = require('../support/redis')

module.exports = { describeFairness }

/**
 * @param {{ ms: number, floodCount: number }} sizes ms: for how long shares are taken
 * @param {() => object} atBroker atServer or atCluster
 */
function describeFairness ({ ms, floodCount }, atBroker) {
  describeWithRedis('types beside each other', function () {
    const at = atBroker()

    /** Runs jobs of payload ms, and sums their times by type, while the queue has more of each. */
    async function shares (options, lengths) {
      const times = Object.fromEntries(Object.keys(lengths).map(type => [type, 0]))
      let isOver = false
      const queue = await at.open(async (length, { type }) => {
        const begin = performance.now()
        await sleep(length)
        if (!isOver) times[type] += performance.now() - begin
      }, { concurrency: 4, ...options })
      queue.pause()
      await Promise.all(Object.entries(lengths).flatMap(([type, length]) => {
        return Array.from({ length: Math.ceil(6 * ms / length) }, () => queue.pushType(type, length))
      }))
      queue.resume()
      await sleep(ms)
      isOver = true
      await queue.clear()
      await queue.close()
      return times
    }

    it('get equal time with equal, however long their jobs are', async () => {
      await once(async () => {
        const { short, long } = await shares({ scheduler: 'equal' }, { short: 3, long: 60 })
        const share = short / (short + long)
        assert(share > 0.35 && share < 0.65, `a share of ${share}`)
      })
    })

    it('get time by their weights', async () => {
      await once(async () => {
        const { heavy, light } = await shares({ scheduler: 'equal', schedulerOptions: { weights: { heavy: 4 } } }, { heavy: 10, light: 10 })
        const share = heavy / (heavy + light)
        assert(share > 0.7 && share < 0.88, `a share of ${share}`)
      })
    })

    it('wait for little behind a flood, if they are quiet', async () => {
      const waited = async scheduler => {
        const waits = []
        const queue = await at.open(async at => {
          await sleep(2)
          if (at !== 0) waits.push(Date.now() - at)
        }, { scheduler, concurrency: 5, name: `${at.name}-${scheduler ?? 'one'}` })
        const push = (type, payload) => scheduler === undefined ? queue.push(payload) : queue.pushType(type, payload)
        const flood = Array.from({ length: floodCount }, () => push('flood', 0))
        await flood[0]
        for (let n = 0; n < 20; n++) {
          await push(`quiet-${n % 4}`, Date.now())
          await sleep(5)
        }
        await queue.onIdle()
        await queue.close()
        return waits.sort((a, b) => a - b)[10]
      }
      await once(async () => {
        const single = await waited(undefined)
        const fair = await waited('equal')
        assert(fair <= 0.35 * single, `${fair} of ${single} ms`)
      })
    })
  })
}
