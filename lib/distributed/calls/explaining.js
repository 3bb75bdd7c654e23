'use strict'

// Why the next job of a type does not start now, as far as one process can know: what the broker has of the type, and what limits it there,
// and what this process has slots for. Another process may have a slot for it.

const { makeExplaining } = require('../../core/internals')
const { countOf, dueAtOf, jsonOf } = require('../broker/received')

const LOOK_MS = 500
const SILENT_LOOKS = 4 // a broker that answers nothing between so many looks is away
const FIELDS = ['timestamp', 'atm', 'stc', 'due', 'opts'] // of records: a payload may be large
// What the queue in memory is asked for: of limits of all processes it knows nothing.
const ABOUT = { barredBy: nothing, limiter: nothing, firstDue: nothing, countsOf: () => ({ waiting: 1 }) }

class Explaining {
  /**
   * @param {object} parts core, stage: the queue in memory; worker is null in a process without a runner
   * @param {{ isPaused: (type: string) => boolean, lookMs?: number }} options
   */
  constructor ({ broker, core, globals, limits, observed, records, stage, worker }, { isPaused, lookMs = LOOK_MS }) {
    this.broker = broker
    this.core = core
    this.globals = globals
    this.limits = limits
    this.isObserved = observed !== undefined
    this.records = records
    this.stage = stage
    this.hasSlots = worker !== null
    this.isPaused = isPaused
    this.lookMs = lookMs
    this.local = undefined // once somebody has asked
  }

  /** @param {{ ahead: boolean }} wishes @returns {Promise<object>} as explain() of a queue in memory */
  async explain (type, { ahead }) {
    const told = unknown(type, 'broker')
    if (!this.broker.isReady) return told
    const { partition } = this.broker.place(type)
    const silence = new Silence(() => partition.answersCount, this.lookMs)
    try {
      Object.assign(told, await Promise.race([this.about(type, ahead, silence), silence.begins]))
    } catch (err) {
      if (err.code !== 'FAIRLANE_ERR_BROKER') throw err
    } finally {
      silence.end()
    }
    return told
  }

  // private from here on

  async about (type, wantsAhead, silence) {
    const told = await this.look(type)
    if (!wantsAhead) return told
    silence.answers = () => this.broker.lastAnswerAt // all partitions are asked
    return { ...told, ahead: told.waiting > 0 ? await this.ahead(type) : undefined }
  }

  async look (type) {
    const { broker, globals, limits } = this
    const place = broker.place(type)
    const [{ waiting, delayed, running, cap, paused, heldMs }, queueMs, jobs] = await Promise.all([
      globals.countsOfType(type), limits.heldMs(), this.jobsOf(place)
    ])
    const isPausedHere = this.hasSlots && this.core.paused
    const typeMs = Math.max(heldMs, jobs.holdMs)
    const of = (because, more) => ({ waiting, delayed, running, oldestWaitMs: jobs.oldestWaitMs, because, ...more })
    if (waiting === 0) return of('idle')
    if (isPausedHere || limits.terms.values.has('paused')) return of('paused')
    if (paused || (this.hasSlots && this.isPaused(type))) return of('type-paused')
    const isCapped = running >= cap
    if (waiting === delayed) {
      return of(jobs.hasRun ? 'backoff' : 'delayed', { untilMs: isCapped ? undefined : Math.max(jobs.dueMs, typeMs, queueMs, 0) })
    }
    if (isCapped) return of('cap')
    const untilMs = Math.max(typeMs, queueMs)
    const { heldMsNow } = limits
    if (jobs.holdMs > 0) return of('hold', { untilMs })
    if (heldMsNow > 0) return of('queue-hold', { untilMs })
    if (typeMs > 0) return of('rate', { untilMs })
    if (queueMs > 0) return of('queue-rate', { untilMs })
    const [because, holders] = this.hasSlots ? this.here(type) : []
    return because === undefined ? of('starting', { untilMs: 0 }) : of(because, { holders })
  }

  /** What keeps the type from a slot of this process, if anything does, and who holds the slots. */
  here (type) {
    const { list, dispatch, deadlines: { clock } } = this.stage
    const { scheduler } = this.core
    this.local ??= makeExplaining({ list, dispatch, clock }, scheduler, ABOUT)
    const { because } = this.local.explain(scheduler === null ? undefined : type, { ahead: false })
    const isFull = dispatch.running >= dispatch.concurrency || (list.gate !== null && list.gate.lacksPlaces)
    if (because === 'cap' || because === 'group-cap') return [because]
    if (isFull) return ['slots', this.local.holders()]
    return because === 'scheduler' && !list.gate?.isWaitedFor ? [because] : [] // of permits the broker has enough: they are being asked for
  }

  /** What is known of the hold of a type, and of its first jobs: of the delayed one whose time comes first, and of the one that waits. */
  async jobsOf (place) {
    const { broker } = this
    const [holdMs, [delayed, score], waiting, [prioritized], [seconds, micros]] = await broker.soon(() => broker.askAll([
      ['pttl', place.key('limiter')], ['zrange', place.key('delayed'), 0, 0, 'WITHSCORES'], ['lindex', place.key('wait'), -1],
      ['zrange', place.key('prioritized'), 0, 0], ['time']
    ]))
    place.partition.answersCount++
    const now = seconds * 1000 + micros / 1000
    const next = waiting ?? prioritized
    const isAsked = this.isObserved && next !== undefined
    const jobs = [delayed, isAsked ? next : undefined].map(name => ({ place, name: name ?? '' }))
    const [first, head] = await broker.soon(() => this.records.readAll(jobs, FIELDS))
    place.partition.answersCount++
    return {
      holdMs: Math.max(holdMs, 0),
      dueMs: score === undefined ? 0 : Math.max(Math.floor(score / 4096) - now, 0),
      hasRun: first !== undefined && hasRun(first),
      oldestWaitMs: head === undefined ? undefined : Math.max(now - sinceOf(head), 0)
    }
  }

  /** Other types that have waiting jobs. O(types). */
  async ahead (type) {
    const all = await this.globals.types(Infinity)
    return all.filter(other => other.type !== type && other.waiting > 0).length
  }
}

/** `begins` is resolved once the broker answers nothing: not while much is asked of it, nor because this process was busy for long. */
class Silence {
  /** @param {() => number | undefined} answers another one whenever there was an answer */
  constructor (answers, lookMs) {
    this.answers = answers
    let known = answers()
    let left = SILENT_LOOKS
    this.begins = new Promise(resolve => {
      this.timer = setInterval(() => {
        const latest = this.answers()
        left = latest === known ? left - 1 : SILENT_LOOKS
        known = latest
        if (left === 0) resolve()
      }, lookMs)
    })
  }

  end () {
    clearInterval(this.timer)
  }
}

function nothing () {}

/** What is said of a type where the broker is not asked. */
function unknown (type, because) {
  const [waiting, delayed, running, untilMs, holders, oldestWaitMs] = []
  return { type, waiting, delayed, running, because, untilMs, holders, oldestWaitMs }
}

/** Whether an attempt of a job has begun. */
function hasRun ({ atm, stc }) {
  return countOf(Number(atm)) + countOf(Number(stc)) > 0
}

function sinceOf ({ due, timestamp, opts }) {
  return dueAtOf(Number(due), Number(timestamp), Object(jsonOf(opts)))
}

module.exports = { Explaining, unknown }
