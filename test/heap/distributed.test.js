'use strict'

const assert = require('node:assert/strict')
const { atServer } = require('../distributed/opened')
const { until } = require('../distributed/until')
const { heapUsed } = require('../support/memory')
const { turns } = require('../support/turns')
const { describeWithRedis } = require('../support/redis')
const { isLong } = require('../support/rounds')

const TYPES = isLong ? 10000 : 1000
const MOST_BYTES = 6144 // of a type
// what takes most in a process; with what else it grows, npm run test:long shows
const PUSHING = [{ maxWaitingPerType: 10 }, {}, { globalTypeCap: 2 }].slice(0, isLong ? Infinity : 1)
const RUNNING = [{ scheduler: 'equal', timeoutMs: 60000, maxWaitMs: 3600000 }, { scheduler: 'equal' }, {}].slice(0, isLong ? Infinity : 1)
const FORGET_MS = 30000 // how often it is looked what can be forgotten
const FORGOTTEN_MS = 70000 // after so long without use

/** A queue that has opened hears of its types in slices: what is used once it knows of all. */
async function heapOnceFull () {
  let used = await heapUsed()
  for (let before = -Infinity; used - before > TYPES;) {
    before = used
    await turns(100)
    used = await heapUsed()
  }
  return used
}

describeWithRedis('memory of the types of a queue at a broker', function () {
  const at = atServer()
  const { setInterval } = global
  const { now } = performance
  let forgettings, laterMs

  beforeEach(() => {
    forgettings = []
    laterMs = 0
    performance.now = () => now.call(performance) + laterMs
    global.setInterval = (fn, ms, ...args) => {
      if (ms === FORGET_MS) forgettings.push(fn)
      return setInterval(fn, ms, ...args)
    }
  })

  afterEach(() => {
    global.setInterval = setInterval
    performance.now = now
  })

  const typesFrom = first => Array.from({ length: TYPES }, (_, n) => `type-${first + n}`)
  const pushAll = async (queue, types) => {
    for (let n = 0; n < TYPES; n += 500) await Promise.all(types.slice(n, n + 500).map(type => queue.pushType(type, 1)))
  }

  for (const options of PUSHING) {
    it(`is a few KB of each in a process that pushes, until it has not done so for a while: ${JSON.stringify(options)}`, async () => {
      const producer = await at.open(null, options)
      await pushAll(producer, typesFrom(0)) // what is made once for many types
      const before = await heapUsed()
      await pushAll(producer, typesFrom(TYPES))
      const perType = (await heapUsed() - before) / TYPES
      assert(perType > 500, `they are there: ${perType}`)
      assert(perType <= MOST_BYTES, `${perType} bytes`)
      assert.equal(producer.stats('type-1').accepted, 1)
      laterMs = FORGOTTEN_MS
      for (const forget of forgettings) forget()
      laterMs = 0
      assert.equal(producer.stats('type-1').accepted, 0)
      const left = (await heapUsed() - before) / TYPES
      assert(left < 0, `${left} bytes`) // those of the first ones are gone, too
    })
  }

  for (const options of RUNNING) {
    it(`is a few KB of each in a process that runs jobs, until they are idle: ${JSON.stringify(options)}`, async () => {
      const producer = await at.open(null)
      await pushAll(producer, typesFrom(0))
      const openWorker = (runner, more) => at.open(runner, { settleBy: 'callback', concurrency: 10, leaseMs: 600000, ...options, ...more })
      // what is there once, however many types there are, as the code itself
      const other = await openWorker((n, done) => done(null), { name: `${at.name}-other` })
      await Promise.all(typesFrom(0).slice(0, 200).map(type => other.pushType(type, 1)))
      await other.onIdle()
      await other.close()
      const open = []
      let isHeld = true
      const runner = (n, done) => {
        if (isHeld) open.push(done)
        else done(null)
      }
      const before = await heapUsed()
      const worker = await openWorker(runner)
      await until(() => open.length === 10)
      const perType = (await heapOnceFull() - before) / TYPES
      assert(perType > 1000, `they are there: ${perType}`)
      assert(perType <= MOST_BYTES, `${perType} bytes`)
      isHeld = false
      for (const done of open.splice(0)) done(null)
      await worker.onIdle()
      laterMs = FORGOTTEN_MS
      await until(() => {
        for (const forget of forgettings) forget()
        return worker.stats('type-1').done === 0
      })
      laterMs = 0
      const left = (await heapUsed() - before) / TYPES
      assert(left < perType / 10, `${left} of ${perType} bytes`)
    })
  }
})
