'use strict'

// HOT (bench: distributed). Calls that take jobs, and that end them: their keys and arguments, and what their answers say.

const { COST, isCost } = require('../../job/cost')
const { countOf, dueAtOf, jsonOf } = require('./received')
const { KEYS_TO_END } = require('./scripts/end')
const { KEYS_TO_LOOK, KEYS_TO_TAKE } = require('./scripts/take')
const { AMPLE_SLACK_MS, FOR_LATE_STARTS, FOR_STARTS, SLOW } = require('./slack')

const NOBODY = Object.freeze([])
const MOST_TRIES = 3 // of a call, while what limits all processes changes

/** What the broker says to a process that asks for a job. */
class Answer {
  /** @param {any[]} raw as scripts/take.js says  @param {number} sentAt when the call was sent, by performance.now() */
  constructor ([fields, name, waitMs, dueInMs, generation, startMs, isStale, isLater, inboxes = '', takenAt = '', isDry], sentAt) {
    this.job = fields === 0 ? undefined : recordOf(fields, takenAt)
    this.name = name
    this.waitMs = waitMs // nothing more can be had for so long
    this.isLater = isLater === 1 // ... and other processes ask first then
    this.dueInMs = dueInMs // the next delayed job is due in so long; 0: there is none
    this.generation = generation
    this.isShort = startMs > 0 && startMs < AMPLE_SLACK_MS // it must start soon
    this.startBy = startBy(startMs, sentAt) // by performance.now()
    this.isStale = isStale === 1 // this process knows another generation of the limits, and gets no job
    this.isDry = isDry === 1 // nothing waits behind it, and whoever pushes tells of the type
    this.inboxes = inboxes === '' ? NOBODY : inboxes.split(',') // processes that wait for the result of the job with a key that has ended
    this.sentAt = sentAt
  }
}

class Takes {
  /**
   * @param {{ broker: object, starts: object }} parts starts: is told when limits have changed
   * @param {{ token: string, leaseMs: number }} options token: what this process is called, which its locks carry
   */
  constructor ({ broker, starts }, { token, leaseMs }) {
    this.broker = broker
    this.starts = starts
    this.token = token
    this.leaseMs = leaseMs
    this.spending = new Map() // job → what its runner has said in this turn that it has cost
  }

