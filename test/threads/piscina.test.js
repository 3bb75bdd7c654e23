'use strict'

// What lib/threads relies on in piscina beyond its documentation. With another version than this one, look at whether it still holds; if it
// does, the version here is all there is to change.

const assert = require('node:assert')
const { once } = require('node:events')
const Piscina = require('piscina')
const { fileOf, gate } = require('./start')

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

  it('is the version that this was written for', () => {
    assert.equal(Piscina.version, VERSION)
    make('jobs.js')
  })

  it('starts all threads before it returns, and the first listener for their errors is its own', () => {
    make('jobs.js', { maxThreads: 2, minThreads: 2 })
    assert.deepEqual(pool.threads.map(thread => thread.listenerCount('error')), [1, 1])
  })

  it('ends a thread that it is told of as failed, and has another one at once', async () => {
    make('jobs.js')
    await once(pool, 'workerCreate')
    const [thread] = pool.threads
    const gone = once(thread, 'exit')
    events.length = 0
    thread.listeners('error')[0](new Error('stopped'))
    assert.deepEqual(events, ['workerDestroy', 'stopped'])
    assert.equal(pool.threads.length, 1)
    assert.notEqual(pool.threads[0], thread)
    await Promise.all([gone, once(pool, 'workerCreate')])
    assert.equal(pool.threads.length, 1)
  })

  for (const [how, end] of [['exits', thread => thread.terminate()], ['fails', thread => thread.emit('error', new Error('it fails'))]]) {
    it(`tells that a thread has ended, and has another one, before others hear that it ${how}`, async () => {
      make('jobs.js')
      const [thread] = pool.threads
      await once(pool, 'workerCreate')
      const heard = new Promise(resolve => thread.once(how === 'exits' ? 'exit' : 'error', () => {
        resolve([events.includes('workerDestroy'), pool.threads.length, pool.threads[0] !== thread])
      }))
      end(thread)
      assert.deepEqual(await heard, [true, 1, true])
    })
  }

  it('leaves the event loop of a thread to that, and says that a thread is ready when the promise that is its export has resolved', async () => {
    make('turns.js', { name: 'exported', atomics: 'disabled' })
    const [first] = pool.threads
    const turned = new Promise(resolve => first.on('message', message => { if (message === 'turned') resolve() }))
    await turned
    first.listeners('error')[0](new Error('stopped'))
    const heard = []
    const [second] = pool.threads
    pool.on('workerCreate', () => heard.push('ready'))
    await new Promise(resolve => second.on('message', message => {
      if (typeof message === 'string') heard.push(message)
      if (message === 'turned') resolve()
    }))
    assert.deepEqual(heard, ['loading', 'ready', 'turned'])
  })

  it('starts no more threads when one ends before it is ready', async () => {
    make('loads.js', { workerData: { how: 'exit', gate: gate() } })
    while (pool.threads.length > 0) await once(pool, 'workerDestroy').then(() => new Promise(setImmediate))
    assert.deepEqual(events.filter(name => name === 'workerDestroy').length, 2)
  })

  it('ends all threads when it is destroyed', async () => {
    make('jobs.js')
    const [thread] = pool.threads
    const gone = once(thread, 'exit')
    await pool.destroy()
    await gone
    assert.equal(pool.threads.length, 0)
  })
})
