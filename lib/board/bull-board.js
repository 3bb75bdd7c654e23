'use strict'

// An adapter that shows a queue in bull-board: its jobs by their records in a history. What bull-board can do to a queue of BullMQ and has
// no meaning here throws.

const { typeError, rangeError, describe } = require('../arguments/errors')
const { hasMethods, readAll, readFlag, readPart, readText } = require('../arguments/fields')
const { supports } = require('../arguments/unsupported')
const { loadBaseAdapter } = require('./peer')
const { RecordedJobs } = require('./recorded-jobs')

const OPTION = 'FAIRLANE_ERR_OPTION'
const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'
const STATUSES = ['active', 'waiting', 'completed', 'failed', 'delayed']
const DELIMITER = ':' // between a queue and a tenant, by which bull-board groups them

const readers = {
  name: value => readText(value, 'name', OPTION),
  history: value => readHistory(value),
  type: value => value === undefined ? undefined : readText(value, 'type', OPTION),
  readOnly: (value = false) => readFlag(value, 'readOnly', OPTION)
}

let adapterClass // made when it is first needed

module.exports = { bullBoardQueue }

/**
 * @param {object} queue in memory or on disk
 * @param {{ name: string, history: object, type?: string, readOnly?: boolean }} options
 * @returns {object} for `createBullBoard({ queues: [ … ] })`
 * @throws FAIRLANE_ERR_PEER, FAIRLANE_ERR_ARGUMENT, FAIRLANE_ERR_OPTION
 */
function bullBoardQueue (queue, options) {
  if (!hasMethods(queue, ['push', 'pause', 'resume', 'clear', 'isTypePaused'])) {
    throw typeError(ARGUMENT, `bullBoardQueue: the queue must be one in memory or on disk, not ${describe(queue)}`)
  }
  const read = readAll(options, readers, OPTION)
  adapterClass ??= makeAdapterClass(loadBaseAdapter())
  return new adapterClass(queue, read) // eslint-disable-line new-cap
}

function makeAdapterClass (BaseAdapter) {
  return class FairlaneAdapter extends BaseAdapter {
    #name
    #queue
    #type // of a queue whose adapter shows one tenant
    #jobs

    constructor (queue, { name, history, type, readOnly }) {
      // to 'bullmq' bull-board speaks in more ways than an adapter has
      super('bull', {
        delimiter: DELIMITER,
        displayName: name,
        readOnlyMode: readOnly,
        allowRetries: supports(queue, ['retryDead']),
        allowCompletedRetries: false
      })
      this.#name = fitForAddress(name)
      this.#queue = queue
      this.#type = type
      this.#jobs = new RecordedJobs(queue, history, { name, type })
    }

    getName () {
      return this.#name
    }

    getStatuses () {
      return ['latest', ...STATUSES]
    }

    getJobStatuses () {
      return STATUSES
    }

    async getJobCounts () {
      return this.#jobs.counts()
    }

    async getJobs (statuses, start = 0, end = Infinity) {
      return this.#jobs.list(statuses, start, end)
    }

    async getJob (id) {
      return this.#jobs.get(id)
    }

    async getJobLogs (id) {
      return this.#jobs.logs(id)
    }

    async isPaused () {
      return this.#type === undefined ? this.#queue.paused : this.#queue.isTypePaused(this.#type)
    }

    async pause () {
      if (this.#type === undefined) this.#queue.pause()
      else this.#queue.pauseType(this.#type)
    }

    async resume () {
      if (this.#type === undefined) this.#queue.resume()
      else this.#queue.resumeType(this.#type)
    }

    /** Cancels what waits. */
    async empty () {
      this.#queue.clear({ type: this.#type })
    }

    async clean (status, graceMs) {
      if (status === 'wait') return this.empty()
      await this.#jobs.clean(status, graceMs)
    }

    /** null: there is none, or the queue is paused. */
    async getGlobalConcurrency () {
      const { concurrency } = this.#queue
      return this.#type === undefined && concurrency > 0 && concurrency !== Infinity ? concurrency : null
    }

    async setGlobalConcurrency (concurrency) {
      if (this.#type !== undefined) throw none('concurrency per type')
      if (!(concurrency > 0)) throw rangeError(ARGUMENT, 'The concurrency must be above 0; to stop the queue, pause it.')
      this.#queue.concurrency = concurrency
    }

    async getRedisInfo () {
      return null
    }

    async getMetrics () {
      throw none('metrics here: use fairlane/metrics')
    }

    async addJob () {
      throw none('way to add jobs here')
    }

    async obliterate () {
      throw none('way to remove the queue here')
    }

    async promoteAll () {
      throw none('way to promote jobs')
    }

    async getJobSchedulers () {
      return []
    }

    async getJobSchedulersCount () {
      return 0
    }

    async removeJobScheduler () {
      return false
    }

    async updateJobScheduler () {
      return 'not-found'
    }

    async runJobSchedulerNow () {
      return 'not-found'
    }
  }
}

/**
 * bull-board decodes names in addresses more often than it encodes them: none may have a %, which becomes its wide form, nor half a
 * character.
 */
function fitForAddress (name) {
  return name.toWellFormed().replaceAll('%', '\uFF05')
}

function none (what) {
  return typeError(ARGUMENT, `A fairlane queue has no ${what}.`)
}

function readHistory (value) {
  return readPart(value, ['list', 'versions', 'counts'], 'history must be a History of the queue (fairlane/history)', OPTION)
}
