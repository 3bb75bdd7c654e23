'use strict'

// Options of calls that only queues have whose jobs are kept elsewhere than in memory.

const { readAll, readPositiveCount, readSignal } = require('../arguments/fields')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const MOST_LISTED = 1000 // where nothing is said

const waitReaders = {
  signal: value => value === undefined ? undefined : readSignal(value, ARGUMENT)
}

module.exports = { readDeadLettersOptions, readRunningOptions, readWaitOptions }

/**
 * @param {any} options of deadLetters()
 * @param {{ readType: (type: any) => any, readId: (id: any, what: string) => any }} readers of what engines write down differently
 * @returns {{ type: any, limit: number, after: any }} @throws FAIRLANE_ERR_ARGUMENT, and what the readers do
 */
function readDeadLettersOptions (options, { readType, readId }) {
  return readAll(options, {
    type: value => value === undefined ? undefined : readType(value),
    limit: (value = MOST_LISTED) => readPositiveCount(value, 'limit', ARGUMENT),
    after: value => value === undefined ? undefined : readId(value, 'deadLetters: after')
  }, ARGUMENT, 'deadLetters: the options')
}

/** As readDeadLettersOptions(), of listRunning(). @returns {{ type: any, limit: number }} */
function readRunningOptions (options, readType) {
  return readAll(options, {
    type: value => value === undefined ? undefined : readType(value),
    limit: (value = MOST_LISTED) => readPositiveCount(value, 'limit', ARGUMENT)
  }, ARGUMENT, 'listRunning: the options')
}

/** @returns {{ signal: AbortSignal | undefined }} @throws FAIRLANE_ERR_ARGUMENT */
function readWaitOptions (options) {
  return readAll(options, waitReaders, ARGUMENT, 'wait: the options')
}
