'use strict'

/*
 * Random histories for schedulers.
 */

const { simulation } = require('./simulation')
const { seeded } = require('./random')
const { withoutTime } = require('./time')
const { turns } = require('./turns')

module.exports = { startOrder, backlogTrace, oddWeightsTrace, strangersTrace, heldTrace }

/**
 * Pushes and completions at random, one completion at a time in turns of its own, up to the end of all jobs.
 *
 * @param {(runner: Function, concurrency: number, schedulerOptions: object) => object} makeQueue quickq's or ours
 * @param {number} seed
 * @param {(random: object) => object} makeOptions the scheduler options of this history
 * @returns {Promise<string[]>} the jobs, as 'type:number', in the order in which they were started
 */
function startOrder (makeQueue, seed, makeOptions) {
  return withoutTime(() => startedInOrder(makeQueue, seed, makeOptions))
}

async function startedInOrder (makeQueue, seed, makeOptions) {
  const random = seeded(seed)
  const concurrency = 1 + random.below(20)
  const typeCount = 1 + random.below(15)
  const started = []
  const open = []
  const queue = makeQueue((payload, done) => {
    started.push(payload)
    open.push(done)
  }, concurrency, makeOptions(random))

  let count = 0
  for (let step = 0; step < 100 || queue.length > 0; step++) {
    if (step > 10000) throw new Error(`seed ${seed}: jobs wait and none is started`)
    if (step < 100) pushSome()
    await turns(2)
    for (let n = random.below(5); n > 0 && open.length > 0; n--) {
      open.splice(random.below(open.length), 1)[0]()
      await turns(2)
    }
  }
  return started

  function pushSome () {
    const mostTypes = 1 + random.below(typeCount)
    for (let n = random.below(random.chance(0.2) ? 30 : 3); n > 0; n--) {
      const type = `type ${random.below(random.chance(0.3) ? 1 : mostTypes)}`
      const payload = `${type}:${count++}`
      if (random.chance(0.15)) queue.unshiftType(type, payload)
      else queue.pushType(type, payload)
    }
  }
}

/**
 * Types with random weights, job lengths over 2.5 decades, and bursts of jobs; or one type that long has one long job at a time, among
 * types with short ones, and then many.
 *
 * @param {number} seed
 * @param {(weights: Map<string, number>) => object} makeScheduler
 * @returns {Promise<{ log: object[], weights: Map<string, number> }>}
 */
async function backlogTrace (seed, makeScheduler) {
  const random = seeded(seed)
  const weights = new Map()
  for (let i = 2 + random.below(7); i > 0; i--) weights.set(`type ${i}`, 1 + random.below(9))
  const sim = simulation({ concurrency: 1 + random.below(20), scheduler: makeScheduler(weights) })
  const types = [...weights.keys()]
  if (random.chance(0.5)) {
    const ms = 200 + random.below(116)
    for (const type of types.slice(1)) sim.push(type, 1 + random.below(10), 3000)
    for (let i = 0; i <= 12; i++) sim.at(i * ms, () => sim.push(types[0], ms, i < 12 ? 1 : 60))
  } else {
    for (const type of types) bursts(type)
  }
  await sim.runUntil(20000)
  return { log: sim.log, weights }

  function bursts (type) {
    const ms = 10 ** (2.5 * random.next())
    const isMixed = random.chance(0.5)
    const isLate = random.chance(0.5)
    for (let n = 1 + random.below(6); n > 0; n--) {
      sim.at(isLate ? random.below(5000) : 0, () => {
        for (let i = random.below(150); i >= 0; i--) sim.push(type, isMixed ? 10 ** (2.5 * random.next()) : ms)
      })
    }
  }
}

/**
 * As backlogTrace, with absolute weights from 1e-300 to 1e300 of which one is up to 1e9 times another, and with jobs of 1 ms to five
 * minutes. In half of the histories types of any weight have run jobs of up to months before.
 *
 * @param {number} seed
 * @param {(weights: Map<string, number>) => object} makeScheduler
 * @returns {Promise<{ log: object[], weights: Map<string, number> }>} from when all those jobs have ended, and of the types that come then,
 *   relative to the greatest
 */
