'use strict'

// What queues in memory or on disk have, and queues at a broker have not: no process there has a view of all that waits. It is refused, and
// not undefined.

const { refuseMembers, unsupported } = require('../arguments/unsupported')

const WHERE = 'at a broker'
const MEMORY = 'Queues in memory'
const DISK = 'Queues on disk'
const MEMORY_AND_DISK = 'Queues in memory and on disk'

// member → which queues have it, and what to use here
const VALUES = {
  length: [MEMORY_AND_DISK, 'Use waiting and running of counts().'],
  waiting: [MEMORY_AND_DISK, 'Use counts().'],
  drain: [MEMORY_AND_DISK, 'Use onIdle().'],
  recovered: [DISK, 'Use counts() and health().']
}
const METHODS = {
  acquire: [MEMORY, 'Use add(): its runner holds the slot until it ends.'],
  diskBytes: [DISK, 'Use counts(), and the command INFO for the memory of the broker.'],
  fflush: [MEMORY_AND_DISK, 'Use onIdle(), or flush() to wait until pushes are stored.'],
  jobs: [MEMORY_AND_DISK, 'Use get(id), counts(), types() and deadLetters().'],
  ready: [MEMORY_AND_DISK, 'Use counts(), or maxWaitingPerType: its error says in retryAfterMs when to push again.'],
  remove: [MEMORY_AND_DISK, 'Use cancel(id) or clear({ type }).'],
  run: [MEMORY, 'Use add(), with the code in the runner.']
}

// What close() is not asked for.
const DRAIN = [MEMORY_AND_DISK, 'Waiting jobs belong to the other processes, too. Use onIdle() before close().']

module.exports = {
  DRAIN,

  /** Gives a class these members. */
  refuseUnsupported: prototype => refuseMembers(prototype, WHERE, METHODS, VALUES),

  /** An error of what a call cannot do here, as there. */
  unsupported: (member, whose, hint) => unsupported(WHERE, member, whose, hint)
}
