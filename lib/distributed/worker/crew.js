'use strict'

// HOT (bench: distributed). What there is work of, in a process that runs jobs: it hears of types, keeps a supply of each, and puts their tokens into
// the queue in memory, whose scheduler and slots decide what is run when.

const { randomInt } = require('node:crypto')
const { Delivery } = require('../../job/delivery')
const { describe } = require('../../arguments/errors')
const { PACE, Slice } = require('../../platform/slice')
const { isPassing } = require('../broker/failures')
const { checkJob, readWake } = require('../broker/received')
const { Scout } = require('./scout')
const { Supply } = require('./supply')
const { TakenJob } = require('./taken-job')
const { Ending, lostError } = require('./endings')

const MOST_ASKING = 8 // processes that ask for a type that has become ready, on average
const MORE_ASKING = 4 // times as many, each time that it is looked and it still is
const LOOK_AFTER_MS = 100 // the others look then
const STARTS_MS = 50 // starts are counted in stretches of this
const LONGEST_HELD_MS = 1000
const MOST_AT_ONCE = 500 // types that are asked about, and found, with one call

/** What stands in the queue in memory for a job that may be had. */
class Token {
  constructor (supply) {
    this.supply = supply
    this.delivery = undefined
    this.job = undefined // that its slot was given to
  }
}

class Crew {
  /**
   * @param {object} parts broker, stage, endings, announcer
   * @param {{ leaseMs: number, token: string, prefetch: () => number, concurrency: () => number }} options
   * @param {{ begin: (delivery: object, job: object) => void, lost: (job: object, error: any) => void, mayStart: (type: string) => boolean }} hooks
   */
  constructor ({ broker, stage, endings, announcer }, { leaseMs, token, prefetch, concurrency }, hooks) {
    this.broker = broker
    this.stage = stage
    this.endings = endings
    this.announcer = announcer
    this.leaseMs = leaseMs
    this.token = token
    this.prefetch = prefetch
    this.concurrency = concurrency
    this.hooks = hooks
    this.supplies = new Map() // by type
    this.heldCount = 0
    this.comingCount = 0 // calls on their way that bring jobs to hold
    this.startsNow = 0 // in this stretch of time
    this.startsBefore = 0 // ... and in the one before it
    this.stretch = 0
    this.early = [] // names that were heard of before the queue was open; undefined from then on
    this.isStopped = false
    this.isHeldUp = false // nothing is taken: a job runs alone
    this.heard = new Map() // partition → name that others may ask for, until it is looked whether it still is ready → { rank, most }: it is asked for below that rank
    this.lookTimer = undefined
    this.scouts = new Map(broker.partitions.map(partition => [partition, new Scout(broker, partition, {
      found: name => this.believeName(name),
      back: () => this.topUpAll(partition)
    })]))
    this.heldTimer = undefined
    this.idleWaiters = []
  }

  /** Begins to hear of types, and looks which are ready. No job is taken before it resolves: nobody could listen to what becomes of it. */
  async open () {
    for (const partition of this.broker.partitions) {
      await this.broker.listen(partition.wake, message => this.hear(partition, message))
    }
    await Promise.all(this.heartbeats().map(beat => beat.catch(unlessPassing)))
    await Promise.all(this.eachScout(scout => scout.look()))
    const names = this.early
    this.early = undefined
    this.believeSome(names, 0)
  }

  /** Whether a partition may be asked for jobs now. */
  mayAsk (partition) {
    return !this.isStopped && !this.isHeldUp && !partition.isAway && this.broker.isReady
  }

  get mayHold () {
    return !this.isStopped && !this.isHeldUp
  }

  /** How many calls for jobs of a type may be on their way at once. */
  get mostAsked () {
    return Math.max(1, Math.min(this.concurrency(), MOST_AT_ONCE))
  }

  /** Whether a job may be taken ahead: no more than were started lately. */
  hasRoom () {
    this.turnTo(Math.floor(performance.now() / STARTS_MS))
    return this.mayHold && this.heldCount + this.comingCount < Math.min(this.prefetch(), this.startsBefore + this.startsNow)
  }

  mayStart (type) {
    return !this.isHeldUp && !this.isStopped && this.hooks.mayStart(type)
  }

  /** A token was given a slot. */
  start (token, done, slot) {
    const delivery = new Delivery(token, done, slot, this.stage.starting())
    token.delivery = delivery
    token.supply.tokensCount--
    token.supply.serve(delivery)
  }

