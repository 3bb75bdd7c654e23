'use strict'

// Random transitions of jobs in a ledger, and the naive history beside it: what a History answers must be what follows from that list.

const assert = require('node:assert/strict')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { ROWS, RUNNING } = require('../../lib/ledger/segment')
const { fakeClock } = require('../../lib/testing')
const { HistoryModel, countsOf, sumOf, statsOf, STATES } = require('./history-model')
const { seeded } = require('./random')

const TYPES = ['a', 'b', '__proto__', 'constructor', undefined]
const COLUMNS = ['waitMs', 'runMs', 'attempts']

class LedgerRound {
  /** @param {number} seed @param {object} [options] of the History; by default it keeps all */
  constructor (seed, options = { keep: Infinity }) {
    this.random = seeded(seed)
    this.clock = fakeClock(this.random.below(1000))
    this.model = new HistoryModel(this.clock.now)
    this.keepsAll = options.keep === Infinity && options.keepMs === undefined
    this.keepMs = options.keepMs
    this.newest = new Map() // by segment: when the newest of its jobs was accepted
    this.history = new History(options)
    this.ledger = this.history[OBSERVE](undefined, undefined, { clock: this.clock, hasIds: true })
    this.nextId = 1 + this.random.below(20000)
    this.ids = { waiting: [], running: [], delayed: [], dead: [], ended: [] }
    this.recover()
  }

  /** What a queue on disk finds. */
  recover () {
    const { random, ledger, model, clock } = this
    for (let i = random.below(30); i > 0; i--, this.nextId += 1 + random.below(random.pick([1, 1, 3, 5000, 2 ** 31]))) {
      const id = this.nextId
      const type = random.pick(TYPES)
      const ageMs = random.below(1000)
      const attempts = random.below(3)
      const state = attempts === 0 ? 'waiting' : random.pick(['waiting', 'delayed', 'dead'])
      const error = state === 'waiting' ? undefined : new Error(`before ${id}`)
      ledger.recovered(id, type, ageMs, attempts, { isDelayed: state === 'delayed', isDead: state === 'dead', error })
      model.accepted(id, type, { at: clock.now() - ageMs, attempts })
      this.noteAccepted(id, clock.now() - ageMs)
      if (state === 'delayed') model.came(id, 'delayed', `Error: before ${id}`)
      if (state === 'dead') model.died(id, `Error: before ${id}`)
      this.ids[state].push(id)
    }
  }

  /** @param {number} steps @param {number} askChance after each of them @param {number} burst so many jobs come at once, now and then */
  play (steps, askChance, burst) {
    for (let i = 0; i < steps; i++) {
      this.act(burst)
      if (this.random.chance(askChance)) this.ask()
    }
    this.compareAll()
  }

  act (burst) {
    const { random, ledger, model } = this
    const kind = random.next()
    if (kind < 0.30) this.accept(random.chance(0.005) ? random.below(burst) : 1)
    else if (kind < 0.50) this.move('waiting', 'running', id => { ledger.started(id); model.started(id) })
    else if (kind < 0.62) this.move('running', 'ended', id => { ledger.ended(id, false); model.came(id, 'done') })
    else if (kind < 0.68) this.move('running', 'ended', id => { ledger.ended(id, true, new Error(`f${id}`)); model.came(id, 'failed', `Error: f${id}`) })
    else if (kind < 0.71) this.move(random.pick(['waiting', 'running', 'delayed']), 'ended', id => { ledger.cancelled(id, 'gone'); model.came(id, 'cancelled', 'gone') })
    else if (kind < 0.77) this.move('running', 'delayed', id => { ledger.undecided(id, new TypeError(`r${id}`)); model.came(id, 'delayed', `TypeError: r${id}`) })
    else if (kind < 0.82) this.move('delayed', 'waiting', id => { ledger.due(id); model.came(id, 'waiting') })
    else if (kind < 0.85) this.move('running', 'dead', id => { ledger.dead(id, new Error(`d${id}`)); model.died(id, `Error: d${id}`) })
    else if (kind < 0.87) this.move('dead', 'waiting', id => { ledger.revived(id); model.revived(id); this.noteAccepted(id, this.clock.now()) })
    else if (kind < 0.88) this.move('dead', 'ended', id => { ledger.buried(id) })
    else if (kind < 0.90) this.move('running', 'waiting', id => { ledger.uncounted(id); model.uncounted(id) })
    else if (kind < 0.92) this.remove()
    else this.clock.advance(random.below(20))
  }

  accept (count) {
    const { random, ledger, model } = this
    for (let i = 0; i < count; i++) {
      const id = this.nextId++
      const type = random.pick(TYPES)
      ledger.accepted(id, type)
      model.accepted(id, type)
      this.noteAccepted(id, this.clock.now())
      this.ids.waiting.push(id)
    }
  }

  noteAccepted (id, at) {
    const segment = Math.floor(id / ROWS)
    this.newest.set(segment, Math.max(this.newest.get(segment) ?? -Infinity, at))
  }

  /** Has a random job of one state come to another. */
  move (from, to, tell) {
    const { random, ids } = this
    if (ids[from].length === 0) return
    const at = random.below(ids[from].length)
    const id = ids[from][at]
    ids[from][at] = ids[from].at(-1)
    ids[from].pop()
    tell(id)
    ids[to].push(id)
  }

