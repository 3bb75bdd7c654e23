'use strict'

// fairlane/threads: a runner whose jobs compute in threads. The queue before it decides who gets a thread, and when; so fairness,
// limits, attempts and durability are those of the queue, which knows nothing of threads.
//
//   queue ──slot──▶ runner ──jobs.js──▶ message ──pool.js──▶ thread (entry.js)

const { Jobs } = require('./jobs')
const { readFile, readOptions } = require('./options')
const { loadPiscina } = require('./peer')

module.exports = { threads, move }

/**
 * Makes a runner of a module's function, which is called in threads as `fn(payload, { type, attempt, spent })`.
 * Payloads and results are cloned. All threads are started before it returns, and are kept.
 *
 * @param {string | URL} file of the module, CommonJS or ES; a relative path is one from the working directory
 * @param {object} [options]
 * @param {number} [options.threads] how many; default: as many as the machine runs at once
 * @param {string} [options.name] of the export; default: 'default', which is `module.exports` if that is a function
 * @param {number} [options.perThread] how many jobs a thread is given at a time; default: 1
 * @param {(payload: any) => any[]} [options.transfer] what of a payload is moved, not copied
 * @param {number} [options.loadTimeoutMs] for how long a thread may load the module; Infinity for no limit; default: 60000
 * @param {object} [options.resourceLimits] of each thread, as of `Worker`; so are `workerData`, `env`, `argv`, `execArgv`
 * @returns {Function} the runner, with `concurrency`, `ready()`, `close()`, `stats()` and `Symbol.asyncDispose`
 * @throws FAIRLANE_ERR_PEER, FAIRLANE_ERR_RUNNER (the file), FAIRLANE_ERR_OPTION
 */
function threads (file, options) {
  const url = readFile(file)
  const read = readOptions(options)
  const jobs = new Jobs(loadPiscina(), url, read)
  const runner = (payload, done, context) => {
    // a queue with settleBy: 'promise' gives no done
    return typeof done === 'function' ? jobs.run(payload, done, context) : jobs.run(payload, undefined, done)
  }
  const close = () => jobs.close()
  const members = {
    concurrency: read.threads * read.perThread,
    ready: () => jobs.ready(),
    close,
    stats: () => jobs.stats(),
    [Symbol.asyncDispose]: close
  }
  return Object.assign(runner, members)
}

/**
 * For the function of the module: what it returns as `move(value)` is moved to the queue's side, not copied. piscina's `move`.
 * @param {ArrayBuffer | ArrayBufferView | MessagePort | object} value
 */
function move (value) {
  return loadPiscina().move(value)
}