  place (supply) {
    this.stage.place(this.hooks.hasTypes ? supply.place.type : undefined, new Token(supply), false, Infinity)
  }

  begin (delivery, job) {
    this.turnTo(Math.floor(performance.now() / STARTS_MS))
    this.startsNow++
    this.hooks.begin(delivery, job)
  }

  /** There may be jobs of a type. */
  believe (type) {
    if (this.isStopped) return
    this.supplyOf(type).believe()
  }

  supplyOf (type) {
    let supply = this.supplies.get(type)
    if (supply === undefined) {
      const place = this.broker.place(type)
      place.usersCount++
      supply = new Supply(this, place)
      this.supplies.set(type, supply)
    }
    return supply
  }

  /** @returns {Promise<any[] | undefined>} as of moveToActive; undefined without an answer: what it may have taken is another's after a lease */
  async askBroker (place) {
    try {
      return await place.backend.moveToActive(this.token)
    } catch (err) {
      this.failed(place, err)
      return undefined
    }
  }

  /** @returns {Promise<boolean>} whether jobs of the type wait at the broker, which gave none */
  async unready (place) {
    try {
      const keys = [place.partition.ready, place.key('wait'), place.key('prioritized'), place.key('meta')]
      return await this.broker.client.fairlaneUnready(...keys, place.name) === 1
    } catch (err) {
      this.failed(place, err)
      return false // when the partition is back it is looked what is ready
    }
  }

  /** A call for jobs of a type has failed. */
  failed ({ partition, type }, err) {
    if (!this.scouts.get(partition).failed(err)) this.broker.troubles.refused(`jobs of the type ${describe(type)}`, err, type)
  }

  /** The broker has given a job to this process. */
  taken (supply, name, json, askedAt) {
    const before = supply.jobs.get(name)
    // It was another's, or nobody's, in between: what of it goes on here is late. If the broker is being told of its end, the answer
    // says what became of it: it may have gone back by that.
    if (before !== undefined && !before.isEnding) this.lose(before)
    checkJob(json)
    const job = new TakenJob(supply, name, json, askedAt)
    supply.jobs.set(name, job)
    return job
  }

  /** Others may have the job. */
  lose (job, cause) {
    job.supply.drop(job)
    this.hooks.lost(job, lostError(cause))
  }

  /** A job waits here for a slot. */
  hold () {
    this.heldCount++
    this.heldTimer ??= setTimeout(() => this.returnHeld(), LONGEST_HELD_MS / 4)
  }

  /** What limits a type in all processes is another: what is held of it was taken by the old limit. @returns {Promise<void> | undefined} */
  changed (place) {
    return this.supplies.get(place?.type)?.recheck()
  }

  /** Gives jobs back that were not begun; to be given in the order in which they are to be put before each other. */
  async returnJobs (supply, jobs) {
    for (const job of jobs) {
      supply.tellingCount++
      await this.endings.tell(new Ending(job, 'returned'), false)
      supply.tellingCount--
    }
    await this.announce(supply.place)
    supply.topUp()
    this.ended()
  }

  /** Jobs were put back: somebody may have found the type empty meanwhile. @returns {Promise<void>} */
  announce (place) {
    return this.announcer.announce(place).then(ignore, ignore)
  }

  /** Takes no more, and gives back what it holds. @returns {Promise<void>} */
  stop () {
    this.isStopped = true
    for (const timer of [this.lookTimer, this.heldTimer]) clearTimeout(timer)
    this.eachScout(scout => scout.stop())
    for (const supply of this.supplies.values()) supply.stop()
    this.stage.withdraw(list => list.removeAll(), token => { token.supply.tokensCount-- })
    return this.returnAllHeld()
  }

  returnAllHeld () {
    return Promise.all([...this.supplies.values()].map(supply => supply.returnHeld(Infinity)))
  }

  /** @returns {Promise<void>} resolves when the broker was told of all that has ended, and nothing is asked any more */
  async whenTold () {
    while ([...this.supplies.values()].some(supply => supply.askingCount + supply.tellingCount + supply.endings.length > 0)) {
      await new Promise(resolve => this.idleWaiters.push(resolve))
    }
  }

  /** A call has ended. */
  ended () {
    for (const resolve of this.idleWaiters.splice(0)) resolve()
  }

  /** Nothing but one job is to run: what is held goes back. */
  holdUp () {
    this.isHeldUp = true
    this.returnAllHeld().catch(ignore)
  }

  letGo () {
    this.isHeldUp = false
    this.topUpAll()
  }

