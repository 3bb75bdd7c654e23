'use strict'

const assert = require('node:assert')
const { execFileSync } = require('node:child_process')
const { join } = require('node:path')
const bench = require('../../bench/cases/distributed')
const simulated = require('../../bench/cases/distributed-fleet')
const { startFleet } = require('../../bench/distributed/fleet')
const { queues } = require('../../bench/distributed/queues')
const { targetsTable } = require('../../bench/targets')
const { root } = require('../support/child')
const { describeWithRedis } = require('../support/redis')

describe('the case of queues at a broker', () => {
  it('has only cells in a quick try that the whole has, of each kind one', () => {
    const [whole, quick] = [false, true].map(quick => bench.cells({ quick }))
    const ids = whole.map(({ id }) => id)
    assert(quick.every(({ id }) => ids.includes(id)))
    assert.deepEqual(new Set(quick.map(({ kind }) => kind)), new Set(whole.map(({ kind }) => kind)))
  })

  it('knows the version of all', () => {
    for (const name of Object.keys(queues)) assert.match(bench.versionOf(name), /^(fairlane|bullmq)@\d/)
  })

  it('has targets that are met or missed', () => {
    const metrics = { jobsPerSecond: 1000, p50Ms: 1, quietP50Ms: 1, bytesPerJob: 700, producerBytesPerType: 7000, cpuUs: 1 }
    const values = Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, { value }]))
    const cells = bench.cells({ quick: false }).map(({ id }) => (
      { id, contenders: Object.fromEntries(Object.keys(queues).map(name => [name, values])) }
    ))
    const { rows } = targetsTable({ distributed: { environment: { node: '24.0.0' }, cells } })
    assert.equal(rows.filter(([, , , how]) => how === 'met').length, 6)
    assert.equal(rows.filter(([, , , how]) => how === 'missed').length, 5)
  })
})

describeWithRedis('a fleet that is measured', () => {
  for (const contender of ['fairlane', 'BullMQ']) {
    it(`of ${contender} gives results, how long jobs waited, and the CPU time of all processes`, async () => {
      const types = ['a', 'b']
      const fleet = await startFleet(contender, { types, slots: 2, workers: 2 })
      try {
        const before = await fleet.cpu()
        const at = performance.timeOrigin + performance.now()
        assert.deepEqual(await Promise.all([1, 2, 3, 4].map(n => fleet.add(types[n % 2], { n, at }))), [1, 2, 3, 4])
        const waits = await fleet.waits()
        assert.deepEqual(waits.map(([type]) => type).sort(), ['a', 'a', 'b', 'b'])
        assert(waits.every(([, ms]) => ms > 0))
        const after = await fleet.cpu()
        for (const who of ['producer', 'workers', 'broker']) assert(after[who] >= before[who] && after[who] > 0, who)
        assert(fleet.broker.bytes() > 0)
      } finally {
        await fleet.stop()
      }
    })
  }
})

describe('the simulation of a fleet', () => {
  const measured = ({ contenders, weight, ...cell }) => {
    const spec = JSON.stringify({ caseName: simulated.name, cell, contender: 'fairlane' })
    return JSON.parse(execFileSync('sh', ['-c', '"$0" "$1" "$2" 3>&1', process.execPath, join(root, 'bench/child.js'), spec], { encoding: 'utf8' })).result
  }

  it('makes no more calls for a job, or at rest, when there are more types', () => {
    const [small] = simulated.cells({ quick: true })
    const [few, many] = [10, 1000].map(types => measured({ ...small, workers: 20, types }))
    for (const { callsPerJob, restCalls } of [few, many]) {
      assert(callsPerJob > 3 && callsPerJob < 40, `${callsPerJob} calls a job`)
      assert(restCalls > 10 && restCalls < 40, `${restCalls} calls a minute`)
    }
    assert(many.restCalls < 1.2 * few.restCalls)
  })

  it('gives the same each time', () => {
    const [small] = simulated.cells({ quick: true })
    assert.deepEqual(measured(small), measured(small))
  })
})
