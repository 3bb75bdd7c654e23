'use strict'

const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const fairlane = require('../../..')
const outcomes = require('../../support/outcomes')
const { captureUncaught } = require('../../support/uncaught')
const { spin, withoutTime } = require('../../support/time')
const { quiet, turn } = require('../../support/turns')

const [MAJOR] = process.versions.node.split('.').map(Number)

// Every way in which a runner may complete, also by ways through other contexts.
const STYLES = {
  'done at once': (done) => { done() },
  'done in a nextTick': (done) => { process.nextTick(done) },
  'done in a microtask': (done) => { queueMicrotask(done) },
  'done in a later turn': (done) => { setImmediate(done) },
  'done in a timer': (done) => { setTimeout(done, 0) },
  'done at once in another context': (done, als) => { als.run('other', done) },
  'done later in another context': (done, als) => { als.run('other', () => setImmediate(done)) },
  'a fulfilled promise': () => Promise.resolve(),
  'a promise of another context': (done, als) => als.run('other', () => turn()),
  'an async function': async () => {},
  'an async function that waits': async () => { await turn() },
  'a rejected promise': () => Promise.reject(new Error('expected')),
  'a thenable that resolves at once': () => ({ then: (resolve) => resolve() }),
  'a thenable that resolves later in another context': (done, als) => ({ then: (resolve) => als.run('other', () => setImmediate(resolve)) }),
  'a throw': () => { throw new Error('expected') },
  'a throw in another context': (done, als) => als.run('other', () => { throw new Error('expected') })
}

