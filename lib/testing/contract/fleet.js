'use strict'

// Queues of many processes: what one says holds in all.

const { gateRunner } = require('../gates')
const { equal, expect, rejects, throws } = require('./expect')

const FLEET_LIMITS = ['processes', 'fleetLimits']

exports.fleet = function ({ test }) {
  /** Queues of one fleet, all of whose jobs are of one gate. */
  async function fleet (stage, count, options) {
    const gate = gateRunner()
    const said = { settleBy: 'callback', scheduler: 'equal', ...options }
    const queues = [await stage.open(gate.runner, said)]
    while (queues.length < count) queues.push(await stage.another(queues[0], gate.runner, said))
    return { gate, queues }
  }

  test('a queue without a runner only pushes', 'processes', async stage => {
    const { queue } = await stage.openGated()
    const producer = await stage.another(queue, null, {})
    const id = await producer.push(1)
    expect(typeof id === 'string', 'push must resolve with the id')
    for (const call of [() => producer.pause(), () => producer.concurrency]) {
      let error
      try { call() } catch (thrown) { error = thrown }
      expect(error === undefined || /^FAIRLANE_ERR_/.test(error.code), `a push was refused without a code of fairlane: ${error}`)
    }
  })

  test('globalConcurrency is how many jobs run at once in all processes', FLEET_LIMITS, async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2, { globalConcurrency: 3 })
    const producer = await stage.another(one, null, { scheduler: 'equal', globalConcurrency: 3 })
    for (let n = 0; n < 8; n++) stage.add(producer, n, { type: `t${n % 4}` })
    await gate.until(3)
    await producer.flush()
    await stage.quiet()
    equal([gate.started.length, one.running + two.running], [3, 3])
    for (let count = 4; count <= 8; count++) {
      gate.release()
      await gate.until(count)
      expect(gate.open.length <= 3, `${gate.open.length} jobs run at once`)
    }
    gate.release(3)
  })

  test('globalTypeCap holds whoever pushes, and is told by counts', FLEET_LIMITS, async stage => {
    const { gate, queues: [worker] } = await fleet(stage, 2, { globalTypeCap: 2 })
    const producer = await stage.another(worker, null, { scheduler: 'equal' })
    for (let n = 0; n < 6; n++) stage.add(producer, n, { type: 't' })
    await gate.until(2)
    await stage.quiet()
    equal(gate.started.length, 2)
    equal((await producer.counts('t')).cap, 2)
    for (let count = 3; count <= 6; count++) {
      gate.release()
      await gate.until(count)
      expect(gate.open.length <= 2, `${gate.open.length} jobs run at once`)
    }
    gate.release(2)
  })

  test('setGlobalCap and setGlobalConcurrency hold from now on, and listeners of limits are told', ['fleetCalls', 'fleetLimits'], async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2, { globalTypeCap: 1, globalConcurrency: 2 })
    const told = stage.next(two, 'limits')
    for (let n = 0; n < 4; n++) stage.add(one, n, { type: 't' })
    await gate.until(1)
    await stage.quiet()
    equal(gate.started.length, 1)
    await one.setGlobalCap('t', 5)
    await gate.until(2)
    const { before, after } = await told
    expect(typeof before === 'object' && typeof after === 'object', 'the event limits must have { before, after }')
    await stage.quiet()
    equal(gate.started.length, 2)
    await one.setGlobalConcurrency(4)
    await gate.until(4)
    gate.release(4)
  })

  test('a cap counts runners: one that goes on after its timeout keeps its place', FLEET_LIMITS, async stage => {
    const { gate, queues: [worker] } = await fleet(stage, 2, { globalTypeCap: 1, timeoutMs: 100, maxAttempts: 1 })
    await rejects(stage.add(worker, 1, { type: 't' }), 'TIMEOUT')
    stage.add(worker, 2, { type: 't', timeoutMs: 60000 })
    await worker.flush()
    await stage.quiet()
    equal(gate.started.length, 1)
    gate.release()
    await gate.until(2)
    gate.release()
  })

  test('an opening writes what differs from the last opening, so that it undoes no call', ['fleetCalls', 'fleetLimits'], async stage => {
    const options = { scheduler: 'equal', globalTypeCap: 5 }
    const first = await stage.open(null, options)
    await first.setGlobalCap('t', 2)
    const same = await stage.another(first, null, options)
    equal((await same.counts('t')).cap, 2)
    const other = await stage.another(first, null, { scheduler: 'equal', globalTypeCap: 5, globalTypeCaps: { t: 3 } })
    equal((await other.counts('t')).cap, 3)
    equal((await other.counts('u')).cap, 5)
  })

  test('setRates gives all processes another rate', ['fleetCalls', 'fleetLimits'], async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2, { rate: { limit: 2, intervalMs: 600000 } })
    for (let n = 0; n < 6; n++) stage.add(one, n, { type: `t${n % 2}` })
    await gate.until(2)
    await two.setRates({ rate: { limit: 4, intervalMs: 600000 } })
    await gate.until(4)
    await stage.quiet()
    equal(gate.started.length, 4)
    await rejects((async () => one.setRates({ rate: { limit: 1, intervalMs: 999 } }))(), 'ARGUMENT')
    await one.setRates({ rate: null })
    await gate.until(6)
    gate.release(6)
  })

  test('rate holds over all processes', FLEET_LIMITS, async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2, { rate: { limit: 5, intervalMs: 600000 } })
    for (let n = 0; n < 20; n++) stage.add([one, two][n % 2], n, { type: `t${n % 4}` })
    await gate.until(5)
    await stage.quiet()
    equal(gate.started.length, 5)
    gate.release(5)
  })

  test('ratePerType holds over all processes', FLEET_LIMITS, async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2, { ratePerType: { limit: 3, intervalMs: 600000 } })
    for (let n = 0; n < 20; n++) stage.add([one, two][n % 2], n, { type: n % 4 < 2 ? 'a' : 'b' })
    await gate.until(6)
    await stage.quiet()
    equal(gate.started.map(({ context }) => context.type).sort(), ['a', 'a', 'a', 'b', 'b', 'b'])
    gate.release(6)
  })

  test('pauseGlobal holds a type, or all, in all processes', 'fleetCalls', async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2)
    await one.pauseGlobal('a')
    stage.add(two, 1, { type: 'a' })
    stage.add(two, 2, { type: 'b' })
    await gate.until(1)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload), [2])
    equal((await two.counts('a')).paused, true)
    await two.resumeGlobal('a')
    await gate.until(2)
    await one.pauseGlobal()
    stage.add(two, 3, { type: 'c' })
    await two.flush()
    await stage.quiet()
    equal(gate.started.length, 2)
    await one.resumeGlobal()
    await gate.until(3)
    gate.release(3)
  })

  test('hold and holdType hold all processes', 'fleetCalls', async stage => {
    const { gate, queues: [one, two] } = await fleet(stage, 2)
    await one.hold(600000)
    stage.add(two, 1, { type: 'a' })
    await two.flush()
    await stage.quiet()
    equal(gate.started.length, 0)
    expect(await two.heldMs() > 590000, 'the other process must know of the hold')
    await two.hold(0)
    await gate.until(1)
    gate.release()
  })

  test('cancel ends a job that runs in another process, and add there is told', 'processes', async stage => {
    const { gate, queues: [worker] } = await fleet(stage, 1)
    const producer = await stage.another(worker, null, { scheduler: 'equal' })
    const controller = new AbortController()
    const result = stage.add(producer, 1, { type: 't', signal: controller.signal })
    await gate.until(1)
    const { signal } = gate.started[0].context
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve))
    controller.abort()
    await rejects(result, 'ABORTED')
    await aborted
    gate.release()
  })

  test('wait gives results to any process', 'results', async stage => {
    const { gate, queues: [worker] } = await fleet(stage, 1)
    const producer = await stage.another(worker, null, { scheduler: 'equal' })
    const id = await producer.pushType('t', 1)
    const other = await stage.another(worker, null, { scheduler: 'equal' })
    const results = [producer.wait(id), other.wait(id)]
    await gate.until(1)
    gate.release()
    equal(await Promise.all(results), [1, 1])
  })

  test('a schedule gives one job for each time, in all processes', ['processes', 'schedules'], async stage => {
    const { gate } = await fleet(stage, 3, { schedules: { often: { everyMs: 200, type: 't', overlap: true } } })
    await gate.until(4)
    const times = gate.started.map(({ context }) => context.schedule.time)
    equal(new Set(times).size, times.length)
    while (gate.open.length > 0) gate.release()
  })

  test('health says how the broker is', 'fleetCalls', async stage => {
    const { queue } = await stage.openGated()
    const { connected } = await queue.health()
    equal(connected, true)
  })

  test('what no number is, is refused', 'fleetCalls', async stage => {
    const { queue } = await stage.openGated()
    for (const cap of [0, -1, 1.5, 'x']) {
      throws(() => queue.setGlobalCap('t', cap), 'ARGUMENT', `setGlobalCap(${cap})`)
      throws(() => queue.setGlobalConcurrency(cap), 'ARGUMENT', `setGlobalConcurrency(${cap})`)
    }
  })
}
