'use strict'

const assert = require('node:assert/strict')
const { makeEqual } = require('../../schedulers')
const { MODELS } = require('../support/equal-model')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')

// A random history asks for some 2,000 picks, and now and then for types that could be forgotten.
const STEPS = 5000

/** Plays one history on the scheduler and on its model. */
function play (random, { chargeBy = 'time', jobMs, slotCount, weights, hasCaps = false, hasWeights = false, pushes = 30, rounding = 0 }) {
  const names = [...'abcdefg']
  const own = Object.fromEntries(names.map(name => [name, random.pick(weights)]))
  const typeCaps = {}
  const equal = makeEqual({ concurrency: slotCount, weights: own, chargeBy })
  const model = new MODELS[chargeBy](own, typeCaps, slotCount, rounding)
  const lanes = new Map()
  const running = []
  let now = 0
  let pickCount = 0
  let forgottenCount = 0

  const laneOf = name => {
    if (!lanes.has(name)) {
      lanes.set(name, { type: name, size: 0, running: 0, headSeq: 0, isPaused: false, isShared: false, state: undefined })
    }
    return lanes.get(name)
  }

  const actions = {
    push () {
      const lane = laneOf(random.pick(names))
      for (let count = random.chance(0.1) ? 20 : 1; count > 0; count--) {
        lane.size++
        equal.queued(lane)
        model.queued(lane)
      }
    },
    start () {
      if (running.length >= slotCount) return
      const lane = equal.next(now)
      model.picked(lane, now)
      if (lane === undefined) return
      lane.size--
      lane.running++
      const cost = chargeBy === 'time' ? 1 : random.pick([0, 1, 1, 5, random.below(100)])
      equal.started(lane, now, cost)
      model.started(lane, now, cost)
      running.push({ lane, startedAt: now, cost })
      pickCount++
    },
    end () {
      if (running.length === 0) return
      const [{ lane, startedAt, cost }] = running.splice(random.below(running.length), 1)
      lane.running--
      equal.ended(lane, startedAt, now, cost)
      model.ended(lane, startedAt, now, cost)
    },
    correct () {
      if (running.length === 0 || chargeBy === 'time') return
      const job = random.pick(running)
      const difference = random.pick([0, random.below(50)]) - random.below(job.cost + 1)
      equal.charged(job.lane, difference, job.startedAt)
      model.charged(job.lane, difference, job)
      job.cost += difference
    },
    pass () {
      now += random.below(jobMs)
    },
    remove () {
      const lane = laneOf(random.pick(names))
      if (lane.size === 0) return
      const count = random.chance(0.5) ? lane.size : 1
      lane.size -= count
      equal.removed(lane)
      model.removed(lane, count)
    },
    pause () {
      const lane = laneOf(random.pick(names))
      lane.isPaused = !lane.isPaused
      for (const each of [equal, model]) {
        if (lane.isPaused) each.paused(lane)
        else each.resumed(lane)
      }
    },
    cap () {
      if (!hasCaps) return
      const change = { [random.pick(names)]: random.below(4) }
      equal.configure({ typeCaps: change })
      model.capped(change)
    },
    weigh () {
      if (!hasWeights) return
      const change = { [random.pick(names)]: random.pick(weights) }
      equal.configure({ weights: change })
      model.weighed(change)
    },
    forget () {
      for (const [name, lane] of lanes) {
        if (lane.size > 0 || lane.running > 0 || lane.isPaused || lane.state === undefined) continue
        const mayForget = model.mayForget(lane)
        const does = equal.forget(lane)
        if (mayForget !== undefined) assert.equal(does, mayForget, name)
        if (!does) continue
        lanes.delete(name)
        model.forgotten(lane)
        forgottenCount++
      }
    }
  }
  const often = { push: pushes, start: 45, end: 25, pass: 40, correct: 5, remove: 1, pause: 2, cap: 1, weigh: 1, forget: 3 }
  const bag = Object.entries(often).flatMap(([name, count]) => Array(count).fill(actions[name]))
  for (let step = 0; step < STEPS; step++) random.pick(bag)()
  return { pickCount, forgottenCount }
}

describe('equal picks whom its rules say', () => {
  const seed = seedFromEnvironment()

  for (const [what, history] of Object.entries({
    'with jobs of some ms': { jobMs: 10, slotCount: 4, weights: [1] },
    'by weights': { jobMs: 10, slotCount: 3, weights: [1, 2, 0.25, 3], rounding: 1e-9 },
    'with one slot': { jobMs: 100, slotCount: 1, weights: [1, 4] },
    'under caps that change': { jobMs: 10, slotCount: 6, weights: [1, 2], hasCaps: true, rounding: 1e-9 },
    'by weights that change': { jobMs: 10, slotCount: 5, weights: [1, 2, 4], hasCaps: true, hasWeights: true, rounding: 1e-9 },
    'where a type comes that weighs a thousand times as much': { jobMs: 10, slotCount: 3, weights: [1, 2, 4096], rounding: 1e-9 },
    'where it is often idle': { jobMs: 20, slotCount: 5, weights: [1], pushes: 8 },
    'while virtual time begins anew': { jobMs: 60000, slotCount: 4, weights: [1, 2, 4], hasCaps: true, rounding: 1e-9 },
    'by cost': { chargeBy: 'cost', jobMs: 10, slotCount: 4, weights: [1, 2, 0.25], hasCaps: true, rounding: 1e-9 },
    'by cost, where it is often idle': { chargeBy: 'cost', jobMs: 20, slotCount: 5, weights: [1, 2], pushes: 8, rounding: 1e-9 },
    'by cost and time': { chargeBy: 'cost*time', jobMs: 10, slotCount: 4, weights: [1, 2, 0.25], hasCaps: true, rounding: 1e-9 },
    'by cost and time, where it is often idle': { chargeBy: 'cost*time', jobMs: 20, slotCount: 5, weights: [1, 2], pushes: 8, rounding: 1e-9 }
  })) {
    it(`${what} (SEED=${seed})`, () => {
      const random = seeded(seed)
      let picks = 0
      let forgotten = 0
      for (let round = 0; round < rounds(20); round++) {
        const { pickCount, forgottenCount } = play(random, history)
        picks += pickCount
        forgotten += forgottenCount
      }
      assert(picks > 5000 && forgotten > 20, `${picks} picks, ${forgotten} forgotten`)
    })
  }
})
