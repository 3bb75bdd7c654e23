'use strict'

// The limits of all processes, as this one knows them: written when it opens the queue and by calls, followed when others write them, and
// written again when the broker has lost them. One node has them, each partition a copy of what its types need.
//
//   write ──▶ .fleet, by its generation ──▶ copies ──▶ told to workers, by .wake
//                │  told, by its channel       ▲
//                └── look() ───────────────────┘ whoever meets a copy of an earlier generation brings it into line
//
// The hash on one node is written first: a write that ends halfway is completed by whoever takes a job next.

const { isPassing } = require('../broker/failures')
const { checkCost, mostCost, ofCost } = require('../../job/cost')
const { nameOf, partitionOf } = require('../names')
const { define } = require('./scripts')
const { OF_COPIES, Terms, differences, fieldOfCap, fieldOfConcurrency, fieldsOfOptions, fieldsOfRates, nameIn, publicTerms } =
  require('./terms')

const LOOK_AFTER_MS = 900 // each process follows within a second that is not told
const LONGEST_UNSEEN_MS = 10000 // a message may be lost between nodes of a Redis Cluster, and a broker that came back empty sends none
const LOST_AFTER_MS = 2000 // a generation that one partition has, and no process wrote again in this time, is lost

class Fleet {
  /**
   * @param {{ broker: object }} parts
   * @param {object} options read
   * @param {(event: string, makeValue: () => object) => void} tell listeners of the queue
   */
  constructor ({ broker }, options, tell) {
    this.broker = broker
    this.options = options
    this.tell = tell
    this.key = `{fairlane:${broker.name}}:.fleet`
    this.terms = new Terms()
    this.heldUntil = -Infinity // by performance.now()
    this.patch = undefined // how these terms came from others: { from, set, removed }
    this.copying = new Map() // partition → the call that brings its copy into line
    this.lagging = new Set() // partitions whose copies could not be written
    this.aheadSince = Infinity // a partition has a later generation than the node that has the limits
    this.hooks = [] // of parts that do what the limits say
    this.isListening = false // messages come
    this.timer = undefined
    this.lookedAt = -Infinity // by performance.now()
    this.isOver = false
  }

  /**
   * @param {{ changed: (fields: string[], isHeld: boolean) => void, inLine: (partition: object) => void,
   *   freed: (tokens: string[]) => void }} hooks changed: other fields count from now on; inLine: the copy of a partition is that of this
   *   process again; freed: processes may ask for places again
   */
  follow (hooks) {
    this.hooks.push(hooks)
  }

  /** Writes what the options give and the last opening did not. @returns {Promise<void>} */
  async open () {
    define(this.broker.client)
    if (this.options.runner !== null) {
      await this.broker.listen(this.key, message => this.hear(message))
      this.isListening = true
    }
    const kinds = fieldsOfOptions(this.options)
    await this.write(terms => { for (const [kind, fields] of kinds) terms.give(kind, fields) })
    const lookNow = () => { this.lookAndMend().catch(ignore) }
    this.broker.onReady.push(lookNow)
    this.broker.onShaken.push(lookNow)
    this.lookLater()
  }

  /** In the place of open(): writes nothing, and follows nobody, until it is told to change something. */
  visit () {
    define(this.broker.client)
  }

  stop () {
    this.isOver = true
    clearTimeout(this.timer)
  }

  /** @param {{ rate?: object[] | null, ratePerType?: object }} rates as read @returns {Promise<void>} */
  setRates ({ rate, ratePerType }) {
    return this.write(terms => {
      if (rate !== undefined) terms.set('rate', rate === null ? undefined : JSON.stringify(rate))
      if (ratePerType !== undefined) terms.setAll('rates', fieldsOfRates(ratePerType))
    })
  }

  /** @throws FAIRLANE_ERR_ARGUMENT if a job of a type could never start by the rates of that, since it costs too much */
  checkCost (type, cost) {
    const { values } = this.terms
    for (const rates of [values.get('rate'), values.get(`rates:${nameOf(type)}`) ?? values.get('rates')]) {
      if (rates !== undefined) checkCost(cost, mostCost(JSON.parse(rates)))
    }
  }

  setCap (type, cap) {
    return this.write(terms => terms.set(...fieldOfCap(type, cap)))
  }

  setConcurrency (n) {
    return this.write(terms => terms.set('concurrency', fieldOfConcurrency(n)))
  }

  pause (isPaused) {
    return this.write(terms => terms.set('paused', isPaused ? '1' : undefined))
  }

  /** No process starts a job for so long; 0 ends that. */
  hold (ms) {
    return this.write(ignore, ms)
  }

