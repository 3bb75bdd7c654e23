'use strict'

// What a process that runs jobs has beside one that only pushes. A word that a type has jobs reaches its supply, which has a token of
// it stand in the queue in memory; a token with a slot gets a job of the broker, and the end of that job brings the next one.
//
//   wakes, scouts ─▶ crew ─▶ supply ─▶ slots ─▶ queue in memory ─▶ slots ─▶ supply ─▶ requests ─▶ attempts ─▶ supply ─▶ endings
//
// Each part knows those that it is given here; a job brings the supply that it came from, which is told of its end.

const { givenTo } = require('../../platform/wiring')
const { isPassing } = require('../broker/failures')
const { Takes } = require('../broker/takes')
const { Attempts } = require('./attempts')
const { Crew } = require('./crew')
const { Endings } = require('./endings')
const { Leases } = require('./leases')
const { Overdue } = require('./overdue')
const { Prefetch } = require('./prefetch')
const { Progress } = require('./progress')
const { Requests } = require('./requests')
const { Scouts } = require('./scout')
const { Slots } = require('./slots')
const { Standby } = require('./standby')
const { Suspects } = require('./suspects')
const { Taking } = require('./taking')
const { Wakes } = require('./wakes')

// part → those that it is given, in the order in which they are made; the first ones are there before
const WIRING = {
  announcer: [],
  broker: [],
  core: [], // the queue in memory
  observed: [], // undefined without observers
  outcomes: [],
  records: [],
  stage: [], // what the owner of the queue in memory may do
  starts: [], // what limits all processes

  taking: [],
  slots: ['core', 'stage', 'starts'],
  prefetch: ['slots', 'starts'],
  scouts: ['broker'],
  takes: ['broker', 'starts'],
  standby: ['broker', 'scouts', 'takes'],
  requests: ['broker', 'scouts', 'standby', 'takes', 'taking'],
  overdue: ['broker'],
  endings: ['broker', 'outcomes', 'overdue', 'takes'],
  suspects: ['stage', 'taking'],
  progress: ['broker', 'outcomes'],
  attempts: ['observed', 'outcomes', 'overdue', 'progress', 'records', 'stage', 'suspects', 'takes'],
  crew: ['announcer', 'attempts', 'broker', 'endings', 'prefetch', 'requests', 'slots', 'taking'],
  wakes: ['broker', 'crew', 'scouts', 'starts'],
  leases: ['broker', 'crew', 'starts']
}

class Worker {
  /**
   * @param {object} given the first parts of WIRING
   * @param {object} options read; runner, token, and isPaused(type) beside them
   * @param {(concurrency: number) => number} mostPrefetched how many jobs may be taken ahead
   */
  constructor (given, options, mostPrefetched) {
    const parts = { ...given }
    const made = name => givenTo(name, WIRING, parts)
    parts.taking = new Taking()
    parts.slots = new Slots(made('slots'), options)
    parts.prefetch = new Prefetch(made('prefetch'), mostPrefetched)
    parts.scouts = new Scouts(made('scouts'))
    parts.takes = new Takes(made('takes'), options)
    parts.standby = new Standby(made('standby'))
    parts.requests = new Requests(made('requests'), options)
    parts.overdue = new Overdue(made('overdue'), options)
    parts.endings = new Endings(made('endings'), options)
    parts.suspects = new Suspects(made('suspects'))
    parts.progress = new Progress(made('progress'))
    parts.attempts = new Attempts(made('attempts'), options)
    parts.crew = new Crew(made('crew'))
    parts.wakes = new Wakes(made('wakes'))
    parts.leases = new Leases(made('leases'), options)
    this.parts = parts
    given.broker.onReady.push(() => this.resume())
    given.starts.tell({
      running: () => parts.attempts.deliveries(),
      lost: () => parts.attempts.loseAll(),
      countCosts: () => parts.slots.shareCosts(),
      changed: names => parts.crew.recheckAll(names),
      inLine: partition => parts.crew.recheckPartition(partition)
    })
    given.broker.onShaken.push(() => parts.scouts.alarm())
  }

  /** Jobs whose runners were called and whose slots are theirs. */
  get runningCount () {
    return this.parts.attempts.running.size
  }

  /** Jobs that wait here for a slot. */
  get prefetchedCount () {
    return this.parts.prefetch.count
  }

  /** ... of a type. */
  prefetchedOf (type) {
    return this.parts.crew.supplies.get(type)?.prefetched.length ?? 0
  }

  /** Runners of a type that go on in their slots though their jobs have ended. O(all such) */
  overdueOf (type) {
    return this.parts.stage.overdueOf(type)
  }

  /** Slots for which the broker is being asked. O(types). */
  get askersCount () {
    return this.parts.crew.askersCount
  }

  /** The queue in memory has given a slot to a token. */
  start (token, done, slot) {
    this.parts.slots.start(token, done, slot)
  }

  /** The queue in memory has settled a slot. */
  settled (token, err, result) {
    this.parts.attempts.settled(token, err, result)
  }

  /** Begins to hear of types, and looks which are ready. No job is taken before it resolves: the queue has no listeners yet. */
  async open () {
    const { leases, scouts, wakes } = this.parts
    await wakes.open()
    await Promise.all(leases.heartbeats().map(beat => beat.catch(unlessPassing)))
    await scouts.look()
    wakes.begin()
  }

  /** Jobs are taken from now on: what is to be done now and then begins. */
  begin () {
    this.parts.leases.begin()
  }

  /** The limits of a type have changed. */
  changed (place) {
    this.parts.crew.changed(place)
  }

  /** Forgets types that have nothing. O(types). */
  forget () {
    this.parts.crew.forget()
  }

  /** @returns {Promise<void>} resolves when the broker was told of all that has ended */
  whenTold () {
    return this.parts.crew.whenTold()
  }

  /** Takes no more jobs, and gives back what was prefetched. @returns {Promise<any>} */
  stop () {
    const { crew, prefetch, scouts, slots, standby, starts, taking, wakes } = this.parts
    taking.isStopped = true
    for (const part of [wakes, prefetch, scouts, standby, crew]) part.stop()
    slots.withdraw()
    return Promise.all([crew.returnPrefetched(Infinity), starts.stop()])
  }

  /** No runner is waited for any more: what they did not end well goes back. */
  endRuns () {
    const { attempts, crew, overdue } = this.parts
    overdue.end(crew.supplies.values())
    attempts.end()
  }

  /** Looks after nothing any more. @returns {Promise<void>} */
  async leave () {
    const { leases, starts } = this.parts
    leases.stop()
    await starts.leave()
    await leases.leave().catch(ignore)
  }

  // private from here on

  /** The broker is there again. */
  resume () {
    const { crew, scouts, taking } = this.parts
    if (taking.isStopped) return
    crew.topUpAll()
    scouts.lookAgain()
  }
}

function unlessPassing (err) {
  if (!isPassing(err)) throw err
}

function ignore () {}

module.exports = { WIRING, Worker }
