'use strict'

/*
 * Histories of types in groups: fake lanes and slots in virtual time, without a queue; and what their logs say of the bounds on both
 * levels.
 */

const { Heap } = require('../../lib/platform/heap')
const { seeded } = require('./random')

/** Slots on a virtual clock, which a scheduler fills. Times are multiples of 2^-10 ms, as lists round them. */
class Levels {
  /**
   * @param {object} scheduler of lanes
   * @param {number} slotCount
   */
  constructor (scheduler, slotCount) {
    this.scheduler = scheduler
    this.slotCount = slotCount
    this.now = 0
    this.running = 0
    this.lanes = new Map() // by type
    this.jobs = new Map() // the waiting jobs of each type, as { ms, cost, corrections }
    this.events = new Heap() // what is to happen, as { position, order, happen }
    this.count = 0
    this.onEnd = undefined // called with the type of each job that has ended
    this.log = [] // of { at, kind: 'push' | 'start' | 'end' | 'charge' | 'hold' | 'free' | 'configure', type, ms, cost }
  }

  lane (type) {
    if (!this.lanes.has(type)) {
      this.lanes.set(type, { type, size: 0, running: 0, headSeq: 0, isPaused: false, isShared: false, state: undefined })
      this.jobs.set(type, [])
    }
    return this.lanes.get(type)
  }

  /** After so many ms, something happens. */
  in (ms, happen) {
    this.events.insert({ position: -1, order: this.count++, happen }, this.now + exact(ms))
  }

  /** @param {{ atPart: number, cost: number }[]} [corrections] when the runner says what the job costs, in parts of its time */
  push (type, ms, cost = 1, corrections = []) {
    const lane = this.lane(type)
    const job = { ms: Math.max(exact(ms), 2 ** -10), cost, corrections }
    this.jobs.get(type).push(job)
    lane.size++
    this.tell('push', type, job)
    if (!lane.isPaused) this.scheduler.queued(lane)
  }

  hold (type) {
    const lane = this.lane(type)
    if (lane.isPaused) return
    lane.isPaused = true
    this.tell('hold', type)
    this.scheduler.paused(lane)
  }

  letGo (type) {
    const lane = this.lane(type)
    if (!lane.isPaused) return
    lane.isPaused = false
    this.tell('free', type)
    this.scheduler.resumed(lane)
  }

  configure (options) {
    this.scheduler.configure(options)
    this.tell('configure', undefined, { options })
  }

  runUntil (endMs) {
    this.fill()
    while (this.events.size > 0 && this.events.keys[0] <= endMs) {
      this.now = this.events.keys[0]
      const { happen } = this.events.items[0]
      this.events.remove(0)
      happen()
      this.fill()
    }
  }

  // private from here on

  tell (kind, type, more) {
    this.log.push({ at: this.now, kind, type, ...more })
  }

  fill () {
    while (this.running < this.slotCount) {
      const lane = this.scheduler.next(this.now)
      if (lane === undefined) return
      if (lane.size === 0 || lane.isPaused) throw new Error(`'${lane.type}' has nothing to start`)
      this.start(lane)
    }
  }

  start (lane) {
    const { type } = lane
    const job = this.jobs.get(type).shift()
    const startedAt = this.now
    let { cost } = job
    lane.size--
    lane.running++
    this.running++
    this.tell('start', type, job)
    this.scheduler.started(lane, this.now, cost)
    for (const { atPart, cost: said } of job.corrections) {
      this.in(atPart * job.ms, () => {
        const difference = said - cost
        cost = said
        this.tell('charge', type, { cost: difference, elapsedMs: this.now - startedAt })
        this.scheduler.charged(lane, difference, startedAt)
      })
    }
    this.in(job.ms, () => {
      lane.running--
      this.running--
      this.tell('end', type, { ms: job.ms, cost })
      this.scheduler.ended(lane, startedAt, this.now, cost)
      if (this.onEnd !== undefined) this.onEnd(type)
    })
  }
}

function exact (ms) {
  return Math.floor(ms * 1024) / 1024
}

const groupOf = type => type.split('/')[0]
const END_MS = 3000

/**
 * Groups and types with weights from 1e-300 to 1e300, up to 1e9 times another on the same level, and with caps, pauses and rates. In some
 * histories jobs of days have run before; in some a type has one long job at a time, and then many. Types are named 'group/type'.
 *
 * @param {number} seed
 * @param {(options: object) => object} makeScheduler given options of 'equal'
 * @param {{ hasCosts?: boolean, hasCorrections?: boolean, kind?: 'flood' | 'days' | 'any' }} [what] kind: of the history; default: any of
 *   these
 * @returns {{ log: object[], all: object[], options: object }} all: with the jobs of days
 */
