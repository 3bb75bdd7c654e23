'use strict'

// What can be done to a queue by its page.

const { typeError, describe } = require('../arguments/errors')
const { hasMethods } = require('../arguments/fields')
const { supports } = require('../arguments/unsupported')
const { isAtBroker } = require('./options')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

// by name: what it is given, whether a queue can do it, and how it is done
const ACTIONS = new Map(Object.entries({
  pauseType: { of: 'type', fits: canPauseTypes, act: (queue, type) => { queue.pauseType(type) } },
  resumeType: { of: 'type', fits: canPauseTypes, act: (queue, type) => { queue.resumeType(type) } },
  clearType: { of: 'type', fits: hasTypes, act: (queue, type) => queue.clear({ type }) },
  pause: { of: 'queue', fits: isHere, act: queue => { queue.pause() } },
  resume: { of: 'queue', fits: isHere, act: queue => { queue.resume() } },
  pauseGlobal: { of: 'type', fits: isAtBroker, act: (queue, type) => queue.pauseGlobal(type) },
  resumeGlobal: { of: 'type', fits: isAtBroker, act: (queue, type) => queue.resumeGlobal(type) },
  retryDead: { of: 'id', fits: queue => supports(queue, ['retryDead']), act: (queue, id) => queue.retryDead(id) },
  deleteDead: { of: 'id', fits: queue => supports(queue, ['deleteDead']), act: (queue, id) => queue.deleteDead(id) }
}))

module.exports = { act, actionsOf }

/** @returns {string[]} the names of those that a queue can do */
function actionsOf (queue) {
  return [...ACTIONS].filter(([, { fits }]) => fits(queue)).map(([name]) => name)
}

/**
 * @param {object} queue
 * @param {{ action: string, type?: string, id?: number | string }} request not checked
 * @returns {Promise<boolean | number>} false: there is no such job; a number: how many were cancelled; rejects with FAIRLANE_ERR_ARGUMENT,
 *   and what the queue throws
 */
async function act (queue, { action, type, id }) {
  const known = ACTIONS.get(action)
  if (known === undefined || !known.fits(queue)) {
    throw typeError(ARGUMENT, `action must be one of ${actionsOf(queue).join(', ')}, not ${describe(action)}`)
  }
  if (known.of === 'type' && typeof type !== 'string') throw typeError(ARGUMENT, `${action}: type must be a string, not ${describe(type)}`)
  if (known.of === 'id' && typeof id !== 'number' && typeof id !== 'string') {
    throw typeError(ARGUMENT, `${action}: id must be that of a job, not ${describe(id)}`)
  }
  return await known.act(queue, known.of === 'type' ? type : id) ?? true
}

function isHere (queue) {
  return !isAtBroker(queue)
}

function hasTypes (queue) {
  return isHere(queue) && queue.scheduler !== null
}

function canPauseTypes (queue) {
  return hasTypes(queue) && hasMethods(queue.scheduler, ['next', 'paused', 'resumed'])
}
