'use strict'

// Loaded before a peer's own tests: where they require the peer, as '../', they get the facade.
//
// The tests of quickq look after 5 or 20 ms at what should have happened by then, which on a loaded machine it has not, with quickq
// either. So they get timers of their own: in the order of their times, each when everything else has come to rest.

const Module = require('node:module')

const PEER_TEST = /[\\/]node_modules[\\/](fastq|quickq)[\\/]test[\\/]/
// Longer ones are those of the framework, which ends tests that hang.
const LONGEST_MS = 100
// A queue that has something to do does it in fewer turns of the event loop.
const TURNS_OF_REST = 10

const { _resolveFilename: resolve } = Module

Module._resolveFilename = function (request, parent, ...rest) {
  const [, peer] = request === '../' ? PEER_TEST.exec(parent.filename) ?? [] : []
  if (peer === undefined) return resolve.call(this, request, parent, ...rest)
  if (peer === 'quickq') installTimers()
  return require.resolve(`fairlane/compat/${peer}`)
}

function installTimers () {
  const { setTimeout } = globalThis
  const timers = []
  let now = 0

  globalThis.setTimeout = (fn, ms = 1, ...args) => {
    if (ms > LONGEST_MS) return setTimeout(fn, ms, ...args)
    const timer = { at: now + Math.max(1, ms), call: () => fn(...args) }
    timers.push(timer)
    timers.sort((a, b) => a.at - b.at)
    if (timers.length === 1) rest(TURNS_OF_REST)
    return timer
  }

  function rest (turns) {
    if (turns > 0) {
      setImmediate(rest, turns - 1)
      return
    }
    const timer = timers.shift()
    now = timer.at
    if (timers.length > 0) rest(TURNS_OF_REST)
    timer.call()
  }
}
