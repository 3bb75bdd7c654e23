'use strict'

// What can be done to a queue by its page. Each action is told to `onAction` before it is done: what that throws keeps it from being done.

const { typeError, describe } = require('../arguments/errors')
const { hasMethods } = require('../arguments/fields')
const { supports } = require('../arguments/unsupported')
const { sweep } = require('./dead-letters')
const { isAtBroker } = require('./options')
const { takesCaps, takesWeights } = require('../../schedulers/shares')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

// what an action may be given: by name, whether a value is fit for it
const FIELDS = {
  type: value => typeof value === 'string',
  id: value => typeof value === 'number' || typeof value === 'string',
  schedule: value => typeof value === 'string',
  ms: value => Number.isFinite(value) && value >= 0,
  cap: value => value === null || (Number.isInteger(value) && value >= 0),
  weight: value => Number.isFinite(value) && value > 0,
  error: value => typeof value === 'string',
  after: value => typeof value === 'number' || typeof value === 'string',
  before: value => Number.isFinite(value)
}

const SWEPT = ['type?', 'error?', 'after?', 'before?']

// by name: what it is given, of which some may be left out; whether a queue can do it; and how it is done
const ACTIONS = new Map(Object.entries({
  pause: { given: [], fits: isHere, act: queue => { queue.pause() } },
  resume: { given: [], fits: isHere, act: queue => { queue.resume() } },
  pauseType: { given: ['type'], fits: canHoldTypes, act: (queue, { type }) => { queue.pauseType(type) } },
  resumeType: { given: ['type'], fits: canHoldTypes, act: (queue, { type }) => { queue.resumeType(type) } },
  pauseGlobal: { given: ['type?'], fits: isAtBroker, act: (queue, { type }) => queue.pauseGlobal(type) },
  resumeGlobal: { given: ['type?'], fits: isAtBroker, act: (queue, { type }) => queue.resumeGlobal(type) },
  hold: { given: ['ms'], fits: queue => supports(queue, ['hold']), act: async (queue, { ms }) => { await queue.hold(ms) } },
  holdType: { given: ['type', 'ms'], fits: mayHoldTypes, act: async (queue, { type, ms }) => { await queue.holdType(type, ms) } },
  clearType: { given: ['type'], fits: hasTypes, act: (queue, { type }) => queue.clear({ type }) },
  setCap: { given: ['type', 'cap'], fits: canSetCaps, act: setCap },
  setWeight: { given: ['type', 'weight'], fits: canSetWeights, act: setWeight },
  cancel: { given: ['id'], fits: queue => supports(queue, ['cancel']), act: (queue, { id }) => queue.cancel(id) },
  retryDead: { given: ['id'], fits: keepsDead, act: (queue, { id }) => queue.retryDead(id) },
  deleteDead: { given: ['id'], fits: keepsDead, act: (queue, { id }) => queue.deleteDead(id) },
  retryDeadOf: { given: SWEPT, fits: keepsDead, act: (queue, asked) => sweep(queue, id => queue.retryDead(id), asked) },
  deleteDeadOf: { given: SWEPT, fits: keepsDead, act: (queue, asked) => sweep(queue, id => queue.deleteDead(id), asked) },
  runSchedule: { given: ['schedule'], fits: canRunSchedules, act: (queue, { schedule }) => queue.runSchedule(schedule) },
  pauseSchedule: { given: ['schedule'], fits: canPauseSchedules, act: (queue, { schedule }) => queue.pauseSchedule(schedule) },
  resumeSchedule: { given: ['schedule'], fits: canPauseSchedules, act: (queue, { schedule }) => queue.resumeSchedule(schedule) }
}))

module.exports = { act, actionsOf }

/** @returns {string[]} the names of those that a queue can do */
function actionsOf (queue) {
  return [...ACTIONS].filter(([, { fits }]) => fits(queue)).map(([name]) => name)
}

/**
 * @param {{ name: string, queue: object, onAction: Function | undefined }} one
 * @param {object} asked `action`, and what that is given; not checked
 * @param {object} request of HTTP
 * @returns {Promise<any>} false: there is no such job or schedule; a number: how many were cancelled, or the id of a job that was pushed;
 *   rejects with FAIRLANE_ERR_ARGUMENT, and with what onAction and the queue throw
 */
async function act ({ name, queue, onAction }, asked, request) {
  const { action } = asked
  const known = ACTIONS.get(action)
  if (known === undefined || !known.fits(queue)) {
    throw typeError(ARGUMENT, `action must be one of ${actionsOf(queue).join(', ')}, not ${describe(action)}`)
  }
  const given = Object.fromEntries(known.given.map(field => readField(action, field, asked)))
  await onAction?.({ action, queue: name, ...given, request })
  return await known.act(queue, given) ?? true
}

/** @param {string} field its name, and a question mark if it may be left out @returns {[string, any]} */
function readField (action, field, asked) {
  const [name, mark] = field.split(/(?=\?)/)
  const value = asked[name]
  if ((value === undefined && mark === '?') || FIELDS[name](value)) return [name, value]
  throw typeError(ARGUMENT, `${action}: ${describe(value)} is not a valid ${name}`)
}

function isHere (queue) {
  return !isAtBroker(queue)
}

function hasTypes (queue) {
  return isAtBroker(queue) || queue.scheduler !== null
}

function canHoldTypes (queue) {
  return isHere(queue) && hasMethods(queue.scheduler, ['next', 'paused', 'resumed'])
}

function mayHoldTypes (queue) {
  return supports(queue, ['holdType']) && (isAtBroker(queue) || canHoldTypes(queue))
}

function keepsDead (queue) {
  return supports(queue, ['deadLetters', 'retryDead', 'deleteDead'])
}

function canRunSchedules (queue) {
  return supports(queue, ['listSchedules', 'runSchedule'])
}

function canPauseSchedules (queue) {
  return supports(queue, ['listSchedules', 'pauseSchedule', 'resumeSchedule'])
}

function canSetCaps (queue) {
  return supports(queue, ['setGlobalCap']) || (isHere(queue) && takesCaps(queue.scheduler))
}

function canSetWeights ({ scheduler }) {
  return takesWeights(scheduler)
}

function setCap (queue, { type, cap }) {
  const number = cap ?? Infinity
  if (isAtBroker(queue)) return queue.setGlobalCap(type, number)
  queue.scheduler.configure({ typeCaps: new Map([[type, number]]) })
}

function setWeight ({ scheduler }, { type, weight }) {
  scheduler.configure({ weights: new Map([[type, weight]]) })
}