function groupedTrace (seed, makeScheduler, what = {}) {
  const random = seeded(seed)
  const kind = what.kind ?? random.pick(['flood', 'days', 'any', 'any', 'any', 'any'])
  const isFlooded = kind === 'flood'
  const isOdd = kind === 'days' || (!isFlooded && random.chance(0.5))
  const byGroup = sizesOf(random, isFlooded).map((size, i) => [`group ${i}`, namesOf(`group ${i}`, size)])
  const groups = byGroup.map(([group]) => group)
  const types = byGroup.flatMap(([, types]) => types)
  const options = {
    groupOf,
    groupWeights: new Map(weigh([...groups, 'before'])),
    weights: new Map([...byGroup.flatMap(([group, types]) => weigh([...types, `${group}/before`])), ['before/before', 1]]),
    ...isFlooded ? { maxTypeCap: Infinity, maxGroupCap: Infinity } : anyCaps(random, groups, types)
  }
  const levels = new Levels(makeScheduler(options), isFlooded ? 20 : 1 + random.below(random.pick([2, 20])))
  if (kind === 'days') runForDays(levels, random, byGroup)
  const from = levels.log.length
  for (const [i, type] of types.entries()) {
    if (!isFlooded) pushNowAndThen(levels, random, type, what)
    else if (i === 0) oneThenMany(levels, random, type)
    else flood(levels, random, type)
    if (!isFlooded && random.chance(0.3)) holdNowAndThen(levels, random, type)
  }
  for (const [name, names] of [['groupCaps', groups], ['typeCaps', types]]) {
    if (!isFlooded && random.chance(0.3)) levels.in(random.below(END_MS), () => levels.configure({ [name]: some(random, names, 0.5, 6) }))
  }
  levels.runUntil(levels.now + END_MS)
  return { log: levels.log.slice(from), all: levels.log, options }

  /** The last one is the lightest. */
  function weigh (names) {
    const most = isOdd ? 10 ** (600 * random.next() - 300) : 9
    const parts = names.map((name, i) => i === names.length - 1 ? 1e-9 : 10 ** (-9 * random.next() * random.below(2)))
    return names.map((name, i) => [name, isOdd ? Math.max(most * parts[i], 1e-300) : 1 + random.below(isFlooded ? 2 : most)])
  }
}

/** How many types each group has; where others flood, the first type has few beside it, in its group or beside that. */
function sizesOf (random, isFlooded) {
  if (isFlooded) return random.pick([[1, 1, 1, 1, 1, 1], [6, 1]])
  return Array.from({ length: 2 + random.below(4) }, () => 1 + random.below(5))
}

function namesOf (group, count) {
  return Array.from({ length: count }, (_, i) => `${group}/${i}`)
}

/** Caps of some of the names. */
function some (random, names, chance, most) {
  return Object.fromEntries(names.filter(() => random.chance(chance)).map(name => [name, 1 + random.below(most)]))
}

function anyCaps (random, groups, types) {
  return {
    groupCaps: some(random, groups, random.pick([0, 0.5]), 6),
    typeCaps: some(random, types, random.pick([0, 0.5]), 4),
    maxTypeCap: random.pick([Infinity, Infinity, 3]),
    maxGroupCap: random.pick([Infinity, Infinity, 8])
  }
}

/** The lightest run jobs of up to days, before and after which others are short. */
function runForDays (levels, random, byGroup) {
  const runShort = count => {
    for (; count > 0; count--) {
      for (const [, [type]] of byGroup) levels.push(type, 1)
      levels.runUntil(Infinity)
    }
  }
  runShort(130)
  for (const group of [...byGroup.map(([group]) => group), 'before']) {
    for (let i = random.below(10); i >= 0; i--) levels.push(`${group}/before`, 10 ** (8 * random.next()))
  }
  levels.runUntil(Infinity)
  runShort(90) // then no type is expected to run for longer than 2 ms because of that
}

/** One long job at a time, and then many: whoever charges jobs at their ends only, lets these start all at once. */
function oneThenMany (levels, random, type) {
  const ms = 150 + random.below(100)
  for (let i = 0; i <= 8; i++) levels.in(i * (ms + 1), () => { for (let n = i < 8 ? 1 : 60; n > 0; n--) levels.push(type, ms) })
}

function flood (levels, random, type) {
  const ms = 10 + random.below(10)
  for (let i = 2 * END_MS / 3; i > 0; i--) levels.push(type, ms)
}

