'use strict'

// Whose queues are shown, read once.

const { typeError, describe } = require('../arguments/errors')
const {
  checkObject, entriesOf, hasMethods, readAll, readFields, readFlag, readFunction, readPart, readText, rejectUnknown
} = require('../arguments/fields')
const { supports } = require('../arguments/unsupported')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const QUEUE_METHODS = ['pushType', 'pause', 'resume', 'stats', 'types']
const BROKER_METHODS = ['types', 'counts', 'pauseGlobal', 'resumeGlobal']

const readers = {
  name: value => value === undefined ? undefined : readText(value, 'name', OPTION),
  metrics: value => value === undefined ? undefined : readPart(value, ['snapshot'], 'metrics must be Metrics (fairlane/metrics)', OPTION),
  history: value => value === undefined ? undefined : readPart(value, ['list'], 'history must be a History (fairlane/history)', OPTION),
  readOnly: (value = false) => readFlag(value, 'readOnly', OPTION),
  showPayloads: (value = false) => readFlag(value, 'showPayloads', OPTION),
  onAction: value => value === undefined ? undefined : readFunction(value, 'onAction', OPTION)
}

const ENTRY_NAMES = ['queue', ...Object.keys(readers)]

module.exports = { readQueues, isAtBroker }

/**
 * @param {any[]} args `queue, options`, or an object of those by name
 * @returns {{ name: string, queue: object, metrics: object | undefined, history: object | undefined, readOnly: boolean,
 *   showPayloads: boolean, onAction: Function | undefined }[]}
 * @throws FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
function readQueues (args) {
  const [first, options] = args
  if (hasMethods(first, QUEUE_METHODS)) return [readOne(first, options)]
  if (typeof first !== 'object' || first === null) {
    throw typeError(ARGUMENT, `board: the first argument must be a queue, or an object of queues by name, not ${describe(first)}`)
  }
  if (options !== undefined) throw typeError(OPTION, 'board: of several queues each has its own options: board({ mails: { queue, metrics }, … })')
  const queues = entriesOf(first, 'the object of queues', ARGUMENT).map(([name, entry]) => {
    checkObject(entry, `board: ${describe(name)}`, ARGUMENT)
    const { queue, ...rest } = readFields(entry, ENTRY_NAMES, ARGUMENT)
    if (!hasMethods(queue, QUEUE_METHODS)) throw typeError(ARGUMENT, `board: ${describe(name)} must be an object with its queue: { queue, metrics }`)
    rejectUnknown(entry, ENTRY_NAMES, OPTION)
    return readOne(queue, { name, ...rest })
  })
  if (queues.length > 0) return queues
  throw typeError(ARGUMENT, 'board: the object must hold at least one queue')
}

/** Whether a queue's jobs are at a broker, where other processes have their part in them. */
function isAtBroker (queue) {
  return supports(queue, BROKER_METHODS)
}

function readOne (queue, options) {
  const { name, metrics, ...rest } = readAll(options, readers, OPTION)
  return { name: name ?? metrics?.snapshot().name ?? 'default', queue, metrics, ...rest }
}
