'use strict'

// Turns of the event loop and time, in Node and in browsers. Taken once when the module loads, so that test doubles
// of the global timers don't stop a queue in the middle of its work.

const { performance, queueMicrotask, setTimeout: startTimer, clearTimeout: stopTimer } = globalThis

// Called with no receiver of their own, which browsers want. It does what a SteadyClock does, and needs nothing for it.
const systemClock = {
  now,
  setTimeout: (fn, ms) => startTimer(fn, ms),
  clearTimeout: timer => stopTimer(timer),
  reach () {},
  failure: undefined,
  isUnsure: false
}

const lent = []
lend(globalThis, 'global', globalThis)
lend(globalThis, 'process', {})
lend(globalThis.process, 'nextTick', queueMicrotask)

module.exports = { now, defer: deferral(), takeBack, rethrow, callSafely, systemClock }

/** Milliseconds from an arbitrary start, with fractions; never goes back. */
function now () {
  return performance.now()
}

/**
 * aflow reads `global` and `process.nextTick` while it loads, and browsers have neither. So aflow borrows them: this file is
 * loaded before it, and dispatch.js takes them back after it (docs/decisions/0039).
 */
function lend (owner, name, value) {
  if (owner[name] !== undefined) return
  owner[name] = value
  lent.push(() => { delete owner[name] })
}

/** To be called when aflow has been loaded. */
function takeBack () {
  for (const remove of lent) remove()
}

/** Throws err outside of the caller's stack, so that it becomes an uncaught exception. */
function rethrow (err) {
  queueMicrotask(() => { throw err })
}

/** Calls the caller's code; what it throws becomes an uncaught exception. */
function callSafely (fn, ...args) {
  try {
    fn(...args)
  } catch (err) {
    rethrow(err)
  }
}

/** @returns {(fn: () => void) => void} what calls fn in a later turn of the event loop */
function deferral () {
  const { setImmediate } = globalThis
  if (typeof setImmediate === 'function') return fn => { setImmediate(fn) }
  // not before: Node loads its MessageChannel when it is first looked at, which takes 2 ms
  const { MessageChannel, setTimeout } = globalThis
  if (typeof MessageChannel === 'function') return deferralByMessage(new MessageChannel())
  return fn => { setTimeout(fn, 0) }
}

/** Browsers hold back nested timers to 4 ms; a message to oneself is not held back. */
function deferralByMessage (channel) {
  const deferred = []
  channel.port1.onmessage = () => deferred.shift()()
  return fn => {
    deferred.push(fn)
    channel.port2.postMessage(undefined)
  }
}
