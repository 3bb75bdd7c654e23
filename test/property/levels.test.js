'use strict'

// The bounds of 'equal' with groups, on both levels, and of what else than time it shares; and that schedulers that are nearly right break
// them, so the checks can fail.

const assert = require('node:assert/strict')
const { Equal, makeEqual } = require('../../schedulers')
const { Groups } = require('../../schedulers/groups')
const { byName: { cost: EqualByCost } } = require('../../schedulers/charges')
const { BY_COST, BY_COST_TIME, BY_TIME, groupedTrace, worstOfGroups, worstOfTypes } = require('../support/levels')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')

const ROUNDS = rounds(40)
const base = seedFromEnvironment()
const ROUNDED = 1e-9 // the sums of a history, whose weights differ by 1e9

describe("the bounds of 'equal' with groups", function () {
  const kinds = [
    ['time', {}, BY_TIME],
    ['cost', { hasCosts: true }, BY_COST],
    ['cost', { hasCosts: true, hasCorrections: true }, BY_COST],
    ['cost*time', { hasCosts: true }, BY_COST_TIME],
    ['cost*time', { hasCosts: true, hasCorrections: true }, BY_COST_TIME]
  ]
  for (const [chargeBy, what, charge] of kinds) {
    const how = what.hasCorrections ? ', of which runners say what jobs cost' : ''
    it(`hold on both levels in ${ROUNDS} random histories by ${chargeBy}${how}, from the first start of each on`, function () {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        const trace = groupedTrace(seed, options => makeEqual({ ...options, chargeBy }), what)
        assertWithin(seed, trace, charge, true)
      }
    })
  }

  it(`hold on both levels in ${ROUNDS} random histories by time from the moment on in which both may start`, function () {
    for (let seed = base; seed < base + ROUNDS; seed++) {
      const trace = groupedTrace(seed, makeEqual)
      assertWithin(seed, trace, BY_TIME, false, trace.all)
    }
  })

  function assertWithin (seed, trace, charge, isFromStarts, boundLog) {
    const excess = {
      groups: worstOfGroups(trace, charge, isFromStarts, boundLog),
      types: worstOfTypes(trace, charge, isFromStarts, boundLog)
    }
    assert.ok(excess.groups <= 1 + ROUNDED && excess.types <= 1 + ROUNDED, `SEED=${seed}: ${JSON.stringify(excess)} times the bound`)
  }
})

describe("the bounds of 'equal' with groups are broken", function () {
  // what is wrong, where that shows, on the level of groups or within them, and in which histories
  const mutants = {
    'by no groups at all': ['groups', 'any', options => flat(options)],

    'where a group is charged at the ends of jobs': ['groups', 'flood', grouped(class extends Groups {
      constructor (...args) {
        super(...args)
        this.root.keyOf = state => state.used
      }
    })],

    'where a type is charged at the ends of jobs': ['types', 'flood', grouped(Groups, class extends Equal {
      keyOf (state) { return this.frame.group === null ? super.keyOf(state) : state.used }
    })],

    'where each job of a group is charged as if it took what the first one took': ['groups', 'any', grouped(class extends Groups {
      ended (lane, startedAt, now) {
        this.firstMs ??= now - startedAt
        super.ended(lane, now - this.firstMs, now)
      }
    })],

    'where groups that come back lose nothing of what they did not use': ['groups', 'any', grouped(class extends Groups {
      constructor (...args) {
        super(...args)
        this.root.forfeit = () => {}
      }
    })],

    'where types that come back lose nothing of it': ['types', 'any', grouped(Groups, class extends Equal {
      forfeit (state) { if (this.frame.group === null) super.forfeit(state) }
    })],

    'where groups all weigh the same': ['groups', 'any', options => makeEqual({ ...options, groupWeights: undefined })],

    'where types all weigh the same': ['types', 'any', options => makeEqual({ ...options, weights: undefined })],

    'where virtual time only grows': ['groups', 'days', grouped(Groups, class extends Equal { rebase () {} })],

    'where virtual time only grows, within groups': ['types', 'days', grouped(Groups, class extends Equal { rebase () {} })]
  }
  for (const [what, [level, kind, make]] of Object.entries(mutants)) {
    it(what, function () {
      const worst = worstOf(make, level, BY_TIME, { kind })
      assert.ok(worst > 1, `${worst}`)
    })
  }

  const byCost = {
    'where costs are charged at the ends of jobs': class extends EqualByCost {
      started (lane, now) { super.started(lane, now, 0) }
      ended (lane, startedAt, now, cost) {
        lane.state.used += cost / lane.state.weight
        super.ended(lane, startedAt, now, cost)
      }
    },
    'where a job costs what the first one of its type cost': class extends EqualByCost {
      started (lane, now, cost) {
        lane.state.first ??= cost
        super.started(lane, now, lane.state.first)
      }
    }
  }
  for (const [what, Level] of Object.entries(byCost)) {
    for (const level of ['groups', 'types']) {
      it(`${what}, among ${level}`, function () {
        const worst = worstOf(grouped(Groups, Level), level, BY_COST, { hasCosts: true, kind: 'any' })
        assert.ok(worst > 1.2, `${worst}`)
      })
    }
  }

  /** The worst of some histories, by the bounds of what the right scheduler does in the same ones. */
  function worstOf (makeScheduler, level, charge, what) {
    const measure = level === 'groups' ? worstOfGroups : worstOfTypes
    return Math.max(...Array.from({ length: 40 }, (_, i) => {
      const seed = i + 1
      const trace = groupedTrace(seed, makeScheduler, what)
      const right = groupedTrace(seed, options => makeEqual({ ...options, chargeBy: charge === BY_COST ? 'cost' : 'time' }), what)
      return measure(trace, charge, true, right.log)
    }))
  }

  function grouped (Scheduler, Level = Equal) {
    return ({ groupOf, ...others }) => new Scheduler(groupOf, others, Level)
  }

  function flat ({ groupOf, groupWeights, groupCaps, maxGroupCap, ...others }) {
    const equal = new Equal(others)
    const { configure } = equal
    return Object.assign(equal, { configure: ({ groupCaps, ...types }) => configure.call(equal, types) })
  }
})
