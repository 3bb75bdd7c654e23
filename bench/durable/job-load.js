'use strict'

// What every job queue on disk is put through. A load is plain data:
//
//   shape   'apart'   push all while nothing runs, then run all
//           'beside'  push while jobs run
//   size    bytes of a payload as JSON: 16, or 26 and more
//   count   jobs, a multiple of burst
//   burst   jobs that are pushed together; the next ones follow when these are safe, and with shape 'beside' when at most `window - burst`
//           jobs have not ended
//   isCold  without a warm-up, to try whether it works
//
// The runner is an async function that ends at once. It compares its payload with the one that was pushed. Each start and each end
// is counted: every job has to start once and to end once, and the queue itself has to say the same.

const path = require('node:path')
const crypto = require('node:crypto')

/** How many jobs run at once. */
const CONCURRENCY = 10

/** Of nine digits each, so that the ids of all payloads have the same length. */
const FIRST_ID = 1e8
const TEXT_COUNT = 97

/**
 * Rounds of a load that come before the measured one: enough for the compiler. None begins after so much CPU time, whatever else the
 * machine does.
 */
const WARM_UPS = 10
const WARM_UP_CPU_US = 2e6

/**
 * @param {{ shape: 'apart' | 'beside', size: number, count: number, burst: number, window?: number }} load
 * @param {{ open: Function }} contender an adapter of job-queues.js
 * @param {string} folder an empty one
 * @returns {Promise<Object<string, number>>} `pushCpuUs`, `pushPerSecond`, and the same with `run`; or with `both`. CPU time is that of
 *   all threads of this process, µs per job
 * @throws if a job was lost, altered, started or ended twice, or failed
 */
async function runJobs (load, contender, folder) {
  const payloads = createPayloads(load)
  const begun = process.cpuUsage()
  let warmUps = 0
  while (!load.isCold && warmUps < WARM_UPS && cpuUsSince(begun) < WARM_UP_CPU_US) await runOnce(load, payloads, contender, path.join(folder, `${warmUps++}`))
  return runOnce(load, payloads, contender, path.join(folder, 'measured'))
}

async function runOnce (load, payloads, contender, folder) {
  const tally = createTally(payloads)
  const { runner, whenDone, whenFailed } = tally
  const queue = await contender.open(folder, { runner, concurrency: CONCURRENCY, whenDone, whenFailed })
  const measured = await SHAPES[load.shape](load, payloads, queue, tally)
  await tally.check(queue)
  await queue.close()
  return measured
}

const SHAPES = {
  async apart (load, payloads, queue, tally) {
    const push = await measure(load, () => pushInBursts(load, payloads, queue))
    const run = await measure(load, async () => {
      queue.start()
      await tally.until(load.count)
      await queue.written()
    })
    return { pushCpuUs: push.cpuUs, pushPerSecond: push.perSecond, runCpuUs: run.cpuUs, runPerSecond: run.perSecond }
  },

  async beside (load, payloads, queue, tally) {
    const { cpuUs, perSecond } = await measure(load, async () => {
      queue.start()
      await pushInBursts(load, payloads, queue, begun => tally.until(begun + load.burst - load.window))
      await tally.until(load.count)
      await queue.written()
    })
    return { bothCpuUs: cpuUs, bothPerSecond: perSecond }
  }
}

/** @param {(begun: number) => Promise<void> | undefined} mayGoOn told before a burst how many jobs were pushed before it */
async function pushInBursts ({ count, burst }, payloads, queue, mayGoOn = () => undefined) {
  for (let begun = 0; begun < count; begun += burst) {
    const pause = mayGoOn(begun)
    if (pause !== undefined) await pause
    await (burst === 1 ? queue.push(payloads[begun]) : queue.pushAll(payloads.slice(begun, begun + burst)))
  }
}

async function measure ({ count }, use) {
  globalThis.gc?.()
  const cpu = process.cpuUsage()
  const begun = process.hrtime.bigint()
  await use()
  const ns = Number(process.hrtime.bigint() - begun)
  return { cpuUs: cpuUsSince(cpu) / count, perSecond: count * 1e9 / ns }
}

/** That of all threads. */
function cpuUsSince (begun) {
  const { user, system } = process.cpuUsage(begun)
  return user + system
}

/** Counts starts and ends of jobs with these payloads. */
function createTally (payloads) {
  const starts = new Uint8Array(payloads.length)
  let doneCount = 0
  let wantedCount = Infinity
  let tellWanted
  let failure

  return {
    async runner ({ id, text }) {
      const number = id - FIRST_ID
      if (payloads[number]?.text === text) starts[number]++
      else fail(new Error(`a job got a payload that was not pushed: ${id}, ${text}`))
    },

    whenDone () {
      if (++doneCount === wantedCount) tellWanted()
    },

    whenFailed: fail,

    /** @returns {Promise<void> | undefined} resolves when so many jobs have ended; undefined if they have */
    until (count) {
      if (failure !== undefined) throw failure
      if (doneCount >= count) return undefined
      wantedCount = count
      return new Promise((resolve, reject) => {
        tellWanted = () => failure === undefined ? resolve() : reject(failure)
      })
    },

    /** Waits a little for ends too many, and throws unless each job started and ended once. */
    async check (queue) {
      await new Promise(resolve => setTimeout(resolve, 2))
      if (failure !== undefined) throw failure
      const { done, left } = queue.counts()
      const { length } = payloads
      const wrong = starts.findIndex(count => count !== 1)
      if (wrong !== -1) throw new Error(`miscounted: job ${wrong} was started ${starts[wrong]} times`)
      if (doneCount !== length || done !== length || left !== 0) {
        throw new Error(`miscounted: ${length} jobs, ${doneCount} ended; the queue says ${done} done and ${left} left`)
      }
    }
  }

  function fail (error) {
    failure ??= error
    tellWanted?.()
  }
}

/**
 * Made beforehand; the texts are at random.
 * @returns {Array<{ id: number, text?: string }>} which differ from each other
 */
function createPayloads ({ size, count }) {
  const textLength = size - JSON.stringify({ id: FIRST_ID, text: '' }).length
  const texts = Array.from({ length: TEXT_COUNT }, () => crypto.randomBytes(size).toString('base64').slice(0, textLength))
  return Array.from({ length: count }, (_, number) => {
    const id = FIRST_ID + number
    return textLength < 0 ? { id } : { id, text: texts[number % TEXT_COUNT] }
  })
}

module.exports = { runJobs, createPayloads, CONCURRENCY }
