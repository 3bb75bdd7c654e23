'use strict'

// The calls that store jobs: their keys and arguments, and what their answers say. Pushes of several types in one turn share a call
// (docs/decisions/0213-pushes-of-a-turn.md).

const { isPassing } = require('./failures')
const { byPartition, inGroups } = require('./groups')
const { NO_LIMIT } = require('./received')
const { KEYS_TO_PUSH } = require('./scripts/push')

const REMEMBERED_MS = 10000 // beside the time for which a push is made again
const MOST_JOBS = 1000 // in one call
const MOST_CHARS = 2 ** 22

class Pushes {
  /**
   * @param {{ broker: object }} parts
   * @param {{ token: string, pushTimeoutMs: number, priorityMs: number | undefined }} options token: what this process is called
   */
  constructor ({ broker }, { token, pushTimeoutMs, priorityMs = '' }) {
    this.broker = broker
    this.token = token
    this.rememberedMs = pushTimeoutMs + REMEMBERED_MS
    this.priorityMs = priorityMs
    this.count = 0
    this.gathered = [] // of this turn
  }

  /** @returns {number} of a push: one that is made again has the same */
  next () {
    return ++this.count
  }

  /**
   * Stores jobs of a type, all or none.
   * @param {object} place
   * @param {{ name: string, data: string, opts: string, plan: string }[]} jobs as entryOf() gives them
   * @param {number} number as of next()
   * @returns {Promise<[string, number][]>} of each the name of the job that it is, or shares, and 0; 1 if that is another one; 2 if that
   *   has ended
   */
  push (place, jobs, number) {
    return new Promise((resolve, reject) => {
      if (this.gathered.length === 0) queueMicrotask(() => this.sendAll())
      this.gathered.push({ place, jobs, number, resolve, reject })
    })
  }

  /**
   * Stores jobs of several types of a partition, all or none.
   * @param {{ place: object, jobs: object[] }[]} groups jobs: as of push()
   * @param {number} number as of next()
   * @returns {Promise<[string, number][][]>} of each group as of push()
   */
  pushAll (groups, number) {
    const [{ place: { partition } }] = groups
    const keys = [partition.limits, partition.key(`pushed:${this.token}.${number}`)]
    const args = [this.rememberedMs, this.priorityMs]
    for (const { place, jobs } of groups) {
      keys.push(...place.keysOf(KEYS_TO_PUSH), ...recordsOf(place, jobs))
      args.push(place.key(''), jobs.length, ...argumentsOf(jobs))
    }
    return this.broker.client.fairlanePushAll(keys.length, ...keys, ...args)
  }

  /** A dead letter waits again. @returns {Promise<boolean>} false if there is none, or its key is taken */
  async retry (place, name) {
    const keys = [...place.keysOf(KEYS_TO_PUSH), place.partition.limits, place.key('failed'), place.key(name)]
    return await this.broker.client.fairlaneRetry(...keys, place.key(''), name) === 1
  }

  // private from here on

  sendAll () {
    for (const pushes of byPartition(this.gathered.splice(0))) {
      for (const some of inGroups(pushes, 1, shareOf)) this.send(some)
    }
  }

  /** @param {object[]} pushes of one partition */
  async send (pushes) {
    const [{ place: { partition } }] = pushes
    const keys = [partition.limits]
    const args = [this.rememberedMs, this.priorityMs]
    for (const { place, jobs, number } of pushes) {
      keys.push(...place.keysOf(KEYS_TO_PUSH), partition.key(`pushed:${this.token}:${place.name}`), ...recordsOf(place, jobs))
      args.push(place.key(''), number, jobs.length, ...argumentsOf(jobs))
    }
    try {
      const answers = await this.broker.client.fairlanePush(keys.length, ...keys, ...args)
      pushes.forEach(({ resolve, reject }, at) => {
        if (typeof answers[at] === 'string') reject(new Error(answers[at]))
        else resolve(answers[at])
      })
    } catch (err) {
      // it may be one of them that is refused
      if (pushes.length > 1 && !isPassing(err)) for (const push of pushes) this.send([push])
      else for (const { reject } of pushes) reject(err)
    }
  }
}

/** @returns {number} how much of a call jobs take, of 1 */
function shareOf ({ jobs }) {
  return jobs.length / MOST_JOBS + jobs.reduce((sum, { data }) => sum + data.length, 0) / MOST_CHARS
}

function recordsOf (place, jobs) {
  return jobs.map(({ name }) => place.key(name))
}

function argumentsOf (jobs) {
  return jobs.flatMap(({ name, data, opts, plan }) => [name, data, opts, plan])
}

/**
 * A job as it is pushed.
 * @param {{ jobName: string, data: string, delayMs: number, unshift: boolean, plan?: object, inbox?: string, opts?: object }} job plan: its
 *   priority, cost, key and what goes with that; inbox: who waits for the result of one with a key; opts: what else is kept of it
 * @returns {{ name: string, data: string, opts: string, plan: string }}
 */
function entryOf ({ jobName: name, data, delayMs, unshift, plan, inbox, opts }) {
  if (!(delayMs > 0) && !unshift && plan === undefined && opts === undefined) return { name, data, opts: '{}', plan: '' }
  const { key, keyUntil, onDuplicate, maxDelayMs, priority, cost } = plan ?? {}
  const kept = { ...opts }
  if (unshift) kept.lifo = true
  if (delayMs > 0) kept.delay = delayMs
  if (priority > 0) kept.priority = priority
  const maxWaitMs = opts?.maxWaitMs < NO_LIMIT ? opts.maxWaitMs : undefined
  const isDelayed = delayMs > 0 || plan?.delayMs !== undefined
  const said = { delayMs: isDelayed ? delayMs : undefined, maxWaitMs, front: unshift || undefined, priority, cost }
  if (key !== undefined) {
    Object.assign(said, { key, keyUntil, onDuplicate, maxDelayMs: maxDelayMs === Infinity ? undefined : maxDelayMs, inbox })
  }
  return { name, data, opts: JSON.stringify(kept), plan: JSON.stringify(said) }
}

module.exports = { MOST_CHARS, MOST_JOBS, Pushes, entryOf }