  /** @returns {Promise<number>} in how many ms a job might start as far as hold() and the rate of the queue go */
  async heldMs () {
    await this.broker.soon(() => this.look())
    if (!this.terms.values.has('rate')) return this.heldMsNow
    const waits = await Promise.all([this.permitsMs(), this.unitsMs()])
    return Math.max(this.heldMsNow, ...waits)
  }

  /** In how many ms the rate of starts lets one start. */
  async permitsMs () {
    const { define, keysOf } = require('./permits')
    const { client, name } = this.broker
    define(client)
    const nothing = ['', 1, 0, 0, 0, 0, -1, 0, 0, '', '', 0, 0]
    const [, waitMs = 0] = await this.broker.soon(() => client.fairlanePermits(...keysOf(name), this.terms.generation, ...nothing))
    return waitMs
  }

  /** In how many ms the job may start that waits first for units of a rate of cost. */
  async unitsMs () {
    if (!ofCost(JSON.parse(this.terms.values.get('rate')))) return 0
    const { define, keysOf } = require('./units')
    const { client, name } = this.broker
    define(client)
    const args = [this.terms.generation, '', -1, 0, 0, '', '', 0]
    const [, , , waitMs = 0] = await this.broker.soon(() => client.fairlaneUnits(...keysOf(name), ...args))
    return waitMs
  }

  get heldMsNow () {
    return Math.max(0, this.heldUntil - performance.now())
  }

  /** A call was answered by a partition with the generation of its copy; '' if it has none. @returns {Promise<void>} */
  noticed (partition, generation) {
    if (generation === this.terms.generation && !this.copying.has(partition)) {
      partition.generation = generation
      return Promise.resolve()
    }
    return this.bring(partition, true)
  }

  // private from here on

  hear (message) {
    const { limits, freed } = Object(message)
    if (Array.isArray(freed)) for (const hook of this.hooks) hook.freed(freed)
    else if (typeof limits !== 'string') return false
    else if (isLater(limits, this.terms.generation)) this.lookAndMend().catch(ignore)
    return true
  }

  lookLater () {
    if (this.isOver) return
    this.timer = setTimeout(() => {
      if (this.mustLook()) this.lookAndMend().catch(ignore).finally(() => this.lookLater())
      else this.lookLater()
    }, LOOK_AFTER_MS)
  }

  /** A process that only pushes has no messages: it looks often where somebody wants to be told. */
  mustLook () {
    const isBlind = !this.isListening && this.options.isHeard('limits')
    return isBlind || this.lagging.size > 0 || performance.now() - this.lookedAt >= LONGEST_UNSEEN_MS
  }

  async lookAndMend () {
    if (!this.broker.isReady || this.isOver) return
    await this.look()
    for (const partition of [...this.lagging]) await this.bring(partition, false)
  }

  /** Knows what the broker has then, or writes it there again. @returns {Promise<void>} */
  async look () {
    const { terms: known } = this
    const [generation, now, flat] = await this.broker.client.fairlaneTerms(this.key, known.generation)
    this.lookedAt = performance.now()
    if (generation === known.generation) return
    if (isLater(known.generation, generation)) {
      await this.restore()
      return
    }
    const terms = Terms.read(flat)
    const heldUntil = terms.values.get('heldUntil')
    terms.values.delete('heldUntil')
    terms.values.delete('placesFrom') // of the permits' script
    const held = heldUntil === undefined ? -Infinity : performance.now() + Number(heldUntil) - Number(now)
    const isNew = known.born !== '' && terms.born !== known.born
    if (isNew && await this.fillIn(terms)) return
    this.adopt(terms, held)
  }

  /** The broker has lost what this process knows. */
  async restore () {
    const { terms } = this
    const fields = new Map([['born', terms.born], ...terms.fields])
    await this.broker.client.fairlaneRestoreTerms(this.key, terms.generation, Math.ceil(this.heldMsNow), ...[...fields].flat())
  }

  /** ... and others have begun anew meanwhile. @returns {Promise<boolean>} whether there is more by now than they wrote */
  async fillIn (terms) {
    const next = terms.copy()
    next.restore(this.terms)
    const heldMs = Math.ceil(this.heldMsNow)
    if (differences(terms.fields, next.fields).length === 0 && heldMs === 0) return false
    return this.send(terms, next, heldMs > 0 ? heldMs : '')
  }

  /** @param {(terms: Terms) => void} alter @param {number | ''} [holdMs] @returns {Promise<void>} */
  async write (alter, holdMs = '') {
    for (;;) {
      await this.broker.soon(() => this.look())
      const { terms } = this
      const next = terms.copy()
      alter(next)
      if (terms.generation !== '' && holdMs === '' && differences(terms.fields, next.fields).length === 0) return
      if (await this.broker.soon(() => this.send(terms, next, holdMs))) break
    }
    await Promise.all(this.broker.partitions.map(partition => this.bring(partition, false)))
  }

