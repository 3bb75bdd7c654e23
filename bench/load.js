'use strict'

// A load: one contender's queue under bursts of jobs, with every start and every settlement counted.
// The runners do nothing but complete in the asked style, so that what is timed is the queue's own work.
// Times run from before the first push of a burst until its last completion.

const { performance } = require('node:perf_hooks')
const { contenders } = require('./contenders')

/** How many jobs run at once in all cases but the real-work ones. */
const CONCURRENCY = 10

/** A child that has measured for so long starts no further run. */
const ENOUGH_MS = 1000

/**
 * Makes a load. Queues are made by `renew()`; nothing may be pushed before the first one.
 * @param {string} contender a key of contenders
 * @param {string} style how the runner completes: sync, nextTick, microtask, setImmediate, promise
 * @param {string[]} [types] the types of the jobs of a burst, used in turn; without, jobs have none
 * @returns {{ renew: function(): Promise<void>, burst: function(number, function(number): void): void,
 *   run: function(number, number=): Promise<number>, runOf: function(string[]): Promise<number>, check: function(): Promise<void> }}
 */
function createLoad (contender, style, types) {
  let started = 0
  let settled = 0
  let expected = 0
  let queue
  let whenAllSettled

  const runner = {
    sync (payload, done) { started++; done() },
    nextTick (payload, done) { started++; process.nextTick(done) },
    microtask (payload, done) { started++; queueMicrotask(done) },
    setImmediate (payload, done) { started++; setImmediate(done) },
    async promise (payload) { started++ }
  }[style]

  function whenSettled (err) {
    if (err) throw err
    if (++settled === expected) whenAllSettled()
  }

  /** A new, empty queue. */
  async function renew () {
    queue = await contenders[contender].create(runner, { concurrency: CONCURRENCY, style })
  }

  /** Pushes `jobs` jobs from one loop; calls back (from inside the last completion) with the milliseconds it took. */
  function burst (jobs, callback) {
    const begun = performance.now()
    expected += jobs
    whenAllSettled = () => callback(performance.now() - begun)
    if (queue.runAll) return queue.runAll(jobs, whenSettled)
    if (types === undefined) for (let i = 0; i < jobs; i++) queue.push(i, whenSettled)
    else pushTyped(jobs)
  }

  function pushTyped (jobs) {
    for (let i = 0, at = 0; i < jobs; i++) {
      queue.pushType(types[at], i, whenSettled)
      if (++at === types.length) at = 0
    }
  }

  /** `bursts` bursts, each in an event-loop turn of its own; resolves with nanoseconds per job. */
  function run (jobs, bursts = 1) {
    return new Promise((resolve) => {
      let left = bursts
      let totalMs = 0
      next()

      function next () {
        burst(jobs, (ms) => {
          totalMs += ms
          if (--left > 0) return setImmediate(next)
          setImmediate(resolve, totalMs * 1e6 / (jobs * bursts))
        })
      }
    })
  }

  /** One burst with a job of each of these types. */
  function runOf (newTypes) {
    types = newTypes
    return run(newTypes.length)
  }

  /** Waits a little for settlements too many, then throws unless each job started once and settled once. */
  async function check () {
    await new Promise((resolve) => setTimeout(resolve, 2))
    if (started === expected && settled === expected) return
    throw new Error(`${contender} miscounted: ${expected} jobs, ${started} started, ${settled} settled`)
  }

  return { renew, burst, run, runOf, check }
}

/**
 * What a job costs in a process that starts with this: the first burst, then the mean over later ones after some that
 * aren't measured, a queue made anew for each.
 * @param {object} load from createLoad
 * @param {{ jobs: number, bursts: number, warmups: number, runs: number }} size jobs in a burst, bursts in a run (small ones
 *   are too short to time alone), runs before measuring, runs measured
 * @returns {Promise<{ cold: number, warm: number }>} nanoseconds per job
 */
async function coldAndWarm (load, { jobs, bursts, warmups, runs }) {
  await load.renew()
  const cold = await load.run(jobs)
  for (let i = 0; i < warmups; i++) {
    await load.renew()
    await load.run(jobs, bursts)
  }
  const begun = performance.now()
  let sum = 0
  let measured = 0
  while (measured < runs && performance.now() - begun < ENOUGH_MS) {
    await load.renew()
    sum += await load.run(jobs, bursts)
    measured++
  }
  await load.check()
  return { cold, warm: sum / measured }
}

module.exports = { createLoad, coldAndWarm, CONCURRENCY }
