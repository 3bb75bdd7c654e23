'use strict'

// What only queues in memory or at a broker have.

const { refuseMembers } = require('../arguments/unsupported')

const MEMORY = 'Queues in memory'
const BROKER = 'Queues at a broker'
const ONE = 'Only one process has the folder open:'

// method → which queues have it, and what to use here
const METHODS = {
  acquire: [MEMORY, 'Use add(): its runner holds the slot until it ends.'],
  run: [MEMORY, 'Use add(), with the code in the runner.'],
  announce: [BROKER, `${ONE} use push() or pushType().`],
  health: [BROKER, 'Listen to the events outage and outageover, or use counts().'],
  pauseGlobal: [BROKER, `${ONE} use pause() or pauseType().`],
  resumeGlobal: [BROKER, `${ONE} use resume() or resumeType().`],
  setGlobalConcurrency: [BROKER, `${ONE} use concurrency.`],
  setGlobalCap: [BROKER, `${ONE} use configure({ typeCaps }) of the scheduler.`]
}

module.exports = {
  names: Object.keys(METHODS),

  /** Gives a class these members. */
  refuseUnsupported: prototype => refuseMembers(prototype, 'on disk', METHODS)
}
