'use strict'

// What queues in memory have, and queues at a broker have not: no process there has a view of all that waits. It is refused, not undefined.

const { typeError } = require('../arguments/errors')

const MEMORY = 'Queues in memory'
const MEMORY_AND_DISK = 'Queues in memory and on disk'

// member → which queues have it, and what to use here
const VALUES = {
  length: [MEMORY_AND_DISK, 'Use counts(), whose waiting and running are its parts.'],
  waiting: [MEMORY_AND_DISK, 'Use counts().'],
  drain: [MEMORY_AND_DISK, 'Use onIdle().']
}
const METHODS = {
  acquire: [MEMORY, 'Use add(), whose runner has the slot until it ends.'],
  fflush: [MEMORY_AND_DISK, 'Use onIdle(), or flush() for pushes to be stored.'],
  heldMs: [MEMORY_AND_DISK, 'Use counts(type), which has heldMs of a type.'],
  hold: [MEMORY_AND_DISK, 'Use holdType(type, ms).'],
  jobs: [MEMORY_AND_DISK, 'Use get(id), counts(), types() and deadLetters().'],
  ready: [MEMORY_AND_DISK, 'Use counts(), or maxWaitingPerType, whose error says in retryAfterMs when to push again.'],
  remove: [MEMORY_AND_DISK, 'Use cancel(id) or clear({ type }).'],
  run: [MEMORY, 'Use add(), and code in the runner.'],
  setRates: [MEMORY_AND_DISK, 'Use setGlobalRate(type, rate).']
}

// What close() is not asked for.
const DRAIN = [MEMORY_AND_DISK, 'What waits is the other processes\'. Use onIdle() before close().']

module.exports = { DRAIN, refuseUnsupported, unsupported }

/** Gives a class these members. They are not seen where its objects are listed, spread or printed. */
function refuseUnsupported (prototype) {
  for (const [name, [whose, hint]] of Object.entries(VALUES)) {
    const refuse = () => { throw unsupported(name, whose, hint) }
    Object.defineProperty(prototype, name, { get: refuse, set: refuse, enumerable: false, configurable: true })
  }
  for (const [name, [whose, hint]] of Object.entries(METHODS)) {
    const refuse = { [name] () { throw unsupported(`${name}()`, whose, hint) } }[name]
    Object.defineProperty(prototype, name, { value: refuse, enumerable: false, configurable: true, writable: true })
  }
}

/**
 * @param {string} member or a call of one
 * @param {string} whose which queues have it
 * @param {string} hint what to use here
 */
function unsupported (member, whose, hint) {
  return typeError('FAIRLANE_ERR_UNSUPPORTED', `queue.${member} is not there at a broker. ${whose} have it. ${hint}`)
}