  /** The broker is there again. */
  resume () {
    if (this.isStopped) return
    this.topUpAll()
    this.eachScout(scout => scout.look().catch(ignore))
  }

  /** A node of the broker was lost, or has come back. */
  shaken () {
    this.eachScout(scout => scout.alarm())
  }

  /** Forgets types that have nothing. O(types). */
  forget () {
    for (const [type, supply] of this.supplies) {
      if (!supply.isIdle) continue
      supply.stop()
      supply.place.usersCount--
      this.supplies.delete(type)
    }
  }

  /** Slots for which the broker is being asked. O(types). */
  get askersCount () {
    return [...this.supplies.values()].reduce((sum, supply) => sum + supply.askersCount, 0)
  }

  /** Says that this process is gone. */
  leave () {
    if (!this.broker.isReady) return Promise.resolve()
    return Promise.all(this.broker.partitions.map(({ workers }) => this.broker.client.zrem(workers, this.token)))
  }

  /** Says that this process is there. @returns {Promise<any>[]} to each partition */
  heartbeats () {
    return this.broker.partitions.map(({ workers }) => this.broker.client.zadd(workers, Date.now(), this.token))
  }

  // private from here on

  /** Starts are counted anew in each stretch of time. */
  turnTo (stretch) {
    if (stretch === this.stretch) return
    this.startsBefore = stretch === this.stretch + 1 ? this.startsNow : 0
    this.startsNow = 0
    this.stretch = stretch
  }

  /** Types have become ready: of many processes some ask, the others look a little later whether that was enough, and if not, some more ask. */
  hear (partition, message) {
    const wake = readWake(message)
    if (wake === undefined) return false
    const { workersCount, names = [], cancelled, changed, freed } = wake
    for (const name of names) this.heed(partition, name, workersCount <= MOST_ASKING ? 0 : randomInt(workersCount), MOST_ASKING)
    // a job that runs is cancelled, what limits a type is another, or there is a place under its cap
    if (cancelled !== undefined) this.hooks.cancelled(this.broker.placeOf(cancelled[0]), cancelled[1])
    if (changed !== undefined) this.changed(this.broker.placeOf(changed))
    if (freed !== undefined) this.supplies.get(this.broker.placeOf(freed)?.type)?.freed()
    return true
  }

  heed (partition, name, rank, most) {
    if (this.isStopped) return
    if (rank < most) {
      this.believeName(name)
      return
    }
    if (!this.heard.has(partition)) this.heard.set(partition, new Map())
    this.heard.get(partition).set(name, { rank, most })
    this.lookTimer ??= setTimeout(() => this.look(), LOOK_AFTER_MS)
  }

  async look () {
    this.lookTimer = undefined
    const heard = [...this.heard]
    this.heard.clear()
    await Promise.all(heard.map(async ([partition, names]) => {
      const all = [...names.keys()]
      for (let at = 0; at < all.length; at += MOST_AT_ONCE) {
        const some = all.slice(at, at + MOST_AT_ONCE)
        const answers = await this.broker.client.smismember(partition.ready, ...some).catch(() => some.map(() => 1))
        some.forEach((name, index) => {
          const { rank, most } = names.get(name)
          if (answers[index] === 1) this.heed(partition, name, rank, most * MORE_ASKING)
        })
      }
    }))
  }

  eachScout (call) {
    return [...this.scouts.values()].map(call)
  }

  /** @param {object} [partition] of these types only */
  topUpAll (partition) {
    for (const supply of this.supplies.values()) {
      if (partition === undefined || supply.place.partition === partition) supply.topUp()
    }
  }

  /** As many of these as a slice takes, and the others in later turns. */
  believeSome (names, from) {
    const slice = new Slice(PACE)
    let at = from
    while (at < names.length && !slice.isOver()) this.believeName(names[at++])
    if (at < names.length) setImmediate(() => this.believeSome(names, at))
  }

  believeName (name) {
    if (this.early !== undefined) {
      this.early.push(name)
      return
    }
    const place = this.broker.placeOf(name)
    if (place !== undefined) this.believe(place.type)
  }

  returnHeld () {
    this.heldTimer = undefined
    const since = performance.now() - LONGEST_HELD_MS
    for (const supply of this.supplies.values()) supply.returnHeld(since)
    if (this.heldCount > 0) this.heldTimer = setTimeout(() => this.returnHeld(), LONGEST_HELD_MS / 4)
  }
}

function unlessPassing (err) {
  if (!isPassing(err)) throw err
}

function ignore () {}

module.exports = { Crew }