async function oddWeightsTrace (seed, makeScheduler) {
  const random = seeded(seed)
  const most = 10 ** (600 * random.next() - 300)
  const unitMs = 10 ** (2 * random.next())
  const anyWeight = () => Math.max(most * 10 ** (-9 * random.next()), 1e-300)
  const weights = new Map([['heavy 1', most], ['heavy 2', Math.max(most / (1 + random.below(9)), 1e-300)]])
  for (let i = random.below(5); i > 0; i--) weights.set(`type ${i}`, anyWeight())
  const before = new Map(['before 1', 'before 2'].map(type => [type, random.chance(0.5) ? anyWeight() : Math.max(most * 1e-9, 1e-300)]))
  const concurrency = 1 + random.below(random.pick([2, 20]))
  const sim = simulation({ concurrency, scheduler: makeScheduler(new Map([...weights, ...before])) })
  if (random.chance(0.5)) {
    sim.push(random.pick([...weights.keys()]), unitMs, 128) // so that what follows is not taken for usual
    await sim.untilIdle()
    for (const type of before.keys()) {
      for (let i = random.below(10); i >= 0; i--) sim.push(type, unitMs * 10 ** (8 * random.next()))
    }
    await sim.untilIdle()
    for (let i = 0; i < 48; i++) { // and is not expected again
      sim.push('heavy 1', unitMs)
      await sim.untilIdle()
    }
  }
  const from = sim.log.length
  const longest = new Map(Array.from(weights.keys(), type => [type, unitMs * 10 ** (2.5 * random.next())]))
  for (const [type, ms] of longest) {
    const isMixed = random.chance(0.5)
    for (let n = 1 + random.below(3); n > 0; n--) {
      sim.at(sim.clock.now() + random.below(2) * random.below(5000) * unitMs, () => {
        for (let i = random.below(800); i >= 0; i--) sim.push(type, isMixed ? ms ** random.next() : ms)
      })
    }
  }
  await sim.runUntil(sim.clock.now() + 20000 * unitMs)
  return { log: sim.log.slice(from), weights: new Map(Array.from(weights, ([type, weight]) => [type, weight / most])) }
}

/**
 * Types with random weights that always have jobs waiting, among types with one job each: whenever one of those has ended, another
 * comes. In half of the histories up to half of their jobs end at once. All others are of similar lengths.
 *
 * @param {number} seed
 * @param {(weights: Map<string, number>) => object} makeScheduler
 * @returns {Promise<{ log: object[], weights: Map<string, number> }>} the weights of the types that stay
 */
async function strangersTrace (seed, makeScheduler) {
  const random = seeded(seed)
  const weights = new Map()
  for (let i = 1 + random.below(4); i > 0; i--) weights.set(`type ${i}`, 1 + random.below(9))
  const sim = simulation({ concurrency: 1 + random.below(20), scheduler: makeScheduler(weights) })
  const meanMs = 3 * 10 ** random.next()
  sim.push('first', meanMs, 128) // before, nothing is known of job lengths
  await sim.runUntil(129 * meanMs)
  const chanceOfNothing = random.chance(0.5) ? random.next() / 2 : 0
  let count = 0
  sim.onEnd = type => weights.has(type) ? pushOwn(type) : pushStranger()
  for (const type of weights.keys()) for (let i = 0; i < 40; i++) pushOwn(type)
  for (let i = 1 + random.below(20); i > 0; i--) pushStranger()
  await sim.runUntil(sim.clock.now() + 4000)
  return { log: sim.log, weights }

  function pushOwn (type) {
    sim.push(type, lengthOf())
  }

  function pushStranger () {
    sim.push(`stranger ${count++}`, random.chance(chanceOfNothing) ? 0 : lengthOf())
  }

  function lengthOf () {
    return meanMs * (0.2 + 1.6 * random.next())
  }
}

/**
 * Types with random weights and much to do, of which some have rates, and are held and let go at random.
 *
 * @param {number} seed
 * @param {Function} Scheduler a class as Equal
 * @returns {Promise<{ log: object[], weights: Map<string, number> }>} the log says when the scheduler was told of holds and their ends
 */
async function heldTrace (seed, Scheduler) {
  const random = seeded(seed)
  const weights = new Map()
  for (let i = 2 + random.below(5); i > 0; i--) weights.set(`type ${i}`, 1 + random.below(9))
  const types = [...weights.keys()]
  const rates = new Map()
  for (const type of types) if (random.chance(0.4)) rates.set(type, { limit: 1 + random.below(100), intervalMs: 200 + random.below(2000) })
  const tell = (kind, { type }) => { sim.log.push({ at: sim.clock.now(), kind, type }) }
  const scheduler = new class extends Scheduler {
    paused (lane) {
      tell('hold', lane)
      super.paused(lane)
    }

    resumed (lane) {
      super.resumed(lane)
      tell('free', lane)
    }
  }({ weights })
  const sim = simulation({ concurrency: 1 + random.below(20), scheduler, ratePerType: rates })
  for (const type of types) {
    const ms = 10 ** (2 * random.next())
    const isMixed = random.chance(0.5)
    for (let n = 1 + random.below(3); n > 0; n--) {
      sim.at(random.below(5000), () => {
        for (let i = random.below(400); i >= 0; i--) sim.push(type, isMixed ? 10 ** (2 * random.next()) : ms)
      })
    }
    for (let n = random.below(4); n > 0; n--) sim.at(random.below(10000), () => sim.queue.holdType(type, random.below(2000)))
  }
  await sim.runUntil(12000)
  return { log: sim.log, weights }
}
