'use strict'

// add() of a durable queue: a promise of the result, while this process lives. The job outlives it.

const assert = require('node:assert')
const { LOOKS } = require('../shared/looks')
const { captureWarnings } = require('../support/uncaught')
const { quiet, turn } = require('../support/turns')
const { Bench, holdSyncs } = require('./bench')
const { systemError } = require('../log/disk')

const code = name => ({ code: `FAIRLANE_ERR_${name}` })
const key = { key: 'k', keyUntil: 'settled' }

describe('add() of a durable queue', () => {
  let bench

  beforeEach(() => { bench = new Bench() })
  afterEach(async () => { await bench.queue?.close({ timeoutMs: 0 }) })

  it('gives what the runner gives, for jobs with a type and without, and with what is said of them', async () => {
    const queue = await bench.open({ concurrency: 1 })
    queue.pause()
    const results = [queue.add('a'), queue.add('b', { type: 't', delayMs: 10 }), queue.add('c', { unshift: true, maxAttempts: 1 })]
    await turn()
    assert.deepEqual([...queue.jobs()].map(({ id, type, payload }) => [id, type, payload]), [
      [3, undefined, 'c'], [1, undefined, 'a'], [2, 't', 'b']
    ])
    queue.resume()
    bench.clock.advance(10)
    for (let i = 1; i <= 3; i++) {
      await bench.gate.until(i)
      bench.gate.release()
    }
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c'])
    assert.deepEqual(bench.gate.payloads, ['c', 'a', 'b'])
  })

  it('rejects with what the last attempt failed with', async () => {
    const queue = await bench.open({ maxAttempts: 2, backoffMs: 0 })
    const failed = assert.rejects(queue.add('a'), /second/)
    await bench.gate.until(1)
    bench.gate.fail(new Error('first'))
    await turn()
    bench.clock.advance(0)
    await bench.gate.until(2)
    bench.gate.fail(new Error('second'))
    await failed
  })

  for (const [look, attach] of Object.entries(LOOKS)) {
    for (const wait of ['onIdle', 'fflush', 'close']) {
      it(`has its rejection handled by ${look} when ${wait}() has resolved`, async () => {
        const told = []
        const queue = await bench.open({ maxAttempts: 1 })
        const signal = new AbortController().signal
        for (const options of [
          undefined, { key: 'k' }, { key: 'k' }, { key: 'l', signal }, { signal }
        ]) attach(queue.add('a', options), told)
        await bench.gate.until(4)
        const waited = queue[wait]()
        for (let i = 0; i < 4; i++) bench.gate.fail(new Error('expected'))
        await waited
        assert.equal(told.length, 5)
        if (wait === 'close') return
        attach(queue.add('a', { signal: AbortSignal.abort() }), told)
        await queue[wait]()
        assert.equal(told.length, 6)
      })
    }

    it(`has its rejection handled by ${look} when close() has resolved, which leaves the job on disk`, async () => {
      const told = []
      const queue = await bench.open()
      for (const signal of [undefined, new AbortController().signal]) attach(queue.add('a', { signal, delayMs: 10 }), told)
      await queue.close({ drain: true })
      assert.equal(told.length, 2)
    })
  }

  it('rejects when the job is cleared, removed, cancelled, waits or runs too long, or is refused', async () => {
    const queue = await bench.open({ concurrency: 1, maxWaiting: 2, maxAttempts: 1 })
    queue.pause()
    const ends = [assert.rejects(queue.add('a', { maxWaitMs: 5 }), code('MAX_WAIT')), assert.rejects(queue.add('b'), code('CLEARED'))]
    await assert.rejects(queue.add('c'), code('QUEUE_FULL'))
    bench.clock.advance(5)
    queue.clear()
    ends.push(assert.rejects(queue.add('d'), code('CLEARED')), assert.rejects(queue.add('e', { delayMs: 5 }), code('ABORTED')))
    queue.remove(({ payload }) => payload === 'd')
    await queue.cancel(4)
    queue.resume()
    ends.push(assert.rejects(queue.add('f', { timeoutMs: 5 }), code('TIMEOUT')))
    await bench.gate.until(1)
    bench.clock.advance(5)
    await Promise.all(ends)
    assert.throws(() => queue.add(() => {}), code('ARGUMENT'))
  })

  it('rejects with what could not be written, or is not written any more', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    const release = holdSyncs(bench.disk)
    const first = queue.add('first')
    const held = assert.rejects(queue.add('held'), code('CLEARED'))
    assert.equal(queue.remove(({ payload }) => payload === 'held'), 1)
    await held
    const written = queue.add('written')
    release()
    await bench.gate.until(2)
    bench.gate.release(2)
    assert.deepEqual(await Promise.all([first, written]), ['first', 'written'])
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.add('lost'), code('IO'))
    bench.disk.fault = () => undefined
    await quiet()
    warnings.release()
  })

  it('rejects when the queue closes, and the job is there when it is opened again', async () => {
    const queue = await bench.open({ concurrency: 1 })
    const ends = ['running', 'waiting'].map(payload => assert.rejects(queue.add(payload), code('CLOSED')))
    await bench.gate.until(1)
    await queue.close({ timeoutMs: 0 })
    await Promise.all(ends)
    await assert.rejects(queue.add('late'), code('CLOSED'))
    await bench.reopenAfterKill()
    assert.equal(bench.queue.recovered.jobs, 2)
  })

  it('rejects with the error of the log when that fails', async () => {
    const queue = await bench.open()
    const warnings = captureWarnings()
    const lost = assert.rejects(queue.add('a'), code('IO'))
    await bench.gate.until(1)
    bench.disk.fault = kind => kind === 'sync' ? systemError('EIO') : undefined
    await assert.rejects(queue.flush(), code('IO'))
    await assert.rejects(queue.flush(), code('IO')) // it goes on being so
    bench.gate.release()
    await assert.rejects(queue.close(), code('IO'))
    await lost
    await assert.rejects(queue.flush(), code('IO'))
    warnings.release()
    bench.queue = undefined
  })

  it('ends the job when its signal aborts, wherever it is', async () => {
    const queue = await bench.open({ concurrency: 1 })
    const controller = new AbortController()
    const { signal } = controller
    const ends = ['running', 'waiting', 'delayed'].map(payload => {
      return assert.rejects(queue.add(payload, { signal, delayMs: payload === 'delayed' ? 50 : 0 }), { ...code('ABORTED'), cause: 'why' })
    })
    await bench.gate.until(1)
    controller.abort('why')
    await Promise.all(ends)
    assert.equal(bench.gate.started[0].context.signal.reason.code, 'FAIRLANE_ERR_ABORTED')
    assert.deepEqual(bench.idsOf('cancelled'), [1, 2, 3])
    await assert.rejects(queue.add('never', { signal }), code('ABORTED'))
    assert.equal(queue.stats().accepted, 3)
    bench.gate.release()
    await bench.reopenAfterKill()
    assert.equal(bench.queue.recovered.jobs, 0)
  })

  it('ends the job when its signal aborts while it is held, or while its payload is encoded', async () => {
    const controllers = [new AbortController(), new AbortController()]
    const encode = payload => {
      if (payload === 'encoded') controllers[1].abort()
      return Buffer.from(payload)
    }
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1, serialize: { encode, decode: String } })
    const release = holdSyncs(bench.disk)
    const first = queue.push('first')
    const add = (payload, i) => queue.add(payload, { signal: controllers[i].signal })
    const ends = ['held', 'encoded'].map((payload, i) => assert.rejects(add(payload, i), code('ABORTED')))
    controllers[0].abort()
    await turn()
    release()
    await Promise.all([first, ...ends])
    await quiet()
    assert.deepEqual([bench.gate.payloads, queue.stats().cancelled], [['first'], 2])
  })

  it('ends nothing by a signal if the job is refused when its turn comes just then', async () => {
    const queue = await bench.open({ ack: 'disk', maxInflightOps: 1 })
    queue.pause()
    await queue.push('z')
    const release = holdSyncs(bench.disk)
    const first = queue.push('first')
    const controller = new AbortController()
    const lost = assert.rejects(queue.add('lost', { signal: controller.signal }), code('ABORTED'))
    await quiet()
    bench.disk.capacity = bench.disk.usedBytes
    // from now on the reserve is made use of
    assert.equal(queue.remove(({ payload }) => payload === 'z'), 1)
    controller.abort()
    await lost
    release()
    await first
    bench.disk.capacity = Infinity
    assert.deepEqual([...queue.jobs()].map(({ payload }) => payload), ['first'])
  })

  it('is told once: not again when the log fails, with what was removed, nor by a signal after that', async () => {
    const queue = await bench.open({ ack: 'disk' })
    queue.pause()
    const warnings = captureWarnings()
    let endSync
    bench.disk.sync = (fd, callback) => { endSync = callback }
    const controller = new AbortController()
    const ends = [
      assert.rejects(queue.add('a'), code('CLEARED')), assert.rejects(queue.add('b', { signal: controller.signal }), code('ABORTED'))
    ]
    await turn()
    assert.equal(queue.remove(({ payload }) => payload === 'a'), 1)
    endSync(systemError('EIO'))
    controller.abort()
    await Promise.all(ends)
    await assert.rejects(queue.close(), code('IO'))
    assert.equal(queue.stats().cancelled, 1)
    warnings.release()
    bench.queue = undefined
  })

  it('ends the job if its signal cannot be listened to, with what that throws', async () => {
    const queue = await bench.open({ concurrency: 1 })
    queue.pause()
    const fault = new Error('of another make')
    const signal = { aborted: false, addEventListener () { throw fault }, removeEventListener () {} }
    await assert.rejects(queue.add('a', { signal }), fault)
    await quiet()
    assert.deepEqual([queue.stats().waiting, queue.stats().cancelled], [0, 1])
  })

  it('lets a signal be that comes when the job has ended, or the log has failed', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    const warnings = captureWarnings()
    const controller = new AbortController()
    const { signal } = controller
    const done = queue.add('a', { signal })
    await bench.gate.until(1)
    bench.gate.release()
    assert.equal(await done, 'a')
    controller.abort()
    const other = new AbortController()
    const aborted = assert.rejects(queue.add('b', { signal: other.signal }), code('ABORTED'))
    await bench.gate.until(2)
    bench.disk.fault = kind => kind === 'sync' ? systemError('EIO') : undefined
    const flushed = assert.rejects(queue.flush(), code('IO'))
    await turn()
    other.abort()
    await Promise.all([flushed, aborted])
    bench.gate.release()
    await assert.rejects(queue.close(), code('IO'))
    warnings.release()
    bench.queue = undefined
  })

  it('shares the promise of a job that has the key, with who waits for it and who has pushed it', async () => {
    const queue = await bench.open()
    queue.pause()
    const first = queue.add('a', key)
    assert.equal(queue.add('b', key), first)
    assert.equal(await queue.push('c', key), 1)
    const replaced = queue.add('d', { ...key, onDuplicate: 'replace' })
    assert.notEqual(replaced, first)
    await queue.push('other', { key: 'l', keyUntil: 'settled' })
    const pushed = queue.add('e', { key: 'l' })
    queue.resume()
    await bench.gate.until(2)
    bench.gate.release(2)
    assert.deepEqual(await Promise.all([first, replaced, pushed]), ['d', 'd', 'other'])
    assert.equal(queue.stats().accepted, 2)
  })

  it('ends a shared job when all who share it have aborted, and no sooner', async () => {
    const queue = await bench.open()
    queue.pause()
    const controllers = Array.from({ length: 5 }, () => new AbortController())
    const add = (i, name) => assert.rejects(queue.add('a', { key: name, signal: controllers[i].signal }), code('ABORTED'))
    const ends = [add(0, 'both'), add(1, 'both'), add(2, 'pushed'), add(3, 'added')]
    await queue.push('b', { key: 'pushed' })
    const kept = queue.add('b', { key: 'added' })
    queue.push('c', { key: 'kept' })
    ends.push(add(4, 'kept'))
    controllers[0].abort()
    assert.equal(queue.waiting, 4)
    for (const controller of controllers) controller.abort()
    await Promise.all(ends)
    assert.deepEqual([...queue.jobs()].map(({ id }) => id), [2, 3, 4])
    assert.notEqual(await queue.push('d', { key: 'both' }), 1)
    queue.resume()
    await bench.gate.until(4)
    bench.gate.release(4)
    assert.equal(await kept, 'a')
  })

  it('gives the result of a job that has ended while its key is taken if somebody waited, else says that it is not kept', async () => {
    const queue = await bench.open({ maxAttempts: 1 })
    const said = { keyUntil: 1000 }
    const done = queue.add('done', { ...said, key: 'done' })
    const dead = assert.rejects(queue.add('dead', { ...said, key: 'dead' }), /no/)
    queue.push('pushed', { ...said, key: 'pushed' })
    await bench.gate.until(3)
    bench.gate.release()
    bench.gate.fail(new Error('no'))
    bench.gate.release()
    await dead
    assert.equal(queue.add('again', { key: 'done' }), done)
    await assert.rejects(queue.add('again', { key: 'dead' }), /no/)
    await assert.rejects(queue.add('again', { key: 'pushed' }), code('RESULT'))
    await bench.reopen()
    await assert.rejects(bench.queue.add('again', { key: 'done' }), code('RESULT'))
    await assert.rejects(bench.queue.add('again', { key: 'dead' }), code('RESULT'))
  })

  for (const [how, cancel] of [
    ['an abort', (queue, id, controller) => controller.abort()],
    ['cancel()', (queue, id) => queue.cancel(id)],
    ['clear()', queue => queue.clear()]
  ]) {
    it(`leaves a key that is taken for a time so after ${how}, unless the job had not started; and gives its result`, async () => {
      const queue = await bench.open({ concurrency: 1, maxAttempts: 2, backoffMs: 10 })
      const add = (payload, signal) => queue.add(payload, { key: payload, keyUntil: 100, signal })
      const controllers = ['started', 'waits'].map(() => new AbortController())
      const ends = ['started', 'waits'].map(
        (payload, i) => assert.rejects(add(payload, controllers[i].signal), err => /ABORTED|CLEARED/.test(err.code))
      )
      await bench.gate.until(1)
      if (how === 'clear()') { // which leaves alone what runs
        queue.pause()
        bench.gate.fail(new Error('no'))
        await turn()
      }
      for (const id of [1, 2]) await cancel(queue, id, controllers[id - 1])
      await Promise.all(ends)
      await assert.rejects(add('started'), err => /ABORTED|CLEARED/.test(err.code))
      await assert.rejects(add('started', new AbortController().signal), err => /ABORTED|CLEARED/.test(err.code))
      const again = add('waits')
      queue.resume()
      bench.gate.release(bench.gate.open.length)
      await bench.gate.until(2)
      bench.gate.release()
      assert.equal(await again, 'waits')
      await bench.reopen()
      await assert.rejects(bench.queue.add('started', { key: 'started' }), code('RESULT'))
      bench.clock.advance(100)
      const later = bench.queue.add('started', { key: 'started' })
      await bench.gate.until(1)
      bench.gate.release()
      assert.equal(await later, 'started')
    })
  }

  it('rejects for who has replaced a payload that cannot be written, and for nobody else', async () => {
    const queue = await bench.open()
    queue.pause()
    const first = queue.add('a', key)
    await turn()
    const warnings = captureWarnings()
    bench.disk.fault = kind => kind === 'write' ? systemError('EIO') : undefined
    await assert.rejects(queue.add('b', { ...key, onDuplicate: 'replace' }), code('IO'))
    bench.disk.fault = () => undefined
    await quiet()
    const big = assert.rejects(queue.add({ toJSON: 1 }, { ...key, key: 'x'.repeat(2 ** 16) }), code('TOO_LARGE'))
    queue.resume()
    await bench.gate.until(1)
    bench.gate.release()
    assert.equal(await first, 'a')
    await big
    warnings.release()
  })

  it('is refused with wrong options, and without a type where one is needed', async () => {
    const queue = await bench.open({ scheduler: 'equal' })
    for (const options of [1, null, { types: 't' }, { type: 't', signal: 1 }, { type: 't', unshift: 1 }, { type: 't', delayMs: -1 }]) {
      assert.throws(() => queue.add('a', options), code('ARGUMENT'))
    }
    assert.throws(() => queue.add('a'), code('TYPE_REQUIRED'))
    for (const type of [{}, Symbol('t'), '\ud800']) assert.throws(() => queue.add('a', { type }), code('TYPE'))
    const done = queue.add('a', { type: 5 })
    await bench.gate.until(1)
    assert.equal(bench.gate.started[0].context.type, '5')
    bench.gate.release()
    assert.equal(await done, 'a')
  })
})
