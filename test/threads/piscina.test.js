'use strict'

// What lib/threads relies on in piscina beyond its documentation. With another version than this one, look at whether it still holds; if it
// does, the version here is all there is to change.

const assert = require('node:assert')
const { once } = require('node:events')
const Piscina = require('piscina')
const { fileOf, gate, arrived } = require('./start')

const VERSION = '5.3.2'

describe(`piscina ${VERSION}`, () => {
  let pool
  let events

  afterEach(() => pool.destroy())

  const make = (file, options) => {
    const { NODE_OPTIONS, ...env } = process.env
    pool = new Piscina({ filename: fileOf(file), minThreads: 1, maxThreads: 1, env, recordTiming: false, ...options })
    const heard = events = [] // one that is destroyed may start another thread later
    for (const name of ['workerCreate', 'workerDestroy']) pool.on(name, () => heard.push(name))
    pool.on('error', ({ message }) => heard.push(message))
  }

  /** A signal in the form of an event emitter. */
  const signalOf = () => ({
    once (event, listener) {
      events.push(`once ${event}`)
      this.abort = listener
    },
    removeListener (event, listener) {
      events.push(`removeListener ${event}`)
      assert.equal(listener, this.abort)
    }
  })

  it('is the version that this was written for', () => {
    assert.equal(Piscina.version, VERSION)
    make('jobs.js')
  })

  it('takes an object with once() and removeListener() for a signal, and lets it go with the answer', async () => {
    make('jobs.js')
    const signal = signalOf()
    const answer = pool.run({ act: 'value', value: 5 }, { signal })
    assert.deepEqual(events, ['once abort'], 'before run() returns')
    assert.equal(await answer, 5)
    assert.deepEqual(events, ['once abort', 'workerCreate', 'removeListener abort'])
  })

  it('lets it go before run() returns if the payload cannot be cloned', async () => {
    make('jobs.js')
    const answer = assert.rejects(pool.run({ act: 'value', value: () => {} }, { signal: signalOf() }), { name: 'DataCloneError' })
    assert.deepEqual(events, ['once abort', 'removeListener abort'])
    await answer
  })

  it('ends the thread when its listener is called, has another one at once, and says when that is ready', async () => {
    make('jobs.js')
    const begun = gate()
    const signal = signalOf()
    const answer = assert.rejects(pool.run({ act: 'loop', gate: begun }, { signal }), { name: 'AbortError' })
    await arrived(begun, 1)
    const [thread] = pool.threads
    const gone = once(thread, 'exit')
    events.length = 0
    signal.abort()
    assert.deepEqual(events, ['removeListener abort', 'workerDestroy'])
    assert.equal(pool.threads.length, 1)
    assert.notEqual(pool.threads[0], thread)
    await answer
    await once(pool, 'workerCreate')
    await gone
    assert.equal(await pool.run({ act: 'value', value: 1 }), 1)
  })

  for (const act of ['exit', 'uncaught']) {
    it(`tells that a thread has ended before it lets the signal of its task go: ${act}`, async () => {
      make('jobs.js')
      await assert.rejects(pool.run({ act }, { signal: signalOf() }))
      assert.deepEqual(events, ['once abort', 'workerCreate', 'workerDestroy', 'removeListener abort'])
      assert.equal(pool.threads.length, 1)
    })
  }

  it('takes an export that is a promise, and says that a thread is ready when that has resolved', async () => {
    const loading = gate(1)
    make('loads.js', { workerData: { how: 'wait', gate: loading } })
    await assert.rejects(pool.run({ exit: true }, { signal: signalOf() }))
    await arrived(loading, 2)
    assert.deepEqual(events.filter(name => name === 'workerCreate').length, 1)
    loading[0] = 2
    Atomics.notify(loading, 0)
    await once(pool, 'workerCreate')
  })

  it('starts no more threads when one ends before it is ready', async () => {
    make('loads.js', { workerData: { how: 'exit', gate: gate() } })
    await assert.rejects(pool.run({}, { signal: signalOf() }), { message: /exit/ })
    while (pool.threads.length > 0) await once(pool, 'workerDestroy').then(() => new Promise(setImmediate))
    assert.deepEqual(events.filter(name => name === 'workerDestroy').length, 2)
  })

  it('tells all tasks when it is destroyed', async () => {
    make('jobs.js')
    const begun = gate()
    const ends = [1, 2].map(() => assert.rejects(pool.run({ act: 'loop', gate: begun }, { signal: signalOf() })))
    await arrived(begun, 1)
    await pool.destroy()
    await Promise.all(ends)
    assert.equal(pool.threads.length, 0)
  })
})
