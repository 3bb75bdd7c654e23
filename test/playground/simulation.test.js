'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { EXAMPLES, SCHEDULERS } = require('../../examples/playground/setup')
const { MOST_WAITING, SHOWN_MS, World } = require('../../examples/playground/simulation')

const turn = () => new Promise(setImmediate)

async function simulated (setup, seconds) {
  const world = new World(setup, { fairlane, fakeClock, turn })
  await world.runUntil(1000 * seconds)
  return Object.fromEntries(world.columns.map(column => [column.name, column]))
}

describe('the simulation of the playground', function () {
  it('shows that a quiet tenant waits for a flood in arrival order, and not with equal', async function () {
    const { none, equal } = await simulated(EXAMPLES['one tenant floods'], 10)
    const quiet = 1
    assert(none.records[quiet].wait(0.5) > 1000, `${none.records[quiet].wait(0.5)} ms`)
    assert(equal.records[quiet].wait(0.5) < 200, `${equal.records[quiet].wait(0.5)} ms`)
  })

  it('shows that a customer with many users has most of it, but for groups', async function () {
    const { equal, groups } = await simulated(EXAMPLES['one customer has many users'], 20)
    const zoe = 4
    assert(Math.abs(equal.shares()[zoe] - 1 / 5) < 0.05, `${equal.shares()}`)
    assert(Math.abs(groups.shares()[zoe] - 1 / 2) < 0.05, `${groups.shares()}`)
  })

  it('shows that dear jobs have as much time, or as many units', async function () {
    const { equal, cost } = await simulated(EXAMPLES['one tenant has dear jobs'], 20)
    assert(Math.abs(equal.shares()[0] - equal.shares()[1]) < 0.05, `${equal.shares()}`)
    assert(cost.shares()[1] > 5 * cost.shares()[0], `${cost.shares()}`)
  })

  it('keeps rates, and shows all slots busy while jobs wait', async function () {
    const { none, equal } = await simulated(EXAMPLES['one tenant has a rate'], 20)
    const startsOf = (column, tenant) => column.runs.filter(({ index }) => index === tenant).length
    assert(startsOf(equal, 0) <= 5 * (SHOWN_MS / 1000 + 1), `${startsOf(equal, 0)} starts`)
    assert(startsOf(none, 0) > 60, `${startsOf(none, 0)} starts`)
    for (const { runs, clock } of [none, equal]) {
      const now = clock.now()
      const busyMs = runs.reduce((sum, { from, to = now }) => sum + to - Math.max(from, now - SHOWN_MS), 0)
      assert(busyMs > 0.98 * 4 * SHOWN_MS && busyMs < 4.001 * SHOWN_MS, `${busyMs} ms`)
    }
  })

  it('gives all columns the same jobs, whatever their schedulers, and counts what is refused', async function () {
    const schedulers = Object.keys(SCHEDULERS)
    const [tenant, ...others] = EXAMPLES['one tenant floods'].tenants
    const tenants = [{ ...tenant, perSecond: 100, ms: 2000 }, ...others]
    const columns = Object.values(await simulated({ slots: 1, schedulers, tenants }, 12))
    assert.equal(columns.length, schedulers.length)
    const cameOf = ({ records, runs }, i) => records[i].waiting + records[i].refused + records[i].waits.length
    for (const column of columns) {
      for (const i of [0, 1, 2]) assert.equal(cameOf(column, i), cameOf(columns[0], i))
      if (column.name === 'none') continue // which only limits all of them together
      assert.equal(column.records[0].waiting, MOST_WAITING)
      assert(column.records[0].refused > 0)
    }
  })

  it('stands still without jobs', async function () {
    const [tenant] = EXAMPLES['one tenant floods'].tenants
    const { equal } = await simulated({ slots: 1, schedulers: ['equal'], tenants: [{ ...tenant, perSecond: 0 }] }, 3)
    assert.deepEqual([equal.shares(), equal.runs, equal.records[0].wait(0.5), equal.clock.now()], [[0], [], undefined, 3000])
  })
})
