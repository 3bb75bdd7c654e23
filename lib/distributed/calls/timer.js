'use strict'

// Looks whether times of schedules have come, in one process at a time: that which has the broker's `.timer`. The others ask now and then
// whether it is free. If two look at once, since one was stopped for long, each time has its job once nonetheless: the broker stores it
// with how far its schedule is, and only if that is what the process knew.

const { describe } = require('../../arguments/errors')
const { spread } = require('../../platform/jitter')
const { isPassing } = require('../broker/failures')
const { KEYS_TO_PUSH } = require('../broker/scripts/push')
const { scheduledName } = require('../names')

const HELD_MS = 3000 // for how long it is this process's; others may look then
const RENEWED_MS = 900 // after which it says that it still looks, and hears of changes
const LOOK_MS = 60000 // a time that passed longer ago is one that was missed
const MOST_AT_ONCE = 100 // times of a schedule; the rest comes in a later turn

class Timer {
  /**
   * @param {object} schedules Schedules
   * @param {{ broker: object, records: object }} parts
   * @param {{ token: string, key: string }} options key: of what one process has
   */
  constructor (schedules, { broker, records }, { token, key }) {
    this.schedules = schedules
    this.broker = broker
    this.records = records
    this.token = token
    this.key = key
    this.aheadMs = 0 // by how much the broker's clock is ahead
    this.version = undefined // of the schedules that are known
    this.known = []
    this.isMine = false
    this.renewedAt = -Infinity // by performance.now()
    this.timer = undefined
    this.turning = undefined // a turn that goes on
    this.isStopped = false
  }

  begin () {
    if (this.timer === undefined && this.turning === undefined && !this.isStopped) this.wake(0)
  }

  /** Looks again: this process has changed something. @returns {Promise<void>} */
  changed () {
    this.renewedAt = -Infinity
    return this.turning === undefined && this.isMine ? this.turn() : Promise.resolve()
  }

  /** @returns {Promise<number>} what the broker's clock says, in ms since 1970 */
  async now () {
    const [seconds, micros] = await this.broker.soon(() => this.broker.client.time())
    return Number(seconds) * 1000 + Math.floor(micros / 1000)
  }

  /** Another process may look. @returns {Promise<void>} */
  async stop () {
    this.isStopped = true
    clearTimeout(this.timer)
    await this.turning
    if (this.isMine && this.broker.isReady) await this.broker.client.fairlaneLeaveTimer(this.key, this.token).catch(ignore)
  }

  // private from here on

  wake (ms) {
    clearTimeout(this.timer)
    if (!this.isStopped) this.timer = setTimeout(() => { this.turn() }, ms)
  }

  turn () {
    clearTimeout(this.timer)
    this.turning ??= this.look().catch(err => this.failed(err)).then(ms => {
      this.turning = undefined
      this.wake(ms)
    })
    return this.turning
  }

  /** @returns {Promise<number>} ms until it looks again */
  async look () {
    if (!this.broker.isReady) return HELD_MS
    if (performance.now() - this.renewedAt >= RENEWED_MS) await this.renew()
    if (!this.isMine) return spread(HELD_MS)
    let nextAt = Infinity
    for (const schedule of this.known) {
      await this.dealWith(schedule)
      nextAt = Math.min(nextAt, schedule.nextAt)
    }
    return Math.min(Math.max(nextAt - this.time(), 0), RENEWED_MS)
  }

  async renew () {
    const { client } = this.broker
    const at = performance.now()
    const [isMine, now, version] = await client.fairlaneTimer(this.key, this.schedules.key, this.token, HELD_MS)
    this.isMine = isMine === 1 && !this.isStopped
    this.aheadMs = now - Date.now()
    this.renewedAt = at
    if (version === '') {
      await this.schedules.write() // the broker came back empty
      this.version = undefined
    }
    if (!this.isMine || version === this.version) return
    this.known = (await this.schedules.all()).filter(schedule => this.isReadable(schedule))
    this.version = version
  }

  isReadable (schedule) {
    try {
      this.schedules.timed(schedule)
      return true
    } catch (err) {
      if (err.code === 'FAIRLANE_ERR_PEER') throw err
      this.broker.troubles.refused(`the schedule ${describe(schedule.name)}`, err)
      return false
    }
  }

  /** By the broker's clock, in ms since 1970. */
  time () {
    return Date.now() + this.aheadMs
  }

  async dealWith (schedule) {
    const now = this.time()
    this.comeBack(schedule, now)
    const { times, overlap, catchUp } = schedule
    if (now - schedule.nextAt > LOOK_MS) {
      const missed = times.upTo(now)
      await this.step(schedule, missed, catchUp === 'last' && (overlap || await this.isOver(schedule)))
    }
    for (let left = MOST_AT_ONCE; schedule.nextAt <= now && left > 0 && this.mayGoOn(); left--) {
      if (overlap || await this.isOver(schedule)) await this.step(schedule, schedule.nextAt, true)
      else await this.step(schedule, times.upTo(now), false)
    }
  }

  /** Others may look by now. */
  mayGoOn () {
    return !this.isStopped && performance.now() - this.renewedAt < HELD_MS
  }

  /** The broker's clock may have been far ahead: then a schedule begins anew. If it was by little, it waits: no time comes twice. */
  comeBack (schedule, now) {
    const aheadMs = schedule.doneUntil - now
    if (aheadMs > LOOK_MS && aheadMs > lastIntervalOf(schedule)) schedule.doneUntil = now
  }

  /** Times up to this one are dealt with; with a job for it, or without. */
  async step (schedule, time, isPushed) {
    const { name, place, data, state, priority = 0, cost = '', lastAt = '', lastJob = '' } = schedule
    const jobName = scheduledName(name, time)
    const opts = { schedule: { name, time } }
    if (priority > 0) opts.priority = priority
    const job = isPushed ? [jobName, data, JSON.stringify(opts), priority, cost] : []
    const next = isPushed ? [time, time, jobName] : [time, lastAt, lastJob]
    const { times, types, ready, workers, limits, wake } = place.partition
    const keys = [times, types, ready, workers, limits, ...place.keysOf(KEYS_TO_PUSH), place.key(jobName)]
    const told = ['PUBLISH', wake, place.name, place.key('')]
    schedule.become(await this.broker.client.fairlaneTime(...keys, name, state, next.join(','), ...told, ...job))
  }

  /** Whether the last job has ended. */
  async isOver ({ place, lastJob }) {
    if (lastJob === undefined) return true
    const record = await this.records.read(place, lastJob)
    return record === undefined || record.finishedOn !== undefined
  }

  /** What fails is done in a later turn. Without the package that reads cron expressions another process is to look. */
  async failed (err) {
    this.version = undefined
    if (err.code === 'FAIRLANE_ERR_PEER') {
      this.isStopped = true
      await this.broker.client.fairlaneLeaveTimer(this.key, this.token).catch(ignore)
    }
    if (!isPassing(err)) this.broker.troubles.refused('a check of the schedules', err)
    return RENEWED_MS
  }
}

/** How long it was from the last but one of the times that are dealt with to the last one. */
function lastIntervalOf ({ times, doneUntil }) {
  const last = times.upTo(doneUntil)
  return last === -Infinity ? 0 : last - times.upTo(last - 1)
}

function ignore () {}

module.exports = { Timer }
