'use strict'

// What a process that runs jobs has beside one that only pushes. A word that a type has jobs reaches its supply, which has a token of it stand in the
// queue in memory; a token with a slot gets a job of the broker, and the end of that job brings the next one.
//
//   wakes, scouts ─▶ crew ─▶ supply ─▶ slots ─▶ queue in memory ─▶ slots ─▶ supply ─▶ requests ─▶ attempts ─▶ supply ─▶ endings
//
// Each part knows those that it is given here; a job brings the supply that it came from, which is told of its end.

const { isPassing } = require('../broker/failures')
const { Attempts } = require('./attempts')
const { Crew } = require('./crew')
const { Endings } = require('./endings')
const { Keeper } = require('./keeper')
const { Leases } = require('./leases')
const { Overdue } = require('./overdue')
const { Prefetch } = require('./prefetch')
const { Requests } = require('./requests')
const { Scout } = require('./scout')
const { Slots } = require('./slots')
const { Suspects } = require('./suspects')
const { Taking } = require('./taking')
const { Wakes } = require('./wakes')

class Worker {
  /**
   * @param {object} parts broker, announcer, records, outcomes, observed, core (the queue in memory), stage (what its owner may do)
   * @param {object} options read; runner, token, and isPaused(type) beside them
   * @param {(prefetch: number | undefined, concurrency: number) => number} readLimit how many jobs may be taken ahead
   */
  constructor ({ broker, announcer, records, outcomes, observed, core, stage }, options, readLimit) {
    const { maxAttempts, prefetch } = options
    this.taking = new Taking()
    this.slots = new Slots(core, stage, options.isPaused)
    // a job that may be started once only is not taken before there is a slot for it: the end of the process would count as its start
    const most = () => maxAttempts === 1 ? 0 : readLimit(prefetch, this.slots.concurrency)
    this.prefetch = new Prefetch(most, takenBefore => this.crew.returnPrefetched(takenBefore))
    this.scouts = new Map(broker.partitions.map(partition => [partition, new Scout(broker, partition, {
      found: name => this.wakes.found(name),
      back: () => this.crew.topUpAll(partition)
    })]))
    this.requests = new Requests(broker, this.taking, this.scouts, options)
    this.overdue = new Overdue(broker, options)
    this.endings = new Endings(broker, this.overdue, outcomes, options)
    this.suspects = new Suspects({ holdUp: () => this.holdUp(stage), letGo: () => this.letGo(stage) })
    const { taking, slots, requests, overdue, endings, suspects } = this
    this.attempts = new Attempts({ records, stage, suspects, overdue, outcomes, observed }, options)
    this.crew = new Crew(broker, { taking, slots, prefetch: this.prefetch, requests, endings, announcer, attempts: this.attempts })
    this.wakes = new Wakes(broker, this.crew)
    this.leases = new Leases(broker, this.crew, options)
    this.keeper = new Keeper(broker, announcer, options)
    broker.onReady.push(() => this.resume())
    broker.onShaken.push(() => this.eachScout(scout => scout.alarm()))
  }

  /** Jobs whose runners were called and whose slots are theirs. */
  get runningCount () {
    return this.attempts.running.size
  }

  /** Jobs that wait here for a slot. */
  get prefetchedCount () {
    return this.prefetch.count
  }

  /** ... of a type. */
  prefetchedOf (type) {
    return this.crew.supplies.get(type)?.prefetched.length ?? 0
  }

  /** Slots for which the broker is being asked. O(types). */
  get askersCount () {
    return this.crew.askersCount
  }

  /** The queue in memory has given a slot to a token. */
  start (token, done, slot) {
    this.slots.start(token, done, slot)
  }

  /** The queue in memory has settled a slot. */
  settled (token, err, result) {
    this.attempts.settled(token, err, result)
  }

  /** Begins to hear of types, and looks which are ready. No job is taken before it resolves: nobody could listen to what becomes of it. */
  async open () {
    await this.wakes.open()
    await Promise.all(this.leases.heartbeats().map(beat => beat.catch(unlessPassing)))
    await Promise.all(this.eachScout(scout => scout.look()))
    this.wakes.begin()
  }

  /** Jobs are taken from now on: what is to be done now and then begins. */
  begin () {
    this.leases.begin()
    this.keeper.begin()
  }

  /** What limits a type in all processes is another. */
  changed (place) {
    this.crew.changed(place)
  }

  /** Forgets types that have nothing. O(types). */
  forget () {
    this.crew.forget()
  }

  /** @returns {Promise<void>} resolves when the broker was told of all that has ended */
  whenTold () {
    return this.crew.whenTold()
  }

  /** Takes no more jobs, and gives back what was prefetched. @returns {Promise<any>} */
  stop () {
    this.taking.isStopped = true
    this.wakes.stop()
    this.prefetch.stop()
    this.eachScout(scout => scout.stop())
    this.crew.stop()
    this.slots.withdraw()
    return this.crew.returnPrefetched(Infinity)
  }

  /** No runner is waited for any more: what they did not end well goes back. */
  endRuns () {
    this.overdue.end(this.crew.supplies.values())
    this.attempts.end()
  }

  /** Looks after nothing any more. @returns {Promise<void>} */
  async leave () {
    await this.keeper.stop()
    this.leases.stop()
    await this.leases.leave().catch(ignore)
  }

  // private from here on

  /** Nothing but one job is to run: what was prefetched goes back. */
  holdUp (stage) {
    stage.hold()
    this.taking.isHeldUp = true
    this.crew.returnPrefetched(Infinity).catch(ignore)
  }

  letGo (stage) {
    this.taking.isHeldUp = false
    this.crew.topUpAll()
    stage.letGo()
  }

  /** The broker is there again. */
  resume () {
    if (this.taking.isStopped) return
    this.crew.topUpAll()
    this.eachScout(scout => scout.look().catch(ignore))
  }

  eachScout (call) {
    return [...this.scouts.values()].map(call)
  }
}

function unlessPassing (err) {
  if (!isPassing(err)) throw err
}

function ignore () {}

module.exports = { Worker }
