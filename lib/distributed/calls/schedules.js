'use strict'

// Schedules: what calls and options say of them. Each process that has any looks, in turn with the others, whether their times have come
// (timer.js). Times are those of the broker's clock.

const { rangeError, describe } = require('../../arguments/errors')
const { Calendars, NEVER, timesOf } = require('../../job/schedule-times')
const { isCost } = require('../../job/cost')
const { byPartition } = require('../broker/groups')
const { jsonOf } = require('../broker/received')
const scripts = require('../broker/scripts/schedules')
const { JobNames } = require('../names')
const { Timer } = require('./timer')

const DEFINITION = 'd:'
const KIND = 'r' // names of jobs that are pushed by hand begin with it

/** A schedule, and how far it is. */
class Schedule {
  constructor (name, text, since, place, { cron, timezone, everyMs, data, catchUp, overlap, priority, cost, paused }) {
    this.name = name
    this.text = text
    this.since = since // when it became what it is, in ms since 1970
    this.place = place
    this.when = { cron, timezone, everyMs }
    this.data = data // of its jobs
    this.catchUp = catchUp
    this.overlap = overlap
    this.priority = priority
    this.cost = isCost(cost) ? cost : undefined // undefined: nothing is said of it
    this.paused = paused === true
    this.times = this.paused ? NEVER : undefined
    this.state = '' // how far it is, as the broker has it
    this.doneUntil = since // times up to this one are dealt with
    this.lastAt = undefined // the last one whose job was pushed
    this.lastJob = undefined // its name
  }

  /** @param {string} state as stateOf() has it; '': no time has come yet */
  become (state) {
    const [doneUntil, lastAt = '', lastJob = ''] = state.split(',')
    this.state = state
    this.doneUntil = Math.max(this.since, Number(doneUntil) || 0)
    this.lastAt = lastAt === '' ? undefined : Number(lastAt)
    this.lastJob = lastJob === '' ? undefined : lastJob
  }

  get nextAt () {
    return this.times.after(this.doneUntil)
  }
}

class Schedules {
  /**
   * @param {{ broker: object, intake: object, records: object }} parts
   * @param {{ token: string, serialize: { encode: (payload: any, inbox: undefined) => string } }} options
   */
  constructor (parts, { token, serialize }) {
    this.broker = parts.broker
    this.intake = parts.intake
    this.names = new JobNames(token, KIND)
    this.serialize = serialize
    this.key = `{fairlane:${this.broker.name}}:.schedules`
    for (const [name, script] of Object.entries(scripts)) this.broker.client.defineCommand(name, script)
    this.calendars = new Calendars()
    this.given = [] // what the option says: names and texts
    this.timer = new Timer(this, parts, { token, key: `{fairlane:${this.broker.name}}:.timer` })
  }

  /** Writes what the option says, where that is not what it said when the queue was opened last. @param {object[]} schedules read */
  async open (schedules) {
    this.given = schedules.flatMap(schedule => [schedule.name, this.textOf(schedule)])
    await this.write()
    this.timer.begin()
  }

  /** What the option says is there again, if the broker came back empty. */
  async write () {
    if (this.given.length > 0) await this.broker.soon(() => this.broker.client.fairlaneDefine(this.key, 'o', ...this.given))
  }

  /** @param {object} schedule read */
  async set (schedule) {
    const text = this.textOf(schedule)
    await this.broker.soon(() => this.broker.client.fairlaneDefine(this.key, 'd', schedule.name, text))
    this.timer.begin()
    await this.timer.changed()
  }

  /** Jobs that it has pushed stay. */
  async remove (name) {
    const schedule = (await this.all()).find(schedule => schedule.name === name)
    if (schedule === undefined) return
    await this.broker.soon(() => this.broker.client.fairlaneDefine(this.key, 'd', name, ''))
    await this.broker.soon(() => this.broker.client.hdel(schedule.place.partition.times, name))
    await this.timer.changed()
  }

  /** A schedule pushes nothing at its times, or does again: those between are over. */
  async pause (name, paused) {
    const { text } = await this.named(name, paused ? 'pauseSchedule' : 'resumeSchedule')
    const said = JSON.stringify({ ...jsonOf(text), paused: paused || undefined })
    await this.broker.soon(() => this.broker.client.fairlaneDefine(this.key, 'd', name, said))
    this.timer.begin()
    await this.timer.changed()
  }

  /** Pushes a job of a schedule now; its times stay as they are. @returns {Promise<string>} its id */
  async run (name) {
    const { place, data, priority, cost } = await this.named(name, 'runSchedule')
    const jobName = this.names.next()
    const limits = { schedule: { name, time: await this.timer.now() } }
    const plan = priority > 0 || cost !== undefined ? { priority, cost } : undefined
    await this.intake.push(place, { jobName, data, delayMs: 0, unshift: false, limits, plan })
    return place.idOf(jobName)
  }

  /** @returns {Promise<{ name: string, nextAt: number | undefined, lastAt: number | undefined }[]>} */
  async list () {
    const all = await this.all()
    return all.map(schedule => {
      const { name, nextAt, lastAt, paused } = this.timed(schedule)
      return { name, nextAt: nextAt === Infinity ? undefined : nextAt, lastAt, ...paused && { paused } }
    })
  }

  /** The broker's schedules, and how far they are. @returns {Promise<Schedule[]>} */
  async all () {
    const { client } = this.broker
    const fields = await this.broker.soon(() => client.hgetall(this.key))
    const all = Object.entries(fields).filter(([field]) => field.startsWith(DEFINITION))
      .map(([field, text]) => this.scheduleOf(field.slice(DEFINITION.length), text)).filter(schedule => schedule !== undefined)
    for (const schedules of byPartition(all)) {
      const names = schedules.map(({ name }) => name)
      const states = await this.broker.soon(() => client.hmget(schedules[0].place.partition.times, ...names))
      schedules.forEach((schedule, at) => schedule.become(states[at] ?? ''))
    }
    return all
  }

  /** @returns {Schedule} with its times @throws FAIRLANE_ERR_PEER, FAIRLANE_ERR_OPTION */
  timed (schedule) {
    schedule.times ??= timesOf(schedule.when, schedule.name, this.calendars)
    return schedule
  }

  /** @returns {Promise<void>} */
  stop () {
    return this.timer.stop()
  }

  // private from here on

  /** @returns {Promise<Schedule>} rejects with FAIRLANE_ERR_ARGUMENT if there is none */
  async named (name, method) {
    const schedule = (await this.all()).find(schedule => schedule.name === name)
    if (schedule !== undefined) return schedule
    throw rangeError('FAIRLANE_ERR_ARGUMENT', `${method}: there is no schedule ${describe(name)}`)
  }

  textOf ({ cron, timezone, everyMs, type = '', payload, catchUp, overlap, priority, cost }) {
    const data = this.serialize.encode(payload, undefined)
    return JSON.stringify({ cron, timezone, everyMs, type, data, catchUp, overlap, priority, cost })
  }

  /** @returns {Schedule | undefined} undefined if it was removed, or cannot be read */
  scheduleOf (name, text) {
    const at = text.indexOf(':')
    const said = text.slice(at + 1)
    const definition = Object(jsonOf(said))
    if (typeof definition.data !== 'string' || typeof definition.type !== 'string') return undefined
    return new Schedule(name, said, Number(text.slice(0, at)) || 0, this.broker.place(definition.type), definition)
  }
}

module.exports = { Schedules }
