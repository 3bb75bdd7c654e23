'use strict'

// Rates and holds: what they let through, and what ends them.

const { Throttled } = require('../../job/postponing')
const { equal, expect, rejects, throws } = require('./expect')

exports.limits = function ({ test, has }) {
  const intervalMs = 1000

  test('rate holds back what goes beyond it, attempts included', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, rate: { limit: 3, intervalMs }, maxAttempts: 2 })
    time.begin()
    for (let n = 0; n < 4; n++) stage.add(queue, n)
    await gate.until(3)
    gate.fail(new Error('expected'))
    await stage.quiet()
    equal(gate.started.length, 3)
    await time.passes(intervalMs, gate.until(4))
    gate.release(3)
    await gate.until(5)
    gate.release()
  })

  test('several rates hold all', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, rate: [{ limit: 5, intervalMs }, { limit: 2, intervalMs: 600000 }] })
    for (let n = 0; n < 4; n++) stage.add(queue, n)
    await gate.until(2)
    await stage.quiet()
    equal(gate.started.length, 2)
    gate.release(2)
  })

  test('ratePerType holds each type, and the others go on', [], async stage => {
    const time = stage.time()
    const ratePerType = new Map([['a', { limit: 1, intervalMs }]])
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal', ratePerType })
    time.begin()
    for (const type of ['a', 'a', 'b', 'b']) stage.add(queue, type, { type })
    await gate.until(3)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload).sort(), ['a', 'b', 'b'])
    await time.passes(intervalMs, gate.until(4))
    equal(gate.started[3].payload, 'a')
    gate.release(4)
  })

  test('one ratePerType is that of each type', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 600000 } })
    for (const type of ['a', 'a', 'b', 'b']) stage.add(queue, type, { type })
    await gate.until(2)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload).sort(), ['a', 'b'])
    gate.release(2)
  })

  test('a function says the rates of types', 'rateFunctions', async stage => {
    const ratePerType = type => type === 'a' ? { limit: 1, intervalMs: 600000 } : undefined
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType })
    for (const type of ['a', 'a', 'b', 'b']) stage.add(queue, type, { type })
    await gate.until(3)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload).sort(), ['a', 'b', 'b'])
    gate.release(3)
  })

  test('setRates replaces the rates that it is given, and null takes one away', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', rate: { limit: 1, intervalMs: 600000 } })
    for (let n = 0; n < 5; n++) stage.add(queue, n, { type: 't' })
    await gate.until(1)
    await queue.setRates({ rate: { limit: 2, intervalMs: 600000 } })
    await gate.until(2)
    await stage.quiet()
    equal(gate.started.length, 2)
    await queue.setRates({ rate: null, ratePerType: { limit: 3, intervalMs: 600000 } })
    await gate.until(3)
    await queue.setRates({ ratePerType: null })
    await gate.until(5)
    gate.release(5)
  })

  test('counts(type) tells of its rate: one, several in an array, or null', [], async stage => {
    const one = { limit: 5, intervalMs }
    const several = [one, { limit: 6, intervalMs: 600000 }]
    const { queue } = await stage.openGated({ scheduler: 'equal', ratePerType: new Map([['one', one], ['array', [one]], ['several', several]]) })
    const rateOf = async type => (await queue.counts(type)).rate
    for (const type of ['one', 'array']) equal(await rateOf(type), one, type)
    equal(await rateOf('several'), several)
    equal(await rateOf('none'), null)
    await queue.setRates({ ratePerType: several })
    equal(await rateOf('none'), several)
    await queue.setRates({ ratePerType: null })
    equal(await rateOf('one'), null)
  })

  test('setRates refuses what is no rate', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const rate of [{ limit: 0, intervalMs }, { limit: 1 }, 5, []]) {
      await rejects((async () => queue.setRates({ rate }))(), 'ARGUMENT', JSON.stringify(rate))
    }
  })

  test('times that are longer than any clock counts are taken, or refused', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    const long = 2 ** 60
    const calls = [
      () => stage.add(queue, 1, { type: 'a', delayMs: long }), () => queue.hold(long), () => queue.holdType('a', long),
      () => queue.setRates({ rate: { limit: 1, intervalMs: long } })
    ]
    for (const call of calls) has('longTimes') ? call() : throws(call, 'ARGUMENT')
    const longest = Number.MAX_SAFE_INTEGER
    stage.add(queue, 1, { type: 'a', delayMs: longest })
    await queue.flush()
    await queue.hold(longest)
    expect(await queue.heldMs() > longest / 2, 'the hold must last as long as it was asked for')
  })

  test('holdType holds a type for so long, and 0 ends that', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    await queue.holdType('a', 600000)
    for (const type of ['a', 'b']) stage.add(queue, type, { type })
    await gate.until(1)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload), ['b'])
    const held = await queue.heldMs('a')
    expect(held > 590000 && held <= 600000, `heldMs is ${held}`)
    equal(await queue.heldMs('b'), 0)
    await queue.holdType('a', 0)
    await gate.until(2)
    equal(await queue.heldMs('a'), 0)
    await queue.holdType('a', 0)
    gate.release(2)
  })

  test('types are limited without a scheduler, too', 'typesApart', async stage => {
    const { gate, queue } = await stage.openGated({ ratePerType: { limit: 1, intervalMs: 600000 }, maxWaitingPerType: 2 })
    await queue.holdType('held', 600000)
    for (const type of ['a', 'a', 'b', 'held']) stage.add(queue, type, { type })
    await gate.until(2)
    await stage.quiet()
    equal(gate.started.map(({ payload }) => payload).sort(), ['a', 'b'])
    await queue.setRates({ ratePerType: null })
    await gate.until(3)
    gate.fail(new Throttled(600000))
    await stage.until(async () => (await Promise.all([queue.heldMs('a'), queue.heldMs('b')])).some(ms => ms > 590000))
    equal(await queue.heldMs(), 0)
    gate.release(2)
  })

  test('types cannot be limited without a scheduler', [], async stage => {
    if (has('typesApart')) return
    for (const options of [{ ratePerType: { limit: 1, intervalMs: 1000 } }, { maxWaitingPerType: 2 }]) await stage.refuses(options, 'OPTION')
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    throws(() => queue.holdType('a', 1), 'SCHEDULER', 'holdType')
    throws(() => queue.heldMs('a'), 'SCHEDULER', 'heldMs')
    throws(() => queue.setRates({ ratePerType: { limit: 1, intervalMs: 1000 } }), 'SCHEDULER', 'setRates')
    for (const type of ['a', 'b']) stage.add(queue, type, { type })
    await gate.until(1)
    gate.fail(new Throttled(600000))
    await stage.until(() => queue.heldMs() > 590000)
    equal(gate.started.length, 1)
    queue.hold(0)
    await gate.until(2)
  })

  test('hold holds all jobs for so long, and 0 ends that', [], async stage => {
    const { gate, queue } = await stage.openGated()
    await queue.hold(600000)
    stage.add(queue, 1)
    await queue.flush()
    await stage.quiet()
    equal(gate.started.length, 0)
    const held = await queue.heldMs()
    expect(held > 590000 && held <= 600000, `heldMs is ${held}`)
    await queue.hold(0)
    await gate.until(1)
    equal(await queue.heldMs(), 0)
    gate.release()
  })

  test('heldMs tells of rates that are used up, too, and of a hold of all for each type', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 60000 } })
    stage.add(queue, 1, { type: 'a' })
    await gate.until(1)
    for (const held of [await queue.heldMs('a'), (await queue.counts('a')).heldMs]) expect(held > 50000 && held <= 61000, `heldMs is ${held}`)
    equal(await queue.heldMs('b'), 0)
    await queue.hold(600000)
    for (const held of [await queue.heldMs('b'), (await queue.counts('b')).heldMs]) expect(held > 590000 && held <= 600000, `heldMs is ${held}`)
    gate.release()
  })

  test('holds end by themselves', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal' })
    time.begin()
    await queue.holdType('a', 60)
    stage.add(queue, 1, { type: 'a' })
    await time.passes(60, gate.until(1))
    gate.release()
  })

  test('hold, holdType and setRates give the queue', 'limitsAtOnce', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const given of [queue.hold(0), queue.holdType('a', 0), queue.setRates({ rate: null })]) expect(given === queue, 'it must return the queue')
    equal(queue.heldMs(), 0)
  })

  test('a hold is independent of rates: setRates ends none', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', ratePerType: { limit: 1, intervalMs: 600000 } })
    stage.add(queue, 1, { type: 'a' })
    await gate.until(1)
    gate.fail(new Throttled(600000))
    await stage.until(async () => await queue.heldMs('a') > 590000)
    await queue.setRates({ ratePerType: null })
    await stage.quiet()
    equal(gate.started.length, 1)
    await queue.holdType('a', 0)
    await gate.until(2)
    gate.release()
  })
}