function pushNowAndThen (levels, random, type, { hasCosts = false, hasCorrections = false }) {
  const ms = 10 ** (2.5 * random.next())
  const cost = 10 ** (3 * random.next())
  const isMixed = random.chance(0.5)
  const isLate = random.chance(0.5)
  for (let n = 1 + random.below(4); n > 0; n--) {
    levels.in(isLate ? random.below(END_MS / 2) : 0, () => {
      for (let i = random.below(120); i >= 0; i--) {
        const own = hasCosts ? Math.floor(isMixed ? cost ** random.next() : cost) : 1
        const correction = { atPart: random.next(), cost: Math.floor(2 * own * random.next()) }
        levels.push(type, isMixed ? ms ** random.next() : ms, own, hasCorrections && random.chance(0.5) ? [correction] : [])
      }
    })
  }
}

/** As pauses do it, and rates, which do it often. */
function holdNowAndThen (levels, random, type) {
  const ms = 10 ** (1 + 2 * random.next())
  for (let at = 0; at < END_MS; at += 1 + 2 * ms * random.next()) {
    levels.in(at, () => levels.hold(type))
    levels.in(at + ms * random.next(), () => levels.letGo(type))
  }
}

/**
 * The worst |Wg/wg - Wh/wh| of two groups as a fraction of its bound, while both always have a type that may start; up to 1 is within.
 *
 * @param {{ log: object[], options: object }} trace
 * @param {object} charge BY_TIME, BY_COST or BY_COST_TIME
 * @param {boolean} [isFromStarts] looks only from the first job on that each has started since it came
 * @param {object[]} [boundLog] by which the bound is told; that of a scheduler that is right
 */
function worstOfGroups ({ log, options }, charge = BY_TIME, isFromStarts = false, boundLog = log) {
  const weights = [...options.groupWeights]
  return worst(log, boundLog, options, charge, groupOf, weights, ({ groups }, group) => isWatched(groups.get(group), isFromStarts))
}

/** The same of types of one group, while both may start. */
function worstOfTypes ({ log, options }, charge = BY_TIME, isFromStarts = false, boundLog = log) {
  const fractions = [...options.groupWeights.keys()].map(group => {
    const weights = [...options.weights].filter(([type]) => groupOf(type) === group)
    const ofGroup = ({ type }) => type === undefined || groupOf(type) === group
    const isWatchedNow = ({ types }, type) => isWatched(types.get(type), isFromStarts)
    return worst(log.filter(ofGroup), boundLog.filter(ofGroup), options, charge, type => type, weights, isWatchedNow)
  })
  return Math.max(...fractions)
}

function isWatched ({ mayStart, isNew }, isFromStarts) {
  return mayStart && !(isFromStarts && isNew)
}

/**
 * What is shared: `rate`, how much more a type gets from an event on; `atOnce`, what it gets by it; `term`, what a type or a group adds to
 * the bound.
 */
const SIGNS = { start: 1, charge: 1, end: -1 }
const BY_TIME = {
  rate: ({ kind }) => kind === 'charge' ? 0 : SIGNS[kind] ?? 0,
  atOnce: () => 0,
  term: ({ most, longest }, all) => most * (longest + Math.max(longest, all.longest))
}
const BY_COST = { rate: () => 0, atOnce: ({ kind, cost }) => kind === 'start' || kind === 'charge' ? cost : 0, term: costTerm }
const BY_COST_TIME = {
  rate: ({ kind, cost }) => SIGNS[kind] === undefined ? 0 : SIGNS[kind] * cost,
  atOnce: ({ kind, cost, elapsedMs }) => kind === 'charge' ? cost * elapsedMs : 0,
  term: heldTerm
}

/** All that a job may cost beyond what is known at its start comes on top, for each that runs. */
function costTerm ({ most, dearest, correction }) {
  return dearest + 2 * most * correction
}

function heldTerm ({ most, held, dearest, longest, correction }, all) {
  const expectedMs = Math.max(longest, all.longest)
  return most * (held + Math.max(held, dearest * expectedMs) + 2 * correction * expectedMs)
}

