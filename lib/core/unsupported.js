'use strict'

// What queues on disk and at a broker have, and queues in memory have not: jobs have no ids there, and nothing survives the process.

const { refuseMembers } = require('../arguments/unsupported')

const KEPT = 'Queues on disk and at a broker'
const DISK = 'Queues on disk'
const BROKER = 'Queues at a broker'
const NO_IDS = 'Jobs in memory have no ids:'
const NO_DEAD = 'A queue in memory does not keep failed jobs: use the callback, the promise or the event failed.'
const NO_SCHEDULES = 'A schedule in memory would not survive the process: use a timer and push().'
const ALL = 'A queue in memory has this process only:'

// member → which queues have it, and what to use here
const VALUES = {
  recovered: [DISK, 'A queue in memory has nothing to recover: use counts().']
}
const METHODS = {
  diskBytes: [DISK, 'Use counts().'],
  announce: [BROKER, `${ALL} use push().`],
  pushAll: [KEPT, 'Use push() for each job.'],
  get: [KEPT, `${NO_IDS} use jobs(), or fairlane/history.`],
  cancel: [KEPT, `${NO_IDS} use the signal of add(), or remove().`],
  listRunning: [KEPT, `${NO_IDS} use types(), or fairlane/history.`],
  wait: [KEPT, `${NO_IDS} use the promise of add().`],
  deadLetters: [KEPT, NO_DEAD],
  retryDead: [KEPT, NO_DEAD],
  deleteDead: [KEPT, NO_DEAD],
  setSchedule: [KEPT, NO_SCHEDULES],
  runSchedule: [KEPT, NO_SCHEDULES],
  pauseSchedule: [KEPT, NO_SCHEDULES],
  resumeSchedule: [KEPT, NO_SCHEDULES],
  listSchedules: [KEPT, NO_SCHEDULES],
  health: [BROKER, 'A queue in memory has no broker that could be down: use counts().'],
  pauseGlobal: [BROKER, `${ALL} use pause().`],
  resumeGlobal: [BROKER, `${ALL} use resume().`],
  setGlobalConcurrency: [BROKER, `${ALL} use concurrency.`],
  setGlobalCap: [BROKER, `${ALL} use configure({ typeCaps }) of the scheduler.`]
}

module.exports = {
  names: [...Object.keys(METHODS), ...Object.keys(VALUES)],

  /** Gives a class these members. */
  refuseUnsupported: prototype => refuseMembers(prototype, 'in memory', METHODS, VALUES)
}
