'use strict'

// The real queue in virtual time: jobs are timers on a clock that jumps from one event to the next. Each column has a queue of its own, and
// all are given the same jobs at the same times.

const MOST_WAITING = 1000 // jobs of a tenant
const SHOWN_MS = 10000 // of the past
const SHARE_MS = 5000 // over which shares are told
const POINT_MS = 250 // from one share to the next
const MOST_WAITS = 500 // of a tenant, of which the median and the 99th percentile are told
// So often the event loop turns until a queue has started what it can.
const TURNS = 2

/** Random numbers from 0 to below 1, the same ones each time. */
function seeded (seed) {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Jobs as they come: by chance, so many in a second on average, between half and one and a half times as long as the tenant's say. */
class Arrivals {
  constructor (tenants) {
    this.random = seeded(1)
    this.tenants = tenants
    this.next = tenants.map(tenant => this.gapOf(tenant))
  }

  /** When the next one comes: ms; Infinity: none does. */
  get atMs () {
    return Math.min(...this.next)
  }

  take () {
    const { atMs, next, tenants } = this
    const index = next.indexOf(atMs)
    const { name, ms, cost } = tenants[index]
    next[index] = atMs + this.gapOf(tenants[index])
    return { index, type: name, cost, ms: ms * (0.5 + this.random()) }
  }

  gapOf ({ perSecond }) {
    return perSecond === 0 ? Infinity : -Math.log(1 - this.random()) * 1000 / perSecond
  }
}

/** What became of the jobs of a tenant. */
class Record {
  constructor () {
    this.waiting = 0
    this.refused = 0
    this.waits = []
  }

  started (waitMs) {
    this.waiting--
    if (this.waits.push(waitMs) > MOST_WAITS) this.waits.shift()
  }

  /** @returns {number | undefined} ms; undefined before the first start */
  wait (part) {
    if (this.waits.length === 0) return undefined
    return this.waits.toSorted((a, b) => a - b)[Math.ceil(part * this.waits.length) - 1]
  }
}

class Column {
  /**
   * @param {string} name of the scheduler
   * @param {object} setup
   * @param {{ fairlane: Function, fakeClock: Function, turn: () => Promise<void> }} parts of the package; turn: of the event loop
   */
  constructor (name, { slots, tenants }, { fairlane, fakeClock, turn }) {
    this.name = name
    this.turn = turn
    this.clock = fakeClock()
    this.records = tenants.map(() => new Record())
    this.slots = Array(slots).fill(undefined) // the run in each
    this.runs = [] // that are shown: { index, slot, from, to }; to: undefined while it goes on
    this.points = [] // of shares
    this.queue = fairlane((job, done) => this.run(job, done), { ...optionsOf(name, tenants), concurrency: slots, clock: this.clock })
  }

  push (job) {
    const record = this.records[job.index]
    const { type, cost } = job
    record.waiting++
    this.queue.add({ ...job, pushedAt: this.clock.now() }, { type, cost }).catch(() => {
      record.waiting--
      record.refused++
    })
  }

  /** Lets time go on until then. */
  async runUntil (ms) {
    const { clock } = this
    const end = { isThere: false }
    clock.setTimeout(() => { end.isThere = true }, ms - clock.now())
    await this.fill()
    while (!end.isThere) {
      clock.next()
      await this.fill()
    }
  }

  /** Forgets what is too old to be shown, and notes the shares. */
  note () {
    const now = this.clock.now()
    this.runs = this.runs.filter(({ to = now }) => to >= now - SHOWN_MS)
    this.points.push({ at: now, shares: this.shares() })
    if (this.points[0].at < now - SHOWN_MS) this.points.shift()
  }

  /** The part of the slot time that each tenant had lately. */
  shares () {
    const now = this.clock.now()
    const spent = this.records.map(() => 0)
    for (const { index, from, to = now } of this.runs) spent[index] += Math.max(0, to - Math.max(from, now - SHARE_MS))
    const sum = spent.reduce((sum, ms) => sum + ms, 0)
    return spent.map(ms => sum === 0 ? 0 : ms / sum)
  }

  // private from here on

  run ({ index, ms, pushedAt }, done) {
    const from = this.clock.now()
    const slot = this.slots.indexOf(undefined)
    const run = { index, slot, from, to: undefined }
    this.slots[slot] = run
    this.runs.push(run)
    this.records[index].started(from - pushedAt)
    this.clock.setTimeout(() => {
      run.to = this.clock.now()
      this.slots[slot] = undefined
      done()
    }, ms)
  }

  async fill () {
    for (let i = 0; i < TURNS; i++) await this.turn()
  }
}

function optionsOf (name, tenants) {
  if (name === 'none') return { maxWaiting: MOST_WAITING * tenants.length }
  const rates = tenants.filter(({ rate }) => rate > 0).map(({ name, rate }) => [name, { limit: rate, intervalMs: 1000 }])
  const limits = { maxWaitingPerType: MOST_WAITING, ratePerType: rates.length === 0 ? undefined : new Map(rates) }
  if (name === 'fair' || name === 'capped') return { ...limits, scheduler: name }
  const weights = new Map(tenants.map(({ name, weight }) => [name, weight]))
  const groups = new Map(tenants.map(({ name, group }) => [name, group === '' ? `only ${name}` : group]))
  const more = { equal: {}, groups: { groupOf: type => groups.get(type) }, cost: { chargeBy: 'cost' } }[name]
  return { ...limits, scheduler: 'equal', schedulerOptions: { weights, ...more } }
}

/** All columns, and the jobs that they are given. */
class World {
  constructor (setup, parts) {
    this.arrivals = new Arrivals(setup.tenants)
    this.columns = setup.schedulers.map(name => new Column(name, setup, parts))
    this.now = 0
    this.notedAt = 0
  }

  /** @param {number} ms when to stop */
  async runUntil (ms) {
    while (this.now < ms) {
      const comesAt = this.arrivals.atMs
      this.now = Math.min(comesAt, this.notedAt + POINT_MS, ms)
      for (const column of this.columns) await column.runUntil(this.now)
      if (this.now === comesAt) {
        const job = this.arrivals.take()
        for (const column of this.columns) column.push(job)
      }
      if (this.now < this.notedAt + POINT_MS) continue
      this.notedAt = this.now
      for (const column of this.columns) column.note()
    }
  }
}

module.exports = { MOST_WAITING, SHOWN_MS, World }