/** The greatest difference of any two of those that are weighed. */
function worst (log, boundLog, options, charge, nameOf, weights, isWatched) {
  const greatest = Math.max(...weights.map(([, weight]) => weight))
  const extremes = extremesOf(boundLog, nameOf)
  const all = extremesOf(boundLog, () => 'all').get('all')
  const known = weights.filter(([name]) => extremes.has(name))
  const pairs = known.flatMap(([a], i) => known.slice(0, i).map(([b]) => ({ a, b, least: 0, most: 0, isOn: false, fraction: 0 })))
  const weightOf = new Map(known.map(([name, weight]) => [name, weight / greatest]))
  const service = new Map(known.map(([name]) => [name, { used: 0, rate: 0 }]))
  const status = new Status(options)
  const bound = ({ a, b }) => [a, b].reduce((sum, name) => sum + charge.term(extremes.get(name), all) / weightOf.get(name), 0)
  const bounds = new Map(pairs.map(pair => [pair, bound(pair)]))
  let time = 0
  let fraction = 0
  for (const event of log) {
    for (const one of service.values()) one.used += one.rate * (event.at - time)
    time = event.at
    look(false)
    const one = service.get(nameOf(event.type ?? ''))
    if (one !== undefined) {
      one.rate += charge.rate(event)
      one.used += charge.atOnce(event)
    }
    status.see(event)
    look(event.kind === 'configure')
  }
  return fraction

  function look (isOver) {
    for (const pair of pairs) {
      if (isOver || !isWatched(status, pair.a) || !isWatched(status, pair.b)) {
        pair.isOn = false
        continue
      }
      const difference = service.get(pair.a).used / weightOf.get(pair.a) - service.get(pair.b).used / weightOf.get(pair.b)
      if (!pair.isOn) Object.assign(pair, { isOn: true, least: difference, most: difference })
      pair.least = Math.min(pair.least, difference)
      pair.most = Math.max(pair.most, difference)
      fraction = Math.max(fraction, (pair.most - pair.least) / bounds.get(pair))
    }
  }
}

/** What jobs that have run were like, by name. */
function extremesOf (log, nameOf) {
  const found = new Map()
  for (const { kind, type, ms, cost } of log) {
    if (type === undefined) continue
    const name = nameOf(type)
    const own = found.get(name) ?? { running: 0, most: 1, longest: 1, dearest: 1, held: 1, correction: 0 }
    found.set(name, own)
    if (kind === 'start') {
      own.most = Math.max(own.most, ++own.running)
      own.longest = Math.max(own.longest, ms)
      own.dearest = Math.max(own.dearest, cost)
      own.held = Math.max(own.held, ms * cost)
    }
    if (kind === 'charge') own.correction = Math.max(own.correction, Math.abs(cost))
    if (kind === 'end') own.running--
  }
  return found
}

/** Of a type or a group. */
class Standing {
  constructor () {
    this.waiting = 0 // jobs of a type; types of a group that wait and are not held
    this.running = 0
    this.isHeld = false
    this.startable = 0 // types of a group that may start a job
    this.mayStart = false
    this.isNew = true // has started no job since it came, came back, or had its cap changed
  }
}

/** Who may start a job. */
class Status {
  constructor ({ weights, groupWeights, ...caps }) {
    this.caps = { ...caps, typeCaps: { ...caps.typeCaps }, groupCaps: { ...caps.groupCaps } }
    this.types = new Map(Array.from(weights.keys(), type => [type, new Standing()]))
    this.groups = new Map(Array.from(groupWeights.keys(), group => [group, new Standing()]))
  }

  see ({ kind, type, options }) {
    if (kind === 'configure') this.configure(options)
    else this.change(kind, this.types.get(type), this.groups.get(groupOf(type)))
    for (const changed of type === undefined ? this.types.keys() : [type]) this.renew(changed)
  }

  // private from here on

  configure ({ typeCaps, groupCaps }) {
    Object.assign(this.caps.typeCaps, typeCaps)
    Object.assign(this.caps.groupCaps, groupCaps)
    for (const one of [...this.types.values(), ...this.groups.values()]) one.isNew = true
  }

  change (kind, own, group) {
    const wasWaiting = own.waiting > 0 && !own.isHeld
    const started = kind === 'start' ? 1 : kind === 'end' ? -1 : 0
    own.running += started
    group.running += started
    if (kind === 'push') own.waiting++
    if (kind === 'start') own.waiting--
    if (kind === 'start') own.isNew = group.isNew = false
    if (kind === 'hold' || kind === 'free') own.isHeld = kind === 'hold'
    const isWaiting = own.waiting > 0 && !own.isHeld
    group.waiting += Number(isWaiting) - Number(wasWaiting)
    if (!isWaiting) own.isNew = true
    if (group.waiting === 0) group.isNew = true
  }

  renew (type) {
    const { caps: { typeCaps, maxTypeCap, groupCaps, maxGroupCap }, types, groups } = this
    const own = types.get(type)
    const group = groups.get(groupOf(type))
    const mayStart = own.waiting > 0 && !own.isHeld && own.running < Math.min(typeCaps[type] ?? Infinity, maxTypeCap)
    group.startable += Number(mayStart) - Number(own.mayStart)
    own.mayStart = mayStart
    group.mayStart = group.startable > 0 && group.running < Math.min(groupCaps[groupOf(type)] ?? Infinity, maxGroupCap)
  }
}

module.exports = { BY_COST, BY_COST_TIME, BY_TIME, Levels, groupedTrace, worstOfGroups, worstOfTypes }
