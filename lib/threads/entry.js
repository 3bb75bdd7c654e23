'use strict'

// HOT (bench: threads). What runs in each thread: loads the module of the jobs, and calls its function. piscina waits for `serve` before it
// says that the thread is ready, so a thread that is there has loaded its module. The export has a name, since piscina hands out the whole
// module else.
//
//   [number, payload, type, attempt, payload, type, attempt, …] ──▶ [result, result, …], behind them the failures if there are any
//                                                               ├─▶ { spent, index }: what the job of that index has cost so far
//                                                               └─▶ { broken }: why there is no answer
//
// Between messages the thread sleeps, and its event loop stands still: to be woken by that takes 20 µs.

const { parentPort, MessageChannel, receiveMessageOnPort } = require('node:worker_threads')
const { typeError } = require('../arguments/errors')
const { readInteger } = require('../arguments/fields')
const { promiseOf } = require('../platform/promised')
const { takeApart } = require('./failures')
const { REQUESTS, ANSWERS } = require('./message')

// What `move` makes: piscina gives these symbols to whoever asks.
const TRANSFERABLE = Symbol.for('Piscina.transferable')
const VALUE = Symbol.for('Piscina.valueOf')

// They come last, and are not for the module to see.
const url = process.argv.pop()
const name = process.argv.pop()

const { port1: port, port2 } = new MessageChannel()
const counts = new Int32Array(new SharedArrayBuffer(8))

let run // the module's function
let number // of the message whose jobs run
let answered // number of the last message that has an answer
let taken = 0 // messages

/** What the function of the module is told beside the payload. */
class Context {
  #number
  #index

  constructor (type, attempt, number, index) {
    this.type = type
    this.attempt = attempt
    this.#number = number
    this.#index = index
  }

  /** Says what the job has cost so far, until its answer is given. It may be taken off the context. */
  get spent () {
    const [own, index] = [this.#number, this.#index]
    return total => {
      const spent = readInteger(total, 'spent: the total', 0, Number.MAX_SAFE_INTEGER, 'FAIRLANE_ERR_ARGUMENT')
      if (own === number && own !== answered) port.postMessage({ spent, index })
    }
  }
}

// whatever ends the thread
process.on('uncaughtExceptionMonitor', err => parentPort.postMessage({ fairlane: 'ending', number, parts: takeApart(err) }))

parentPort.postMessage({ fairlane: 'begun', port: port2, counts }, [port2])

exports.serve = load().then(fn => {
  run = fn
  setImmediate(() => {
    // piscina has said by now that the thread is ready
    parentPort.postMessage({ fairlane: 'loaded' })
    serve()
  })
  return serve
})

/** Takes the next message; in a microtask of its own, so that those which a job leaves behind come before. */
function serve () {
  // a thread that has not slept is woken all the same, a moment later
  while (Atomics.load(counts, REQUESTS) === taken) Atomics.wait(counts, REQUESTS, taken)
  taken = taken + 1 | 0 // as the count, which is of 32 bits
  try {
    const answer = runAll(receiveMessageOnPort(port).message)
    if (promiseOf(answer) === undefined) give(answer)
    else answer.then(give).catch(giveUp)
  } catch (reason) {
    giveUp(reason)
  }
}

/** When what the jobs have printed is on its way, since nothing else is until the next one waits for something. */
function give ({ results, list }) {
  const { stdout, stderr } = process
  if (stdout.writableLength + stderr.writableLength === 0) return post(results, list)
  stdout.write('', () => stderr.write('', () => post(results, list)))
}

function giveUp (reason) {
  post({ broken: takeApart(reason) })
}

function post (answer, list) {
  answered = number
  try {
    port.postMessage(answer, list)
  } catch (reason) {
    // it cannot be cloned, which ends the thread
    queueMicrotask(() => { throw reason })
    return
  }
  Atomics.add(counts, ANSWERS, 1)
  queueMicrotask(serve)
}

/** @returns {Promise<Function>} the export; of CommonJS, `import` knows only some by name */
async function load () {
  const exported = await import(url)
  const { [name]: fn = exported.default?.[name] } = exported
  if (typeof fn === 'function') return fn
  if (name === 'default' && typeof fn?.default === 'function') return fn.default // as compilers write it
  throw typeError('FAIRLANE_ERR_RUNNER', `the export '${name}' of ${url} is not a function`)
}

/** Runs the jobs of a message, all at once where they wait for something. @returns {object | Promise<object>} as answer() */
function runAll (message) {
  const results = []
  const failures = []
  const pending = []
  number = message[0]
  for (let at = 1, index = 0; at + 2 < message.length; at += 3, index++) {
    results[index] = undefined
    try {
      const result = run(message[at], new Context(message[at + 1], message[at + 2], number, index))
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

/** A result that throws when it is looked at fails its own job. @returns {{ results: any[], list: any[] }} what is moved, not copied */
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
  return { results, list }
}

function unpacked (result, list) {
  if (typeof result !== 'object' || result === null || !(TRANSFERABLE in result)) return result
  const { [TRANSFERABLE]: moved, [VALUE]: value } = result
  list.push(...[moved].flat())
  return value
}