  /** @returns {Promise<Answer | undefined>} undefined while what limits all processes changes again and again */
  async take (place) {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const sentAt = performance.now()
      const raw = await this.broker.client.fairlaneTake(...keysToTake(place), ...this.common(place))
      const answer = new Answer(raw, sentAt)
      await this.notice(place, answer)
      if (!answer.isStale) return answer
    }
    return undefined
  }

  /** @param {object[]} places of one partition @returns {Promise<number[]>} in how many ms jobs of each may start by the rates of types */
  look (places) {
    const keys = [...keysToTake(places[0]), ...places.flatMap(place => place.keysOf(KEYS_TO_LOOK))]
    return this.broker.client.fairlaneLook(keys.length, ...keys, ...this.common(places[0]), ...places.map(({ name }) => name))
  }

  /** A job has waited here for longer than it might. @returns {Promise<boolean>} whether it may start all the same */
  async mayStart (job) {
    const sentAt = performance.now()
    const startMs = await this.broker.client.fairlaneAgain(...keysToTake(job.place), ...this.common(job.place), job.name)
    job.startBy = startBy(startMs, sentAt)
    return startMs >= 0
  }

  /**
   * The runner of a job says what that has cost so far. The last word of a turn is sent, in a microtask, and so before the end of the job.
   * @param {number} units
   */
  spent (job, units) {
    if (this.spending.size === 0) queueMicrotask(() => this.tellSpent())
    this.spending.set(job, units)
  }

  /**
   * Ends a job, or an attempt.
   * @param {{ name: string, place: object, json: object }} job
   * @param {string} kind as that of an Ending
   * @param {{ value?: string, ms?: number, isWanted?: boolean, fields?: object }} what as scripts/end.js says
   * @param {object} [taker] place of the type of which the next job is taken, in the same partition
   * @returns {Promise<Answer>} rejects with an error whose code is a number, if the job is not this process's
   */
  async end ({ name, place, json: { attemptsStarted } }, kind, { value = '', ms = 0, isWanted = false, fields }, taker) {
    const sentAt = performance.now()
    const ofJob = ['', ':lock', ':logs', ':result'].map(what => place.key(`${name}${what}`))
    const keys = [...keysToTake(place), ...place.keysOf(KEYS_TO_END), ...ofJob]
    const isOther = taker !== undefined && taker !== place
    if (isOther) keys.push(...taker.keysOf(KEYS_TO_TAKE))
    const told = [kind, name, attemptsStarted, taker === undefined ? 0 : 1, value, ms, isWanted ? 1 : 0, isOther ? taker.name : '']
    if (fields !== undefined) told.push(...Object.entries(fields).flat())
    const raw = await this.broker.client.fairlaneEnd(keys.length, ...keys, ...this.common(place), ...told)
    if (typeof raw === 'number') throw Object.assign(new Error(`This process does not hold the job ${name} (${raw})`), { code: raw })
    return new Answer(raw, sentAt)
  }

  /** @returns {Promise<void> | undefined} resolves when what the answer says of limits is heeded */
  notice ({ partition }, { generation }) {
    return generation === partition.generation ? undefined : this.starts.noticed(partition, generation)
  }

  // private from here on

  tellSpent () {
    const { broker } = this
    for (const [job, units] of this.spending) {
      const { name, place, json: { attemptsStarted }, supply } = job
      const args = [...this.common(place), name, attemptsStarted, units, 'PUBLISH', place.partition.wake]
      // what is lost stays charged as it was
      broker.client.fairlaneSpent(...keysToTake(place), ...args).then(isFree => { if (isFree === 1) supply.askAgain() }, ignore)
    }
    this.spending.clear()
  }

  common (place) {
    return [place.key(''), place.name, this.token, this.leaseMs, place.partition.generation]
  }
}

/** The keys of all scripts that begin as a take does. */
function keysToTake (place) {
  return [...place.keysOf(KEYS_TO_TAKE), place.partition.limits, place.partition.ready]
}

/** @returns {number | undefined} undefined: nothing was said of it, and no rate counts it */
function costIn (text, isCharged) {
  if (text === null) return isCharged ? COST : undefined
  const cost = Number(text)
  return isCost(cost) ? cost : COST // which the broker takes it for, too
}

function ignore () {}

/** By performance.now(), when the answer has come. @param {number} startMs 0: at any time */
function startBy (startMs, sentAt) {
  if (startMs === 0) return Infinity
  const isLate = startMs >= AMPLE_SLACK_MS || performance.now() - sentAt > SLOW * startMs
  return sentAt + (isLate ? FOR_LATE_STARTS : FOR_STARTS) * startMs
}

/** What is read of a record, which another program may have written. */
function recordOf ([data, optsText, due, pushedAt, failuresCount, startsCount, stallsCount, cost, charged, key], takenAt) {
  const timestamp = Number(pushedAt ?? NaN)
  const opts = optsText === '{}' ? {} : Object(jsonOf(optsText ?? '{}'))
  return {
    data: data ?? '{}',
    opts,
    dueAt: dueAtOf(Number(due), timestamp, opts),
    takenAt: countOf(Number(takenAt)),
    attemptsMade: countOf(Number(failuresCount)),
    attemptsStarted: countOf(Number(startsCount)),
    stalledCounter: countOf(Number(stallsCount)),
    cost: costIn(cost, charged !== null),
    hasKey: key !== null // others may wait for its result
  }
}

module.exports = { Answer, Takes, keysToTake }
