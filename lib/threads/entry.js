'use strict'

// What runs in each thread: loads the module of the jobs, and calls its function. piscina waits for `run` before it says that the
// thread is ready, so a thread that is there has loaded its module. The export has a name, since piscina hands out the whole module else.
//
//   [number, payload, type, attempt, payload, type, attempt, …, end of several] ──▶ [result, result, …], behind them the failures if there
//                                                                                  are any

const { parentPort } = require('node:worker_threads')
const { typeError } = require('../arguments/errors')
const { promiseOf } = require('../platform/promised')
const { takeApart } = require('./failures')
const { loadPiscina } = require('./peer')

// What `move` makes: piscina gives these symbols to whoever asks.
const TRANSFERABLE = Symbol.for('Piscina.transferable')
const VALUE = Symbol.for('Piscina.valueOf')

// They come last, and are not for the module to see.
const url = process.argv.pop()
const name = process.argv.pop()

let number // of the message whose jobs run

// whatever ends the thread
process.on('uncaughtExceptionMonitor', err => parentPort.postMessage({ fairlane: 'ending', number, parts: takeApart(err) }))

exports.run = load().then(fn => {
  parentPort.postMessage({ fairlane: 'loaded' })
  return message => runAll(fn, message)
})

/** @returns {Promise<Function>} the export; of CommonJS, `import` knows only some by name */
async function load () {
  const exported = await import(url)
  const { [name]: fn = exported.default?.[name] } = exported
  if (typeof fn === 'function') return fn
  if (name === 'default' && typeof fn?.default === 'function') return fn.default // as compilers write it
  throw typeError('FAIRLANE_ERR_RUNNER', `the export '${name}' of ${url} is not a function`)
}

/** Runs the jobs of a message, all at once where they wait for something. @returns {any[] | Promise<any[]>} */
function runAll (fn, message) {
  const results = []
  const failures = []
  const pending = []
  number = message[0]
  for (let at = 1, index = 0; at + 2 < message.length; at += 3, index++) {
    results[index] = undefined
    try {
      const result = fn(message[at], { type: message[at + 1], attempt: message[at + 2] })
      const promise = promiseOf(result)
      if (promise === undefined) results[index] = result
      else pending.push(follow(promise, index, results, failures))
    } catch (reason) {
      failures.push({ index, parts: takeApart(reason) })
    }
  }
  return pending.length === 0 ? answer(results, failures) : Promise.all(pending).then(() => answer(results, failures))
}

async function follow (promise, index, results, failures) {
  try {
    results[index] = await promise
  } catch (reason) {
    failures.push({ index, parts: takeApart(reason) })
  }
}

/** What the jobs have moved is not copied. A result that throws when it is looked at fails its own job. */
function answer (results, failures) {
  const list = []
  for (let index = 0; index < results.length; index++) {
    try {
      results[index] = unpacked(results[index], list)
    } catch (reason) {
      results[index] = undefined
      failures.push({ index, parts: takeApart(reason) })
    }
  }
  if (failures.length > 0) results.push(failures)
  return list.length === 0 ? results : loadPiscina().move({ [TRANSFERABLE]: list, [VALUE]: results })
}

function unpacked (result, list) {
  if (typeof result !== 'object' || result === null || !(TRANSFERABLE in result)) return result
  const { [TRANSFERABLE]: moved, [VALUE]: value } = result
  list.push(...[moved].flat())
  return value
}
