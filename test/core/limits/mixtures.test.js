'use strict'

// Random mixtures of limits, delays, attempts and keys with what ends, refuses or holds back jobs. Replay a failure with SEED=n.

const assert = require('node:assert')
const fairlane = require('../../..')
const { Postponed, Throttled } = require('../../..')
const { History } = require('../../../lib/history')
const { Metrics } = require('../../../lib/metrics')
const { internalsOf } = require('../../../lib/core/internals')
const { checkInvariants } = require('../../../lib/testing')
const { startsOf } = require('../../support/starts')
const { seeded, seedFromEnvironment } = require('../../support/random')
const { rounds, playRounds } = require('../../support/rounds')

const WINDOWS = () => ({ waiting () {}, start () {}, done () {}, select: types => types.size() > 0 ? 0 : -1 })
const TYPES = ['a', 'b', 'c']

describe('a queue with limits', function () {
  const seed = seedFromEnvironment()

  it(`settles each job once, with its counts right after each step (SEED=${seed})`, () => playRounds(rounds(20), seed, seeded, play))
})

async function play (random) {
  const maybe = (chance, value) => random.chance(chance) ? value() : undefined
  const scheduler = random.pick([undefined, 'fair', 'capped', 'equal', WINDOWS()])
  const hasLanes = typeof scheduler === 'string'
  const rate = () => ({ limit: 1 + random.below(5), intervalMs: 1 + random.below(20) })
  const priorityMs = scheduler === undefined || hasLanes ? maybe(0.3, () => 1 + random.below(20)) : undefined
  const told = new Map() // by job, how often
  const controllers = Array.from({ length: 3 }, () => new AbortController())
  const history = random.chance(0.5) ? new History() : undefined
  const metrics = random.chance(0.3) ? new Metrics({ windowMs: 50 }) : undefined
  const records = new Map() // by the id of the history: the job
  const shared = new Set() // jobs with keys: their runners may get the payloads of others
  const attempts = new Map() // by job, that of its last start
  const uncounted = new Set() // jobs whose runners have said that an attempt does not count
  const unlimited = new Set() // jobs without a limit of time
  const limitMs = random.pick([10, Infinity])
  const heldUntil = new Map() // by type; of undefined: the whole queue
  let job = 0

  const { queue, clock, pass } = startsOf(fairlane, {
    scheduler,
    concurrency: 1 + random.below(4),
    maxAttempts: random.pick([1, 3]),
    backoffMs: () => { act(0.1); return random.pick([0, 5, 20, Infinity]) },
    rate: maybe(0.3, rate),
    ratePerType: hasLanes ? maybe(0.5, rate) : undefined,
    priorityMs,
    maxTypes: hasLanes ? random.pick([1, Infinity]) : undefined,
    maxWaiting: random.pick([10, Infinity]),
    timeoutMs: limitMs,
    onTimeout: random.pick(['hold', 'release']),
    asyncContext: random.pick(['queue', 'push']),
    observers: [history, metrics].filter(observer => observer !== undefined)
  }, (payload, done, context) => {
    attempts.set(payload, context.attempt)
    for (const type of [undefined, context.type]) if (clock.now() < heldUntil.get(type)) failure ??= new Error(`${type} is held until ${heldUntil.get(type)}`)
    act(0.1)
    const error = random.pick([undefined, undefined, new Error('expected'), new Throttled(1 + random.below(10)), new Postponed(random.below(10))])
    if (error instanceof Throttled || error instanceof Postponed) uncounted.add(payload)
    if (random.chance(0.5)) done(error, payload)
    else clock.setTimeout(() => done(error, payload), random.below(20))
  })

  let failure // also inside runners and callbacks, where the queue would catch it

  function check () {
    try {
      checkInvariants(queue)
      const { delayed } = queue.stats()
      assert(delayed >= 0 && delayed <= queue.waiting, 'delayed jobs wait')
      if (history !== undefined) checkCounts(queue, history)
      if (metrics !== undefined) checkMetrics(queue, metrics)
    } catch (error) {
      failure ??= error
    }
  }

  function checkLimit (id, error) {
    if (unlimited.has(id) && error?.code === 'FAIRLANE_ERR_TIMEOUT') failure ??= new Error(`job ${id} has no limit of time`)
  }

  function hold (type) {
    const ms = random.below(10)
    heldUntil.set(type, ms === 0 ? 0 : clock.now() + ms)
    if (type === undefined) queue.hold(ms)
    else queue.holdType(type, ms)
  }

  function tell (id, error) {
    told.set(id, told.get(id) + 1)
    checkLimit(id, error)
    check()
    act(0.1)
  }

  function add () {
    const before = queue.stats().accepted
    const id = job++
    put(id)
    const { accepted } = queue.stats()
    if (accepted > before) records.set(accepted, id)
  }

  function put (id) {
    const type = scheduler && random.pick(TYPES)
    told.set(id, 0)
    if (random.chance(0.4)) {
      if (type) queue.pushType(type, id, () => tell(id))
      else queue.push(id, () => tell(id))
      return
    }
    const options = {
      type,
      delayMs: maybe(0.5, () => random.below(20)),
      maxAttempts: maybe(0.3, () => 1 + random.below(3)),
      unshift: random.chance(0.2),
      priority: priorityMs ? maybe(0.5, () => random.below(16)) : undefined,
      ...maybe(0.3, () => ({ key: random.below(3), keyUntil: random.pick(['started', 'settled', 10]), onDuplicate: random.pick(['join', 'replace', 'postpone']) })),
      signal: maybe(0.3, () => random.pick(controllers).signal),
      timeoutMs: maybe(0.3, () => random.pick([1 + random.below(10), Infinity])),
      maxWaitMs: maybe(0.2, () => 1 + random.below(30))
    }
    if (options.key !== undefined) shared.add(id)
    else if ((options.timeoutMs ?? limitMs) === Infinity) unlimited.add(id)
    queue.add(id, options).then(() => tell(id), error => tell(id, error))
  }

  const { hooks } = internalsOf(queue).tickets.planned
  const { throttle } = hooks
  hooks.throttle = (type, ms) => {
    const held = hasLanes ? type : undefined
    heldUntil.set(held, Math.max(heldUntil.get(held) ?? 0, clock.now() + ms))
    throttle(type, ms)
  }
  queue.on('retry', ({ payload, error }) => checkLimit(payload, error))
  const flushes = []
  const calls = [
    add, add, add, add,
    () => queue.clear(),
    () => queue.remove(({ payload }) => payload % 3 === 0),
    () => queue.pause(),
    () => queue.resume(1 + random.below(4)),
    () => hold(undefined),
    () => flushes.push(queue.fflush()),
    () => { const at = random.below(3); controllers[at].abort(); controllers[at] = new AbortController() },
    () => hasLanes && hold(random.pick(TYPES)),
    () => hasLanes && queue.pauseType(random.pick(TYPES)),
    () => hasLanes && queue.resumeType(random.pick(TYPES)),
    () => hasLanes && queue.setRates({ ratePerType: random.pick([null, rate()]) }),
    () => queue.setRates({ rate: random.pick([null, rate()]) })
  ]

  function act (chance) {
    if (!random.chance(chance)) return
    random.pick(calls)()
    check()
  }

  for (let step = 0; step < 40; step++) {
    act(1)
    act(0.5)
    await pass(random.below(4))
    check()
    if (failure) throw failure
  }
  queue.resume()
  const closed = queue.close(random.pick([{ timeoutMs: 500 }, { drain: false }]))
  await pass(2000)
  await closed
  await Promise.all(flushes)
  await pass(100)
  check()
  if (failure) throw failure
  assert.deepEqual([queue.length, queue.stats().delayed, clock.timerCount], [0, 0, 0])
  for (const [number, id] of history === undefined ? [] : records) {
    checkRecord(history, number, shared.has(id) ? undefined : attempts.get(id) ?? 0, uncounted.has(id))
  }
  for (const [id, count] of told) assert.equal(count, 1, `job ${id} was told ${count} times`)
}

