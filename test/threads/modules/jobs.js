'use strict'

// The jobs of the tests: what one does is in its payload. Gates are arrays of two numbers in shared memory: how many may pass, how many
// have come.

const { pbkdf2Sync } = require('node:crypto')
const { parentPort, threadId, workerData } = require('node:worker_threads')
const { move } = require('../../../lib/threads')

class OwnError extends RangeError {
  constructor (message) {
    super(message)
    this.code = 'OWN'
    this.retryAfterMs = 7
    this.helper = () => {}
    this.cause = Object.assign(new TypeError('the cause'), { code: 'CAUSE' })
  }
}

const acts = {
  tell: (payload, context) => ({ payload, context, argv: process.argv.slice(2), env: process.env.FAIRLANE_TEST, workerData }),
  thread: () => threadId,
  spend ({ totals, gate, andThen = 'value' }, { spent }) {
    for (const total of totals) spent(total)
    kept ??= spent
    if (gate !== undefined) pass(gate)
    return acts[andThen]({ value: totals.at(-1) })
  },
  spendWrongly ({ total }, { spent }) {
    try {
      spent(total)
    } catch ({ code }) {
      return code
    }
  },
  spendLate: ({ total }) => kept(total),
  message () {
    // those of one message are called in one go
    if (!isCounted) messages++
    isCounted = true
    queueMicrotask(() => { isCounted = false })
    return { thread: threadId, message: messages }
  },
  meet: () => new Promise(resolve => {
    if (meeting === undefined) meeting = resolve
    else for (const end of [meeting, resolve]) end('met')
  }),
  value: ({ value }) => value,
  later: async ({ value }) => value,
  fail () { throw new OwnError('it fails') },
  reject: () => Promise.reject(new OwnError('it rejects')),
  failWith ({ value }) { throw value },
  pass: ({ gate, value }) => pass(gate, value),
  loop ({ gate }) {
    if (gate !== undefined) arrive(gate)
    for (;;);
  },
  native ({ gate }) {
    arrive(gate)
    pbkdf2Sync('a password', 'salt', 400000, 64, 'sha512') // nothing interrupts it
  },
  exit: ({ gate, code = 3 }) => {
    if (gate !== undefined) pass(gate)
    process.exit(code)
  },
  uncaught: () => new Promise(() => setImmediate(() => { throw new OwnError('uncaught') })),
  uncaughtValue: ({ value }) => new Promise(() => setImmediate(() => { throw value })),
  memory () {
    const all = []
    for (;;) all.push(new Array(1e5).fill(Math.random()))
  },
  function: () => () => {},
  hostileResult: () => new Proxy({}, { has () { throw new Error('has') } }),
  hostileMove: () => ({ [Symbol.for('Piscina.transferable')]: [], get [Symbol.for('Piscina.valueOf')] () { throw new Error('get') } }),
  hostileList: () => ({ get [Symbol.for('Piscina.transferable')] () { throw new Error('flat') } }),
  breakOutput () {
    const { stdout } = process
    let isBroken = true
    Object.defineProperty(process, 'stdout', {
      configurable: true,
      get () {
        if (!isBroken) return stdout
        isBroken = false
        throw new Error('no output')
      }
    })
  },
  breakOutputLater: async () => acts.breakOutput(),
  deep ({ depth }) {
    let value = []
    while (depth-- > 0) value = [value]
    return value
  },
  print ({ text, gate }) {
    console.log(text)
    if (gate !== undefined) arrive(gate)
  },
  forge ({ messages }) { for (const message of messages) parentPort.postMessage(message) },
  never: () => new Promise(() => {}),
  leave () { setTimeout(() => { throw new RangeError('left behind') }) },
  move: () => move(moved = new Uint8Array([1, 2, 3])),
  moved: () => moved.length,
  sumAt ({ attempt, bytes }, context) {
    if (context.attempt < attempt) throw new Error('again')
    return acts.sum({ bytes })
  },
  sum: ({ bytes }) => bytes.reduce((sum, byte) => sum + byte, 0)
}

let kept // spent() of the first job that has called it
let moved
let meeting
let messages = 0
let isCounted = false

module.exports = ({ act, ...payload }, context) => acts[act](payload, context)
module.exports.named = payload => payload === 'exit' ? process.exit() : `named ${payload}`

function arrive (gate) {
  Atomics.add(gate, 1, 1)
  Atomics.notify(gate, 1)
}

/** Blocks the thread until so many may pass as have come. */
function pass (gate, value) {
  const place = Atomics.add(gate, 1, 1)
  Atomics.notify(gate, 1)
  for (let open; (open = Atomics.load(gate, 0)) <= place;) Atomics.wait(gate, 0, open)
  return value
}
