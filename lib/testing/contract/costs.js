'use strict'

// Costs of jobs: what rates of them let through, and what runners say of them.

const { equal, rejects, throws } = require('./expect')

const NO_COSTS = [-1, 0.5, NaN, Infinity, 2 ** 60, '1', null, {}, true]

exports.costs = function ({ test }) {
  const forLong = limit => ({ limit, intervalMs: 600000, of: 'cost' })
  const startedOf = gate => gate.started.map(({ payload }) => payload)

  test('a rate of cost counts what jobs cost, 1 where nothing is said, and other types go on', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: forLong(10) })
    stage.add(queue, 'six', { type: 'a', cost: 6 })
    await gate.until(1)
    stage.add(queue, 'five', { type: 'a', cost: 5 })
    stage.add(queue, 'nothing', { type: 'a', cost: 0 })
    stage.add(queue, 'other', { type: 'b', cost: 10 })
    await gate.until(2)
    await stage.quiet()
    equal(startedOf(gate), ['six', 'other'], 'what has started, since a type keeps its order')
    gate.release(2)
  })

  test('what a rate of cost holds back starts when its time has come', 'costs', async stage => {
    const time = stage.time()
    const ratePerType = { limit: 10, intervalMs: 1000, of: 'cost' }
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal', ratePerType })
    time.begin()
    stage.add(queue, 'first', { type: 'a', cost: 6 })
    await gate.until(1)
    stage.add(queue, 'large', { type: 'a', cost: 10 })
    await stage.quiet()
    equal(gate.started.length, 1)
    await time.passes(1000, gate.until(2))
    gate.release(2)
  })

  test('spent() gives back what a job has not cost, and charges what it has cost beyond', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: forLong(10) })
    for (const n of [1, 2, 3]) stage.add(queue, n, { type: 'a', cost: 8 })
    await gate.until(1)
    const { spent } = gate.started[0].context
    spent(1)
    spent(2)
    await gate.until(2)
    gate.started[1].context.spent(1)
    gate.started[1].context.spent(20)
    await stage.quiet()
    equal(gate.started.length, 2)
    gate.started[1].context.spent(0)
    await gate.until(3)
    equal([queue.stats().spent, queue.stats('a').spent], [10, 10])
    gate.release(3)
    await queue.onIdle()
    spent(5)
    equal(queue.stats().spent, 10)
  })

  test('a later attempt is charged with what the one before has said last', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: forLong(100), maxAttempts: 2 })
    stage.add(queue, 1, { type: 'a', cost: 9 })
    await gate.until(1)
    gate.started[0].context.spent(4)
    gate.fail(new Error('expected'))
    await gate.until(2)
    equal(queue.stats().spent, 8)
    gate.release()
  })

  test('a cost above a known limit is refused, and so is what is no cost', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: new Map([['a', forLong(10)]]) })
    const add = async (type, cost) => queue.add(1, { type, cost })
    await rejects(add('a', 11), 'ARGUMENT')
    for (const cost of NO_COSTS) await rejects(add('b', cost), 'ARGUMENT', String(cost))
    stage.add(queue, 1, { type: 'b', cost: 20 })
    await gate.until(1)
    const { spent } = gate.started[0].context
    for (const total of NO_COSTS) throws(() => spent(total), 'ARGUMENT', String(total))
    gate.release()
  })

  test('in a rate of cost of the whole queue all others wait behind the job that is next', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', rate: forLong(10) })
    await rejects((async () => queue.add(1, { type: 'a', cost: 11 }))(), 'ARGUMENT')
    stage.add(queue, 'first', { type: 'a', cost: 6 })
    await gate.until(1)
    stage.add(queue, 'large', { type: 'b', cost: 10 })
    await stage.until(async () => await queue.heldMs() > 590000)
    stage.add(queue, 'small', { type: 'c' })
    await stage.quiet()
    equal(startedOf(gate), ['first'])
    gate.started[0].context.spent(0)
    await gate.until(2)
    equal(startedOf(gate), ['first', 'large'])
    gate.release(2)
  })

  test("'equal' shares what jobs cost, if it charges by that", 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedulerOptions: { chargeBy: 'cost' }, concurrency: 1 })
    queue.pause()
    for (const n of [1, 2]) stage.add(queue, `dear ${n}`, { type: 'a', cost: 10 })
    for (const n of [1, 2, 3, 4, 5]) stage.add(queue, `cheap ${n}`, { type: 'b' })
    await stage.until(async () => (await queue.counts()).waiting === 7)
    queue.resume()
    for (let n = 1; n <= 7; n++) {
      await gate.until(n)
      gate.release()
    }
    equal(startedOf(gate).at(-1), 'dear 2') // 10 of a before it, and 5 of b
  })

  test('rates of cost are shown, replaced and asked as others', 'costs', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: [forLong(5), { limit: 100, intervalMs: 600000 }] })
    equal((await queue.counts('a')).rate, [forLong(5), { limit: 100, intervalMs: 600000 }])
    stage.add(queue, 'first', { type: 'a', cost: 5 })
    stage.add(queue, 'second', { type: 'a', cost: 5 })
    await gate.until(1)
    await stage.until(async () => await queue.heldMs('a') > 590000)
    await queue.setRates({ ratePerType: forLong(9) })
    await stage.quiet()
    equal(startedOf(gate), ['first'])
    await queue.setRates({ ratePerType: forLong(10) })
    await gate.until(2)
    gate.release(2)
  })

  test('context.spent() is there where no costs are counted, too', 'costs', async stage => {
    const { gate, queue } = await stage.openGated()
    const result = stage.add(queue, 1)
    await gate.until(1)
    gate.started[0].context.spent(5)
    throws(() => gate.started[0].context.spent(-5), 'ARGUMENT')
    gate.started[0].done(null, 'done')
    equal([await result, queue.stats().spent], ['done', 0])
  })
}
