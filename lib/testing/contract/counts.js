'use strict'

// What a queue has, wherever; and what this process has done with it.

const { equal, expect, rejects, throws } = require('./expect')

exports.counts = function ({ test, has }) {
  /** A queue with four jobs of type a (one runs, one is delayed) and one of type b that waits. */
  async function filled (stage) {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1, maxAttempts: 1 })
    stage.add(queue, 1, { type: 'a' })
    await gate.until(1)
    for (const n of [2, 3]) stage.add(queue, n, { type: 'a' })
    stage.add(queue, 4, { type: 'a', delayMs: 600000 })
    stage.add(queue, 5, { type: 'b' })
    await queue.flush()
    return { gate, queue }
  }

  test('counts() says what the queue has: delayed jobs are among the waiting', [], async stage => {
    const { queue } = await filled(stage)
    equal(await queue.counts(), { waiting: 4, delayed: 1, running: 1, dead: 0, types: 2 })
  })

  test('counts(type) has what limits it in the place of types', [], async stage => {
    const { queue } = await filled(stage)
    const { waiting, delayed, running, dead, cap, rate, paused, heldMs, ...rest } = await queue.counts('a')
    equal([waiting, delayed, running, dead], [3, 1, 1, 0])
    equal([cap > 0, rate ?? null, paused, heldMs], [true, null, false, 0])
    equal(rest, {})
    equal((await queue.counts('nobody')).waiting, 0)
  })

  test('counts(type) tells the cap', [], async stage => {
    const caps = has('fleetLimits') ? { globalTypeCap: 2 } : { schedulerOptions: { maxTypeCap: 2 } }
    const { queue } = await stage.openGated({ scheduler: 'equal', concurrency: 5, ...caps })
    equal((await queue.counts('a')).cap, 2)
    if (has('ownCaps')) return
    const { queue: other } = await stage.openGated({ scheduler: 'equal', schedulerOptions: { maxTypeCap: 2 } })
    equal((await other.counts('a')).cap, Infinity)
  })

  test('counts(type) tells the rate, and for how long the type is held', [], async stage => {
    const rate = { limit: 5, intervalMs: 2000 }
    const { queue } = await stage.openGated({ scheduler: 'equal', ratePerType: rate })
    await queue.holdType('a', 600000)
    const { rate: told, heldMs } = await queue.counts('a')
    equal([].concat(told), [rate])
    expect(heldMs > 590000 && heldMs <= 600000, `heldMs is ${heldMs}`)
  })

  test('types() lists the types that have jobs, those with most first', [], async stage => {
    const { queue } = await filled(stage)
    const types = [{ type: 'a', waiting: 3, delayed: 1, running: 1, dead: 0 }, { type: 'b', waiting: 1, delayed: 0, running: 0, dead: 0 }]
    equal(await queue.types(), types)
    equal(await queue.types({ limit: 1 }), types.slice(0, 1))
  })

  test('a queue without a scheduler knows no types', [], async stage => {
    if (has('typesWithoutScheduler')) return
    const { queue } = await stage.openGated()
    queue.push(1)
    equal(await queue.types(), [])
    throws(() => queue.counts('a'), 'ARGUMENT', 'counts(type)')
  })

  test('a queue without a scheduler knows types', 'typesWithoutScheduler', async stage => {
    const { queue } = await stage.openGated()
    queue.pause()
    await queue.pushType('a', 1)
    equal((await queue.types()).map(({ type, waiting }) => [type, waiting]), [['a', 1]])
    equal((await queue.counts('a')).waiting, 1)
  })

  test('dead letters are counted', 'deadLetters', async stage => {
    const { gate, queue } = await filled(stage)
    const failed = stage.next(queue, 'failed')
    gate.fail(new Error('expected'))
    await failed
    await stage.until(async () => (await queue.counts()).dead === 1)
    equal((await queue.counts('a')).dead, 1)
    equal((await queue.types())[0].dead, 1)
  })

  test('stats() counts what this process has done', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 2, maxWaitingPerType: 100 })
    const outcomes = [stage.add(queue, 'done', { type: 'a' })]
    await gate.until(1)
    gate.release()
    await outcomes[0]
    outcomes.push(stage.add(queue, 'fails', { type: 'a' }))
    for (const count of [2, 3]) {
      await gate.until(count)
      gate.fail(new Error('expected'))
    }
    await Promise.allSettled(outcomes)
    queue.pause()
    const controller = new AbortController()
    const [cancelled] = [stage.add(queue, 'cancelled', { type: 'a', signal: controller.signal, key: 'k' }), stage.add(queue, 'joined', { type: 'a', key: 'k', signal: controller.signal })]
    await queue.flush()
    controller.abort()
    await rejects(cancelled, 'ABORTED')
    await rejects(queue.add('refused', { type: 'a', signal: AbortSignal.abort() }), 'ABORTED')
    await stage.until(() => queue.stats().cancelled === 1)
    const names = ['accepted', 'rejected', 'done', 'failed', 'cancelled', 'retried', 'throttled', 'joined', 'misuse', 'overrun', 'running']
    const { [names[0]]: accepted, ...stats } = queue.stats()
    equal([accepted, ...names.slice(1).map(name => stats[name])], [3, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0], names.join())
  })

  test('stats() has what there is now, where a process sees it', [], async stage => {
    const { queue } = await filled(stage)
    const { waiting, delayed, types, heldTypes } = queue.stats()
    equal([waiting, delayed, types, heldTypes], has('statsOfNow') ? [4, 1, 2, 0] : [undefined, undefined, undefined, undefined])
  })

  test('stats(type) counts the same of a type, but for misuse and overrun', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 2 })
    stage.add(queue, 1, { type: 'a' })
    await gate.until(1)
    gate.fail(new Error('expected'))
    await gate.until(2)
    stage.add(queue, 2, { type: 'a', key: 'k', keyUntil: 'settled' })
    await gate.until(3)
    stage.add(queue, 3, { type: 'a', key: 'k', keyUntil: 'settled' })
    await queue.flush()
    const { accepted, rejected, done, failed, cancelled, retried, throttled, joined, misuse, overrun, running } = queue.stats('a')
    equal([accepted, rejected, done, failed, cancelled, retried, throttled, joined, running], [2, 0, 0, 0, 0, 1, 0, 1, 2])
    equal([misuse, overrun], [undefined, undefined])
    gate.release(2)
  })

  test('stats() has a runner that goes on after its timeout among those that run, as overdue', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1, maxAttempts: 1, timeoutMs: 20 })
    const numbers = stats => [stats.running, stats.overdue, stats.overrun]
    await rejects(stage.add(queue, 1, { type: 'a' }), 'TIMEOUT')
    equal([numbers(queue.stats()), queue.running], [[1, 1, 0], 1])
    equal(numbers(queue.stats('a')), [1, 1, undefined])
    gate.release()
    await stage.until(() => queue.stats().running === 0)
    equal([numbers(queue.stats()), numbers(queue.stats('a'))], [[0, 0, 0], [0, 0, undefined]])
  })

  test('stats() has a runner whose slot was released as overrun only', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal', maxAttempts: 1, timeoutMs: 20, onTimeout: 'release' })
    await rejects(stage.add(queue, 1, { type: 'a' }), 'TIMEOUT')
    const { running, overdue, overrun } = queue.stats()
    equal([running, overdue, overrun, queue.stats('a').running], [0, 0, 1, 0])
    gate.release()
    await stage.until(() => queue.stats().overrun === 0)
  })

  test('a second end of a job is counted as misuse', [], async stage => {
    const { gate, queue } = await stage.openGated()
    const result = stage.add(queue, 1)
    await gate.until(1)
    const [{ done }] = gate.started
    done(null, 'first')
    done(null, 'second')
    equal(await result, 'first')
    equal(queue.stats().misuse, 1)
  })

  test('clear() takes away what waits and is delayed, of a type or of all', [], async stage => {
    const { gate, queue } = await filled(stage)
    const refused = stage.add(queue, 6, { type: 'b' })
    await queue.flush()
    equal(await queue.clear({ type: 'b', reason: 'why' }), 2)
    equal((await rejects(refused, 'CLEARED')).cause, 'why')
    equal(await queue.clear(), 3)
    equal(await queue.clear(), 0)
    equal((await queue.counts()).waiting, 0)
    gate.release()
    await queue.onIdle()
    equal([gate.started.length, queue.stats().cancelled], [1, 5])
  })

  test('clear({ dead }) takes away the dead letters, too', 'deadLetters', async stage => {
    const { gate, queue } = await filled(stage)
    const failed = stage.next(queue, 'failed')
    gate.fail(new Error('expected'))
    await failed
    queue.pause()
    await stage.until(async () => (await queue.counts()).dead === 1)
    await queue.clear({ type: 'b', dead: true })
    equal((await queue.deadLetters()).length, 1)
    await queue.clear({ type: 'a', dead: true })
    equal(await queue.deadLetters(), [])
    equal((await queue.counts('a')).dead, 0)
  })

  test('clear({ dead }) is no mistake where there are no dead letters', [], async stage => {
    const { queue } = await stage.openGated()
    equal(await queue.clear({ dead: true }), 0)
  })

  test('flush() and onIdle() resolve', [], async stage => {
    const { gate, queue } = await stage.openGated()
    await queue.flush()
    await queue.onIdle()
    stage.add(queue, 1)
    let isIdle = false
    const idle = queue.onIdle().then(() => { isIdle = true })
    await gate.until(1)
    await stage.quiet()
    equal(isIdle, false)
    gate.release()
    await idle
    equal(await queue.counts(), { waiting: 0, delayed: 0, running: 0, dead: 0, types: 0 })
  })
}
