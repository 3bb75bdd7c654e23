'use strict'

// Random mixtures of rates of cost and of jobs, in several windows, with what runners say, what ends jobs, and other rates, against a model
// that keeps all charges. Replay a failure with SEED=n.

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const { Postponed, Throttled } = require('../../..')
const { checkInvariants } = require('../../../lib/testing')
const { CostModel } = require('../../support/cost-model')
const { startsOf } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds, playRounds } = require('../../support/rounds')

const TYPES = ['a', 'b', 'c', '', '__proto__']
const WINDOWS = () => ({ waiting () {}, start () {}, done () {}, select: lastOf })

/** The last job that waits. */
function lastOf (types) {
  let at = types.size() - 1
  while (at >= 0 && types.peekAt(at) === undefined) at--
  return at
}

describe('a queue with rates of cost', function () {
  const seed = seedFromEnvironment()

  it(`never lets jobs start that cost more than is left, nor has them wait for what is there (SEED=${seed})`,
    () => playRounds(rounds(40), seed, seeded, play))
})

/** Whoever makes a queue that counts costs may be played, too. */
async function play (random) {
  const maybe = (chance, value) => random.chance(chance) ? value() : undefined
  const scheduler = random.pick([undefined, 'fair', 'capped', 'equal', 'equal', WINDOWS()])
  const hasLanes = typeof scheduler === 'string'
  const isSimple = random.chance(0.5) // jobs start in the order of their pushes
  const most = random.pick([3, 20, 64, 1000])
  const makeRate = () => random.chance(0.6)
    ? { limit: 1 + random.below(most), intervalMs: random.pick([10, 25, 64]), of: 'cost' }
    : { limit: 1 + random.below(6), intervalMs: random.pick([10, 25, 64]) }
  const makeRates = () => { // one of each interval that count the same
    const rates = Array.from({ length: 1 + random.below(3) }, makeRate)
    return [...new Map(rates.map(rate => [`${rate.intervalMs} ${rate.of}`, rate])).values()]
  }
  const priorityMs = !isSimple && (scheduler === undefined || hasLanes) ? maybe(0.3, () => 1 + random.below(20)) : undefined
  const maxTypes = hasLanes && !isSimple ? random.pick([1, 2, 3, Infinity]) : undefined
  const model = new CostModel()
  const charged = new Map() // id → what it was charged last, or is to cost
  const running = new Set() // { job, type, context, done }
  let isCounting = false
  let failure
  let id = 0
  const fail = what => { failure ??= new Error(what) }

  const rates = { rate: maybe(hasLanes ? 0.3 : 1, makeRates), ratePerType: hasLanes ? maybe(0.9, makeRates) : undefined }
  countCosts(rates.rate, rates.ratePerType)
  for (const [name, value] of Object.entries(rates)) model.setRates(name === 'rate', value)

  const { queue, clock, pass } = startsOf(fairlane, {
    scheduler,
    maxTypes,
    priorityMs,
    concurrency: 1 + random.below(6),
    maxAttempts: isSimple ? 1 : random.pick([1, 3]),
    backoffMs: () => random.below(20),
    timeoutMs: isSimple ? Infinity : random.pick([15, Infinity]),
    ...rates
  }, (payload, done, context) => {
    const { type } = context
    const wrong = model.start(payload, type, isCounting ? charged.get(payload) : 0, clock.now())
    if (wrong !== undefined) fail(`job ${payload} of type ${type} started at ${clock.now()} though ${wrong}`)
    const run = { job: payload, type, context, done, isCounted: isCounting }
    running.add(run)
    if (random.chance(0.3)) say(run)
    if (random.chance(0.3)) end(run)
    else clock.setTimeout(() => end(run), random.below(30))
  })

  function say ({ job, type, context, isCounted }) {
    if (context.signal.aborted) return // its time was up
    const units = random.pick([0, random.below(most), random.below(2 * most)])
    if (!isCounted) return context.spent(units) // which nobody asked for when it started
    model.correct(job, type, charged.get(job), units, clock.now())
    charged.set(job, units)
    context.spent(units)
  }

  /** From the first rate of cost on, or from the first job that says what it costs. */
  function countCosts (...rates) {
    if (rates.flat().some(rate => rate?.of === 'cost')) isCounting = true
  }

  function end (run) {
    if (!running.delete(run)) return
    const { context, done } = run
    const error = isSimple ? undefined : random.pick([undefined, undefined, new Error('expected'), new Throttled(1 + random.below(10)), new Postponed(random.below(10))])
    done(error)
    context.spent(random.below(most)) // which says nothing any more
  }

  function mostOf () {
    const ofCost = [...(model.queueRates ?? []), ...(model.typeRates ?? [])].filter(({ of }) => of === 'cost')
    return Math.min(most, ...ofCost.map(({ limit }) => limit))
  }

  function add () {
    const job = id++
    const cost = maybe(0.8, () => random.below(mostOf() + 1))
    charged.set(job, cost ?? 1)
    const type = scheduler && random.pick(TYPES)
    if (cost === undefined && random.chance(0.5)) {
      if (scheduler) queue.pushType(type, job)
      else queue.push(job)
      return
    }
    if (cost !== undefined) isCounting = true
    queue.add(job, {
      type,
      cost,
      unshift: isSimple ? undefined : random.chance(0.2),
      delayMs: isSimple ? undefined : maybe(0.2, () => random.below(20)),
      priority: priorityMs === undefined ? undefined : random.below(16)
    }).catch(() => {})
  }

  function setRates () {
    if (hasLanes && random.chance(0.5)) {
      const ratePerType = random.pick([null, makeRates()])
      countCosts(ratePerType)
      model.setRates(false, ratePerType ?? undefined)
      queue.setRates({ ratePerType })
    } else {
      const rate = random.pick([null, makeRates()])
      countCosts(rate)
      model.setRates(true, rate ?? undefined)
      queue.setRates({ rate })
    }
  }

  /** No job waits for what is there; an entry may be late by a 64th of its interval. */
  function checkWaits () {
    if (!isSimple || queue.running >= queue.concurrency) return
    if (typeof scheduler === 'object' || (hasLanes && model.queueRates !== undefined)) return
    for (const type of hasLanes ? TYPES : [undefined]) {
      const [first] = queue.jobs(type)
      if (first === undefined) continue
      const { payload } = first
      if (model.lacking(type, charged.get(payload), clock.now(), 1 / 64) === undefined) fail(`job ${payload} waits at ${clock.now()}, and need not`)
      if (queue.heldMs(type) === 0) fail(`job ${payload} waits at ${clock.now()}, and is said not to be held`)
    }
  }

  function checkSpent () {
    const total = model.charges.reduce((sum, { units }) => sum + units, 0)
    if (queue.stats().spent !== total) fail(`${queue.stats().spent} units were charged, not ${total}`)
    if (hasLanes && TYPES.some(type => queue.stats(type).spent < 0)) fail('a type was charged less than nothing')
  }

  const steps = [
    add, add, add, add, add,
    () => queue.remove(({ payload }) => payload % 3 === 0),
    () => hasLanes && queue.clear({ type: random.pick(TYPES) }),
    () => random.chance(0.5) && setRates(),
    () => { for (const run of [...running]) if (random.chance(0.5)) say(run) },
    () => hasLanes && !isSimple && queue.pauseType(random.pick(TYPES)),
    () => hasLanes && queue.resumeType(random.pick(TYPES)),
    () => hasLanes && !isSimple && queue.holdType(random.pick(TYPES), random.below(20)) // which gives it a lane of its own
  ]

  for (let step = 0; step < 60; step++) {
    random.pick(steps)()
    random.pick(steps)()
    await pass(random.below(4))
    checkInvariants(queue)
    checkWaits()
    checkSpent()
    if (failure) throw failure
  }
  if (hasLanes) for (const type of TYPES) queue.resumeType(type)
  for (const run of [...running]) say(run)
  await pass(40000)
  checkSpent()
  if (failure) throw failure
  assert.equal(queue.length, 0)
  const types = hasLanes ? TYPES.reduce((sum, type) => sum + queue.stats(type).spent, 0) : 0
  assert.ok(types <= queue.stats().spent)
}
