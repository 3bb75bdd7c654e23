'use strict'

// In which order jobs start, and when.

const { Postponed } = require('../../job/postponing')
const { equal, expect, throws } = require('./expect')

exports.order = function ({ test, has }) {
  /** Adds jobs to a queue that is paused, lets one after the other run, and gives the payloads in the order of the starts. */
  async function startsOf (stage, options, jobs) {
    const { gate, queue } = await stage.openGated({ concurrency: 1, ...options })
    queue.pause()
    for (const [payload, said] of jobs) {
      stage.add(queue, payload, said)
      await queue.flush()
    }
    queue.resume(1)
    for (let count = 1; count <= jobs.length; count++) {
      await gate.until(count)
      gate.release()
    }
    return gate.started.map(({ payload }) => payload)
  }

  for (const scheduler of [null, 'equal']) {
    test(`is that of the pushes, unshifted ones first${scheduler === null ? '' : ', within a type'}`, [], async stage => {
      const jobs = [[1], [2], [3, { unshift: true }], [4, { unshift: true }], [5]].map(([payload, said]) => [payload, { ...said, type: 't' }])
      equal(await startsOf(stage, { scheduler }, jobs), [4, 3, 1, 2, 5])
    })

    test(`is that of priorities, by what they are worth${scheduler === null ? '' : ', within a type'}`, [], async stage => {
      const jobs = [[1, 0], [2, 1], [3, 5], [4, 0], [5, 5], [6, 1]].map(([payload, priority]) => [payload, { priority, type: 't' }])
      equal(await startsOf(stage, { scheduler, priorityMs: 600000 }, jobs), [3, 5, 2, 6, 1, 4])
    })
  }

  test('of priorities ages: a job stands where it would had it been pushed earlier', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, concurrency: 1, priorityMs: 1000, scheduler: 'equal' })
    stage.add(queue, 'runs', { type: 't' })
    await gate.until(1)
    stage.add(queue, 'early', { type: 't' })
    await queue.flush()
    time.begin()
    const later = new Promise(resolve => (time.options.clock ?? globalThis).setTimeout(resolve, 2500))
    await time.passes(2500, later)
    for (const [payload, priority] of [['worth less', 1], ['worth more', 4]]) stage.add(queue, payload, { type: 't', priority })
    await queue.flush()
    for (let count = 2; count <= 4; count++) {
      gate.release()
      await gate.until(count)
    }
    gate.release()
    equal(gate.started.map(({ payload }) => payload), ['runs', 'worth more', 'early', 'worth less'])
  })

  test('knows priorities from 0 to 15, where they have a worth', [], async stage => {
    const { queue } = await stage.openGated({ priorityMs: 1000 })
    for (const priority of [-1, 16, 1.5, 'x']) throws(() => queue.add(1, { priority }), 'ARGUMENT', `priority ${priority}`)
    const { queue: plain } = await stage.openGated()
    throws(() => plain.add(1, { priority: 1 }), 'ARGUMENT', 'a priority without priorityMs')
  })

  test('of delayed jobs: none starts before its time, and others go on', [], async stage => {
    const time = stage.time()
    const { gate, queue } = await stage.openGated({ ...time.options, scheduler: 'equal', concurrency: 1 })
    time.begin()
    stage.add(queue, 'late', { type: 't', delayMs: 60 })
    stage.add(queue, 'now', { type: 't' })
    await gate.until(1)
    equal(gate.started[0].payload, 'now')
    gate.release()
    await time.passes(60, gate.until(2))
    equal(gate.started[1].payload, 'late')
    gate.release()
  })

  test('of jobs that come back: they go before those that wait', [], async stage => {
    const time = stage.time()
    const one = has('processes') && { prefetch: 0 }
    const { gate, queue } = await stage.openGated({ ...time.options, ...one, scheduler: 'equal', concurrency: 1, maxAttempts: 2, backoffMs: 60 })
    const isBack = async () => (await queue.counts()).delayed === 0
    stage.add(queue, 'first', { type: 't' })
    await gate.until(1)
    for (const payload of ['a', 'b', 'c']) stage.add(queue, payload, { type: 't' })
    await queue.flush()
    for (const [error, count] of [[new Error('expected'), 2], [new Postponed(60), 4]]) {
      time.begin()
      gate.fail(error)
      await gate.until(count)
      const later = new Promise(resolve => (time.options.clock ?? globalThis).setTimeout(resolve, 120))
      await time.passes(120, later)
      if (!has('processes')) await stage.until(isBack) // at a broker when a job is taken
      gate.release()
      await gate.until(count + 1)
    }
    gate.release()
    await gate.until(6)
    gate.release()
    equal(gate.started.map(({ payload }) => payload), ['first', 'a', 'first', 'b', 'first', 'c'])
  })

  test('of types is that of the scheduler: a quiet one does not wait for a flood', [], async stage => {
    const flood = Array.from({ length: 40 }, (_, n) => n)
    const jobs = [...flood.map(n => [n, { type: 'noisy' }]), ['quiet', { type: 'quiet' }]]
    const starts = await startsOf(stage, { scheduler: 'equal' }, jobs)
    const place = starts.indexOf('quiet')
    expect(place <= (has('exactOrder') ? 1 : 20), `${place} jobs of the flood started before it`) // nodes are heard of one after the other
    equal(starts.filter(payload => payload !== 'quiet'), flood)
  })

  test('keeps each type within its cap', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', schedulerOptions: { maxTypeCap: 2 }, concurrency: 10 })
    for (let n = 0; n < 6; n++) stage.add(queue, n, { type: n < 5 ? 'a' : 'b' })
    await gate.until(3)
    await stage.quiet()
    equal(gate.started.map(({ context }) => context.type).sort(), ['a', 'a', 'b'])
    gate.release(3)
    for (const count of [5, 6]) {
      await gate.until(count)
      while (gate.open.length > 0) gate.release()
    }
  })

  test('waits while the queue is paused, or a type', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    equal(queue.pauseType('a') === queue, true, 'whether pauseType returns the queue')
    for (const type of ['a', 'b']) stage.add(queue, type, { type })
    await gate.until(1)
    equal(gate.started[0].payload, 'b')
    equal([queue.isTypePaused('a'), queue.isTypePaused('b')], [true, false])
    equal((await queue.counts('a')).paused, has('ownCaps'), 'counts(type).paused')
    queue.pause()
    queue.resumeType('a')
    await stage.quiet()
    equal([queue.paused, queue.concurrency, gate.started.length, queue.running], [true, -1, 1, 1])
    queue.resume(3)
    await gate.until(2)
    equal([queue.paused, queue.concurrency, queue.isTypePaused('a')], [false, 3, false])
    gate.release(2)
  })

  test('follows a change of the concurrency at once', [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1 })
    for (let n = 0; n < 4; n++) stage.add(queue, n)
    await gate.until(1)
    queue.concurrency = 3
    await gate.until(3)
    queue.concurrency = '1'
    gate.release(2)
    await stage.quiet()
    equal([gate.started.length, queue.concurrency], [3, 1])
    gate.release()
    await gate.until(4)
    gate.release()
  })
}