describe('the AsyncLocalStorage context', function () {
  for (const [name, complete] of Object.entries(STYLES)) {
    for (const maker of ['maker', undefined]) {
      it(`of runners and callbacks is that in which the queue was made (${maker}), with ${name}`, async function () {
        const als = new AsyncLocalStorage()
        const settled = outcomes()
        const seen = []
        const make = () => fairlane((payload, done) => {
          seen.push(['runner', als.getStore()])
          return complete(done, als)
        }, 2)
        const queue = maker === undefined ? make() : als.run(maker, make)
        const push = (id) => {
          const callback = settled.callback(id)
          queue.push(id, () => {
            seen.push(['callback', als.getStore()])
            callback()
          })
        }

        for (let i = 0; i < 5; i++) als.run(`pusher ${i}`, () => push(i))
        await settled.until(5)
        await quiet()
        als.run('late pusher', () => push(5))
        push(6)
        await settled.until(7)
        assert.equal(seen.length, 14)
        assert.deepEqual([...new Set(seen.map((entry) => entry[1]))], [maker])
      })

      it(`of drain, its listeners and the callbacks of fflush belongs to no job (${maker}), with ${name}`, async function () {
        const als = new AsyncLocalStorage()
        const seen = []
        const make = () => fairlane((payload, done) => complete(done, als), 1)
        const queue = maker === undefined ? make() : als.run(maker, make)
        queue.drain = () => seen.push(als.getStore())
        queue.on('drain', () => seen.push(als.getStore()))
        queue.fflush(() => {})
        als.run('pusher', () => queue.push(1).push(2))
        queue.fflush(() => seen.push(als.getStore()))
        await queue.onIdle()
        assert.equal(seen.length, 3)
        seen.forEach((store) => assert.ok(store === maker || store === undefined, String(store)))
      })
    }
  }

  it('of a callback that clear or remove calls is that of the queue', function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const look = () => seen.push(als.getStore())
    const queue = als.run('maker', () => fairlane(() => {})).pause()
    als.run('pusher', () => queue.push(1, look).push(2, look).push(3, look))
    als.run('remover', () => queue.remove(({ payload }) => payload === 2))
    als.run('clearer', () => queue.clear())
    assert.deepEqual(seen, ['maker', 'maker', 'maker'])
  })

  it('of the caller is as it was after each call', async function () {
    const als = new AsyncLocalStorage()
    const queue = als.run('maker', () => fairlane((payload, done) => done())).pause()
    als.run('caller', () => {
      queue.push(1, () => {}).unshift(2).resume().pause()
      assert.equal(als.getStore(), 'caller')
      queue.fflush(() => {})
      queue.clear()
      assert.equal(als.getStore(), 'caller')
    })
    await als.run('caller', async () => {
      queue.resume().push(1)
      await queue.onIdle()
      assert.equal(als.getStore(), 'caller')
      queue.push(1)
      await queue.fflush()
      assert.equal(als.getStore(), 'caller')
    })
  })

  it('of the caller of done is as it was after done', async function () {
    const als = new AsyncLocalStorage()
    const queue = als.run('maker', () => fairlane((payload, done) => {
      als.run('inside', () => setImmediate(() => {
        done()
        stores.push(als.getStore())
      }))
    }, 1))
    const stores = []
    queue.push(1, () => {}).push(2, () => {})
    await queue.onIdle()
    await turn()
    assert.deepEqual(stores, ['inside', 'inside'])
  })

  it('that a runner sets with run reaches neither the next job nor the callback, by whatever path', async function () {
    const als = new AsyncLocalStorage()
    const settled = outcomes()
    const seen = []
    const dones = []
    const queue = fairlane((payload, done) => {
      seen.push(['runner', payload, als.getStore()])
      als.run(`job ${payload}`, () => {
        if (payload % 5 === 0) done()
        if (payload % 5 === 1) queueMicrotask(done)
        if (payload % 5 === 2) setImmediate(done)
        // Held by one job and ended inside another, in the other's context.
        if (payload % 5 === 3) dones.push(done)
        if (payload % 5 === 4) {
          dones.splice(0).forEach((held) => held())
          process.nextTick(done)
        }
      })
    }, 3)
    for (let i = 0; i < 50; i++) {
      const callback = settled.callback(i)
      queue.push(i, () => {
        seen.push(['callback', i, als.getStore()])
        callback()
      })
    }
    await settled.until(50)
    assert.deepEqual(seen.filter((entry) => entry[2] !== undefined), [])
  })

  it('that a callback sets with run reaches no job', async function () {
    const seen = await runInCallbacks()
    assert.deepEqual(seen.runners, Array(20).fill('maker'))
  })

  it('that a callback sets with run reaches no other callback that is called meanwhile', async function () {
    const seen = await runInCallbacks()
    assert.deepEqual(seen.callbacks, Array(20).fill('maker'))
  })

  // Callbacks that end other jobs from inside a context of their own. Two of those that wait for that may not have both slots.
  function runInCallbacks () {
    return withoutTime(endInCallbacks)
  }

  async function endInCallbacks () {
    const als = new AsyncLocalStorage()
    const settled = outcomes()
    const seen = { runners: [], callbacks: [] }
    const held = []
    const queue = als.run('maker', () => fairlane((payload, done) => {
      seen.runners.push(als.getStore())
      if (payload % 2) held.push(done)
      else setImmediate(done)
    }, 2))
    for (let i = 0; i < 20; i++) {
      const callback = settled.callback(i)
      queue.push(i, () => {
        seen.callbacks.push(als.getStore())
        als.run(`callback ${i}`, () => {
          queue.pause().resume()
          held.splice(0).forEach((done) => done())
          callback()
        })
      })
    }
    await settled.until(20)
    return seen
  }

  for (const call of ['clear', 'remove']) {
    it(`that a callback sets with run reaches no callback of a job that it cancels by ${call}`, async function () {
      const als = new AsyncLocalStorage()
      const seen = []
      const queue = als.run('maker', () => fairlane((payload, done) => done(), 1))
      queue.push('first', () => als.run('callback', () => queue[call](call === 'remove' ? () => true : undefined)))
      queue.push('second', () => seen.push(als.getStore())).push('third', () => seen.push(als.getStore()))
      await queue.onIdle()
      assert.deepEqual(seen, ['maker', 'maker'])
    })
  }

  // Before AsyncContextFrame, enterWith writes into the resource that is current, which is the queue's own.
  const itSinceNode24 = MAJOR >= 24 ? it : (title) => it.skip(`${title} (needs Node 24, where enterWith is undone at the end of a scope)`)

  for (const [name, complete] of Object.entries(STYLES)) {
    for (const place of ['runner', 'callback']) {
      // Jobs that end while their runner is on the stack share a scope with the next: documented, for speed.
      if (/at once|throw/.test(name) && !/thenable/.test(name)) continue
      itSinceNode24(`that a ${place} enters reaches no other runner and no callback, with ${name}`, async function () {
        const als = new AsyncLocalStorage()
        const settled = outcomes()
        const seen = []
        const queue = als.run('maker', () => fairlane((payload, done) => {
          seen.push(als.getStore())
          if (place === 'runner') als.enterWith(`job ${payload}`)
          return complete(done, als)
        }, 2))
        for (let i = 0; i < 6; i++) {
          const callback = settled.callback(i)
          queue.push(i, () => {
            seen.push(als.getStore())
            if (place === 'callback') als.enterWith(`callback ${i}`)
            callback()
          })
        }
        await settled.until(6)
        assert.deepEqual([...new Set(seen)], ['maker'])
      })
    }
  }

  for (const extras of [{ signal: new AbortController().signal }, {}]) {
    const which = extras.signal === undefined ? 'somebody listens to failures' : 'the jobs have signals'
    itSinceNode24(`that a runner enters reaches no other runner while ${which}`, async function () {
      const als = new AsyncLocalStorage()
      const seen = []
      const queue = als.run('maker', () => fairlane((payload, done) => {
        seen.push(als.getStore())
        als.enterWith(`job ${payload}`)
        setImmediate(done)
      }, 3))
      if (extras.signal === undefined) queue.on('failed', () => {})
      for (let i = 0; i < 6; i++) queue.add(i, extras)
      await queue.onIdle()
      assert.deepEqual(seen, Array(6).fill('maker'))
    })
  }

  itSinceNode24('that a runner enters reaches no runner of the next pass when its own has run out of time', async function () {
    const als = new AsyncLocalStorage()
    const seen = []
    const queue = als.run('maker', () => fairlane((payload, done) => {
      seen.push(als.getStore())
      als.enterWith(`job ${payload}`)
      spin(3) // longer than a pass may take
      setImmediate(done)
    }, 6))
    for (let i = 0; i < 6; i++) queue.push(i)
    await withoutTime(() => queue.onIdle()) // but for what passes in the runner
    assert.equal(queue.stats().done, 6)
    assert.deepEqual(seen, Array(6).fill('maker'))
  })

  it('survives runners and callbacks that throw inside contexts of their own', async function () {
    const uncaught = captureUncaught()
    const als = new AsyncLocalStorage()
    const seen = []
    const queue = als.run('maker', () => fairlane((payload, done) => {
      seen.push(als.getStore())
      als.run('inside', () => { throw new Error('expected') })
    }, 1))
    for (let i = 0; i < 3; i++) {
      queue.push(i, () => {
        seen.push(als.getStore())
        als.run('inside callback', () => { throw new Error('expected') })
      })
    }
    await uncaught.until(3)
    uncaught.release()
    await queue.onIdle()
    assert.deepEqual([...new Set(seen)], ['maker'])
    assert.equal(als.getStore(), undefined)
  })

  it('of two queues made in two contexts stays theirs', async function () {
    const als = new AsyncLocalStorage()
    const seen = { one: [], two: [] }
    const make = (name) => als.run(name, () => fairlane((payload, done) => {
      seen[name].push(als.getStore())
      done()
    }, 1))
    const one = make('one')
    const two = make('two')
    for (let i = 0; i < 10; i++) {
      one.push(i, () => two.push(i, () => seen.two.push(als.getStore())))
      two.push(i, () => seen.two.push(als.getStore()))
    }
    await one.onIdle()
    await two.onIdle()
    assert.deepEqual([...new Set(seen.one)], ['one'])
    assert.deepEqual([...new Set(seen.two)], ['two'])
    assert.equal(seen.two.length, 40)
  })
})