  remove () {
    const { random, history, ids } = this
    const kind = random.pick(['ended', 'ended', 'waiting', 'running', 'dead'])
    if (ids[kind].length === 0) return
    const id = random.pick(ids[kind])
    if (kind !== 'ended') {
      assert.throws(() => history.remove(id), { code: 'FAIRLANE_ERR_ARGUMENT' })
      return
    }
    const isKnown = history.get(id) !== undefined
    assert.equal(history.remove(id), isKnown)
    assert.equal(history.remove(id), false)
    ids.ended.splice(ids.ended.indexOf(id), 1)
    this.model.removed(id)
  }

  /** The ids of the jobs whose records are kept, the newest first. */
  known () {
    const ids = [...this.model.jobs.keys()].sort((a, b) => b - a)
    if (this.keepsAll) return ids
    const known = ids.filter(id => this.history.get(id) !== undefined)
    if (this.keepMs !== undefined) this.checkAges(new Set(known))
    return known
  }

  /** Jobs that have ended are kept for a time from their acceptance, and go when all of their segment are as old. */
  checkAges (known) {
    const since = this.clock.now() - this.keepMs
    for (const id of this.ids.ended) {
      if (this.model.job(id).acceptedAt > since) assert(known.has(id), `job ${id} went too early`)
      else if (this.newest.get(Math.floor(id / ROWS)) <= since) assert(!known.has(id), `job ${id} is too old`)
    }
  }

  ask () {
    const { random, history, model } = this
    const ids = this.known()
    const now = this.clock.now()
    const type = random.pick(TYPES)
    const state = random.pick([undefined, ...STATES])
    const since = random.chance(0.3) ? now - random.below(200) : undefined
    const until = random.chance(0.3) ? now - random.below(100) : undefined
    const before = random.chance(0.3) && ids.length > 0 ? random.pick(ids) : undefined
    const limit = random.pick([undefined, 0, 1, 7, Infinity])
    const isMeant = ({ id, ...job }, at) =>
      (type === undefined || job.type === type) && at >= (since ?? -Infinity) && at < (until ?? Infinity)
    const listed = ids.map(id => model.job(id))
      .filter(job => isMeant(job, model.changedAt(job.id)) && (state === undefined || job.state === state) && job.id < (before ?? Infinity))
    assert.deepEqual([...history.list({ type, state, since, until, before, limit })], listed.slice(0, limit ?? 100))

    const first = random.chance(0.3) && ids.length > 0 ? random.pick(ids) : undefined
    const last = random.chance(0.3) && ids.length > 0 ? random.pick(ids) : undefined
    const column = random.pick(COLUMNS)
    const inRange = ids.filter(id => id >= (first ?? 0) && id <= (last ?? Infinity))
    const summed = jobs => sumOf(column, jobs.filter(job => isMeant(job, job.endedAt)))
    assert.equal(history.sum(column, { type, first, last, since, until }), summed(inRange.map(id => model.job(id))))
    const jobs = ids.map(id => model.job(id))
    const ended = jobs.filter(({ endedAt }) => endedAt >= (since ?? -Infinity) && endedAt < (until ?? Infinity))
    assert.deepEqual(sorted(history.stats({ since, until })), sorted(statsOf(ended)))
    assert.deepEqual(history.counts(), countsOf(jobs))
    for (const name of TYPES.filter(name => name !== undefined)) {
      assert.deepEqual(history.counts(name), countsOf(jobs.filter(job => job.type === name)))
    }

    const then = now - random.below(300)
    const past = history.at(then)
    const pastJobs = model.asOf(then, ids)
    assert.deepEqual(past.counts(), countsOf(pastJobs))
    assert.deepEqual(past.counts('a'), countsOf(pastJobs.filter(job => job.type === 'a')))
    const meant = model.asOf(then, inRange).filter(job => type === undefined || job.type === type)
    assert.equal(past.sum(column, { type, first, last }), sumOf(column, meant))
  }

  compareAll () {
    const { history, model } = this
    this.ask()
    const ids = this.known()
    for (const state of STATES) {
      const meant = ids.map(id => model.job(id)).filter(job => job.state === state)
      assert.deepEqual([...history.list({ state, limit: Infinity })], meant)
    }
    this.checkRunningCounts()
    for (const id of ids) {
      const { versions } = model.jobs.get(id)
      assert.deepEqual(history.versions(id), versions)
      for (let back = 0; back <= versions.length; back++) {
        assert.deepEqual(history.get(id, { back }), model.job(id, Math.max(1, versions.length - back)))
      }
    }
    for (const kind of ['waiting', 'running', 'delayed', 'dead']) for (const id of this.ids[kind]) assert.notEqual(history.get(id), undefined, `job ${id} is ${kind}`)
  }

  /** Segments know how many of their jobs run: those in which none does are not looked through. */
  checkRunningCounts () {
    for (const segment of this.ledger.segments) {
      if (segment === undefined) continue
      let count = 0
      for (let row = 0; row < ROWS; row++) if (segment.stateOf(row) === RUNNING) count++
      assert.equal(segment.runningCount, count)
    }
  }
}

/** By types, without an order. Means are the same up to how they were added up. */
function sorted (byType) {
  return [...byType].map(([type, stats]) => [String(type), stats]).sort(([a], [b]) => a < b ? -1 : 1)
}

module.exports = { LedgerRound }