function checkCounts (queue, history) {
  const { waiting, running, delayed, done, failed, cancelled } = queue.stats()
  const { overdueCount } = internalsOf(queue).dispatch
  assert.deepEqual(history.counts(), { waiting: waiting - delayed, running: running - overdueCount, delayed, done, failed, cancelled })
}

function checkMetrics (queue, metrics) {
  const { accepted, waiting, running, delayed, done, failed, cancelled, retried } = queue.stats()
  const { overdueCount } = internalsOf(queue).dispatch
  const expected = { accepted, waiting: waiting - delayed, running, done, failed, cancelled, retried }
  const { types } = metrics.snapshot()
  const sum = read => types.reduce((total, type) => total + read(type), 0)
  for (const [name, count] of Object.entries(expected)) assert.equal(sum(type => type[name]), count, `${name} of metrics`)
  const countOf = ({ buckets }) => buckets.reduce((total, inBucket) => total + inBucket, 0)
  assert.equal(sum(({ runMs }) => countOf(runMs)) + running - overdueCount, sum(({ waitMs }) => countOf(waitMs)), 'what has started has ended, or runs')
}

/** @param {number} [attempt] that of the last start, if it is known @param {boolean} mayBeUncounted the runner has said so of one */
function checkRecord (history, id, attempt, mayBeUncounted) {
  const { state, attempts, startedAt, endedAt } = history.get(id)
  const versions = history.versions(id)
  const name = `the record of job ${id}, ${versions.map(({ state, attempt }) => `${state} ${attempt}`).join(', ')},`
  assert(['done', 'failed', 'cancelled'].includes(state), `${name} has an end`)
  assert(attempt === undefined || attempts === attempt || (state === 'cancelled' && mayBeUncounted && attempts === attempt - 1), `${name} has ${attempt} attempts`)
  assert(attempts === 0 || startedAt <= endedAt, `${name} starts before it ends`)
  assert(versions.every(({ at }, i) => i === 0 || at >= versions[i - 1].at), `${name} goes on in time`)
  assert(versions.every(({ state }, i) => mayFollow(state, versions[i - 1]?.state)), `${name} goes from state to state`)
}

function mayFollow (state, before) {
  if (before === undefined || before === 'delayed') return ['waiting', 'cancelled', 'failed'].includes(state)
  if (before === 'waiting') return ['running', 'delayed', 'cancelled'].includes(state)
  return before === 'running' && state !== 'waiting' && state !== 'running'
}