  /** @returns {Promise<boolean>} false if others have written meanwhile */
  async send (before, next, holdMs, later = '') {
    const { from, to } = { from: before.fields, to: next.fields }
    const changed = differences(from, to)
    const set = changed.filter(field => to.has(field)).flatMap(field => [field, to.get(field)])
    const removed = changed.filter(field => !to.has(field))
    const args = [before.generation, later, holdMs, 'PUBLISH', set.length, ...set, ...removed]
    const generation = await this.broker.client.fairlaneSetTerms(this.key, ...args)
    if (generation === null) return false
    const terms = next.copy()
    terms.generation = generation
    if (terms.born === '') terms.born = generation
    this.adopt(terms, holdMs === '' ? this.heldUntil : holdMs === 0 ? -Infinity : performance.now() + holdMs)
    return true
  }

  adopt (terms, heldUntil) {
    const { terms: before } = this
    if (!isLater(terms.generation, before.generation)) return
    const isHeld = Math.abs(heldUntil - this.heldUntil) > 1 // it is -Infinity, or measured anew
    const fields = differences(before.values, terms.values)
    this.terms = terms
    this.heldUntil = heldUntil
    this.patch = { from: before.generation, fields: fields.filter(field => OF_COPIES.test(field)) }
    for (const partition of this.broker.partitions) partition.generation = terms.generation
    for (const { changed } of this.hooks) changed(fields, isHeld)
    if (before.generation === '' || fields.length === 0) return
    this.tell('limits', () => ({ before: publicTerms(before), after: publicTerms(terms) }))
  }

  /**
   * Brings the copy of a partition into line.
   * @param {boolean} isUnsure the broker may have something later than this process knows
   * @returns {Promise<void>} what fails is tried again
   */
  bring (partition, isUnsure) {
    const running = this.copying.get(partition)
    if (running !== undefined) return running
    const call = this.bringNow(partition, isUnsure).catch(err => {
      if (!isPassing(err)) this.broker.troubles.refused('the limits of the queue', err)
      return false
    }).then(isInLine => {
      this.copying.delete(partition)
      if (isInLine) this.lagging.delete(partition)
      else this.lagging.add(partition)
    })
    this.copying.set(partition, call)
    return call
  }

  /** @returns {Promise<boolean>} false if it is to be tried again later */
  async bringNow (partition, isUnsure) {
    if (isUnsure) await this.look()
    for (;;) {
      const { terms, patch } = this
      let there = await this.copy(partition, patch.from, patch.fields.filter(field => this.isIn(partition, field)))
      if (isLater(terms.generation, there)) there = await this.copy(partition, '', this.fieldsOf(partition))
      if (isLater(there, terms.generation)) await this.catchUp(there)
      else if (terms === this.terms) break
      if (terms === this.terms) return false
    }
    this.aheadSince = Infinity
    for (const { inLine } of this.hooks) inLine(partition)
    return true
  }

  /** @returns {Promise<string>} the generation that the partition has then */
  copy (partition, from, fields) {
    const { generation, values } = this.terms
    const set = fields.filter(field => values.has(field)).flatMap(field => [field, values.get(field)])
    const removed = fields.filter(field => !values.has(field))
    const args = [generation, from, Math.ceil(this.heldMsNow), 'PUBLISH', partition.wake, set.length, ...set, ...removed]
    return this.broker.client.fairlaneCopyTerms(partition.key('limits'), ...args)
  }

  /** A partition has a later generation: others have written it, or it is the only trace of a write that the broker has lost. */
  async catchUp (generation) {
    await this.look()
    if (!isLater(generation, this.terms.generation)) return
    const now = performance.now()
    this.aheadSince = Math.min(this.aheadSince, now)
    if (now - this.aheadSince >= LOST_AFTER_MS) await this.send(this.terms, this.terms, '', generation)
  }

  fieldsOf (partition) {
    return [...this.terms.values.keys()].filter(field => OF_COPIES.test(field) && this.isIn(partition, field))
  }

  isIn (partition, field) {
    const { partitions } = this.broker
    const name = nameIn(field)
    return name === undefined || partitions[partitionOf(name, partitions.length)] === partition
  }
}

/** Whether a generation is later than another one; '' is that of a broker that has none. */
function isLater (one, other) {
  return Number(one) > Number(other)
}

function ignore () {}

module.exports = { Fleet }
