'use strict'

const assert = require('node:assert')
const original = require('async')
const facade = require('../../lib/compat/async')
const { mirror, errorText } = require('./mirror')
const { quiet, turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

const EVENTS = ['saturated', 'unsaturated', 'empty', 'drain']
const KINDS = {
  queue: lib => lib.queue(echo, 2),
  priorityQueue: lib => lib.priorityQueue(echo, 2),
  cargo: lib => lib.cargo(echo, 2),
  cargoQueue: lib => lib.cargoQueue(echo, 2, 2)
}

describe('compat/async', () => {
  describe('does as async does:', () => {
    for (const [kind, make] of Object.entries(KINDS)) {
      describe(kind, () => mirror(original, facade, scenariosOfAll(make)))
    }

    mirror(original, facade, {
      'queue: starts workers in order, in a microtask': async (lib, log) => {
        const q = lib.queue((task, done) => { log('start', task); setImmediate(done, null, task) }, 2)
        for (const event of EVENTS) q[event](() => log(event, q.length(), q.running()))
        q.push([2, 3], log)
        q.unshift(1, log)
        q.unshift([0, -1])
        log('pushed', [...q])
        await null
        log('microtask', q.running(), q.workersList().map(({ data }) => data))
        await quiet()
      },

      'queue: a higher concurrency': async (lib, log) => {
        const q = lib.queue((task, done) => { log(task, q.running()); setImmediate(done) }, 1)
        q.push([1, 2, 3])
        await null
        q.concurrency = 3
        log(q.concurrency)
        q.push(4)
        await quiet()
      },

      'queue: a concurrency of 0 stops it': async (lib, log) => {
        const q = lib.queue((task, done) => { log(task); setImmediate(done) }, 1)
        q.push([1, 2])
        q.concurrency = 0
        await quiet()
        log(q.length(), q.paused)
        q.pause()
        q.resume()
        await quiet()
        log(q.length())
        q.concurrency = 1
        q.push(3)
        await quiet()
      },

      'queue: the default concurrency is 1, and 0 is refused': (lib, log) => {
        log(lib.queue(echo).concurrency, lib.queue(echo, null).concurrency, lib.cargoQueue(echo).concurrency, lib.cargo(echo).concurrency)
        log(errorText(() => lib.queue(echo, 0)), errorText(() => lib.cargoQueue(echo, 0)), errorText(() => lib.queue('worker')))
      },

      'queue: buffer decides when it is unsaturated': async (lib, log) => {
        const q = lib.queue(echo, 4)
        log(q.buffer)
        q.buffer = 3
        q.unsaturated(() => log(q.running()))
        q.push([1, 2, 3, 4, 5])
        await quiet()
      },

      'queue: an async function gets no callback, and settles by its promise': async (lib, log) => {
        const q = lib.queue(async (...args) => {
          await null
          if (args[0] instanceof Error || args[0] === undefined) throw args[0]
          return args.length
        }, 1)
        q.push(1, log)
        q.push(new Error('failed'), err => log(err.message))
        q.push(undefined, err => log(err instanceof Error))
        await quiet()
      },

      'queue: what other workers return means nothing': async (lib, log) => {
        const q = lib.queue((task, done) => { setImmediate(done, null, task); return Promise.resolve('not looked at') })
        q.push(1, log)
        await quiet()
      },

      'queue: a falsy error is one for the error handler unless it is null or undefined': async (lib, log) => {
        const q = lib.queue((task, done) => setImmediate(done, task))
        q.error((...args) => log('error', ...args))
        for (const task of [0, '', false, null, undefined, 'text']) log(await q.push(task))
      },

      'priorityQueue: the lowest number starts first, equal ones in order': async (lib, log) => {
        const q = lib.priorityQueue((task, done) => { log(task); setImmediate(done, null, task) }, 1)
        log(q.unshift, q.unshiftAsync)
        q.push('5a', 5)
        q.push(['-1a', '-1b'], -1, (err, task) => log(err, 'end', task))
        q.push('5b', 5)
        q.push('0')
        q.push('1.5', 1.5)
        await null
        q.push('2', 2)
        q.push('-1c', '-1')
        log(await q.pushAsync('7', 7))
        log(await q.pushAsync('default'))
      },

      'priorityQueue: remove sees priorities': async (lib, log) => {
        const q = lib.priorityQueue((task, done) => { log(task); setImmediate(done) }, 1)
        q.push(['a', 'b'], 2)
        q.push('c', 1)
        q.push('d', 2)
        q.remove(({ data, priority }) => priority === 1 || data === 'b')
        log(q.length())
        await quiet()
      },

      'cargo: gives one worker up to payload tasks': async (lib, log) => {
        const q = lib.cargo((tasks, done) => { log('start', tasks); setImmediate(done, null, tasks.length) }, 2)
        for (const event of EVENTS) q[event](() => log(event, q.length(), q.running()))
        q.push([1, 2, 3], log)
        q.unshift(0)
        q.push(4)
        await turn()
        q.unshift([6, 5])
        q.payload = 3
        log([...q], q.payload)
        await quiet()
      },

      'cargo: without a payload all that wait': async (lib, log) => {
        const q = lib.cargo((tasks, done) => { log(tasks); setImmediate(done) })
        log(q.payload)
        q.push([1, 2, 3])
        await turn()
        q.push([4, 5])
        await quiet()
      },

      'cargoQueue: gives several workers up to payload tasks': async (lib, log) => {
        const q = lib.cargoQueue((tasks, done) => { log(tasks); setImmediate(done) }, 2, 2)
        for (const event of EVENTS) q[event](() => log(event, q.length(), q.running(), q.workersList().map(({ data }) => data)))
        q.push([1, 2, 3, 4, 5, 6, 7])
        await quiet()
      }
    })
  })

  describe('does better than async:', () => {
    it('a worker that throws fails its task, and the queue goes on', async () => {
      const q = facade.queue(task => { throw new Error(task) }, 1)
      await assert.rejects(q.pushAsync('one'), { message: 'one' })
      await assert.rejects(q.pushAsync('two'), { message: 'two' })
    })

    it('a second callback is ignored', async () => {
      const q = facade.queue((task, done) => { done(); done() }, 1)
      let ends = 0
      q.push(1, () => ends++)
      await quiet()
      assert.deepEqual([ends, q.running()], [1, 0])
    })

    it('the callback of a worker that ends at once runs when it has returned', async () => {
      const log = []
      const q = facade.queue((task, done) => { done(); log.push('returned') })
      q.push(1, () => log.push('called back'))
      await quiet()
      assert.deepEqual(log, ['returned', 'called back'])
    })

    it('a higher concurrency starts workers without a further push', async () => {
      const q = facade.queue(() => {}, 1)
      q.push([1, 2])
      await quiet()
      q.concurrency = 2
      await quiet()
      assert.equal(q.running(), 2)
      q.pause()
      q.concurrency = 5
      q.push(3)
      await quiet()
      assert.deepEqual([q.running(), q.concurrency, q.paused], [2, 5, true])
    })

    for (const kind of Object.keys(KINDS)) {
      it(`${kind}: promises of removed and killed tasks do not stay pending`, async () => {
        const q = KINDS[kind](facade)
        q.pause()
        const promises = ['push', 'pushAsync', 'push', 'pushAsync'].map(method => q[method](1))
        let count = 0
        q.remove(() => count++ < 2)
        q.kill()
        const outcomes = await Promise.allSettled(promises)
        assert.deepEqual(outcomes.map(({ status, reason }) => reason?.code ?? status), [
          'fulfilled', 'FAIRLANE_ERR_CLEARED', 'fulfilled', 'FAIRLANE_ERR_CLEARED'
        ])
      })

      it(`${kind}: a promise of drain outlives a handler and kill`, async () => {
        const q = KINDS[kind](facade)
        const drained = q.drain()
        q.drain(() => assert.fail('handlers go with kill'))
        q.push([1, 2, 3, 4, 5])
        await null
        q.kill()
        await drained
        q.pause()
        q.push(1)
        const drainedByKill = q.drain()
        q.kill()
        await drainedByKill
      })
    }

    it('a test of remove that throws removes nothing', () => {
      for (const make of [KINDS.queue, KINDS.cargo]) {
        const q = make(facade)
        q.pause()
        q.push([1, 2])
        assert.throws(() => q.remove(({ data }) => { if (data === 2) throw new Error('test'); return true }), { message: 'test' })
        assert.equal(q.length(), 2)
      }
    })

    it('what handlers throw becomes an uncaught exception, and nothing is left undone', async () => {
      const uncaught = captureUncaught()
      try {
        const q = facade.queue(echo, 1)
        for (const event of EVENTS) q[event](() => { throw new Error(event) })
        let ends = 0
        q.push([1, 2], () => { ends++; throw new Error('callback') })
        await quiet()
        assert.deepEqual([ends, q.idle()], [2, true])
        assert.deepEqual(uncaught.seen.map(({ message }) => message), [
          'saturated', 'callback', 'unsaturated', 'empty', 'saturated', 'callback', 'unsaturated', 'drain'
        ])
      } finally {
        uncaught.release()
      }
    })

    it('wrong use throws errors with codes', () => {
      assert.throws(() => facade.queue('worker'), { code: 'FAIRLANE_ERR_RUNNER' })
      assert.throws(() => facade.queue(echo, 0), { code: 'FAIRLANE_ERR_CONCURRENCY' })
      assert.throws(() => facade.queue(echo, 1.5), { code: 'FAIRLANE_ERR_CONCURRENCY' })
      assert.throws(() => { facade.queue(echo).concurrency = 1.5 }, { code: 'FAIRLANE_ERR_CONCURRENCY' })
      assert.throws(() => facade.queue(echo).push(1, 'callback'), { code: 'FAIRLANE_ERR_CALLBACK' })
      for (const priority of [() => {}, 'high', NaN, {}, Symbol('high')]) {
        assert.throws(() => facade.priorityQueue(echo).push(1, priority), { code: 'FAIRLANE_ERR_ARGUMENT' })
      }
    })
  })
})

/** What all four kinds have in common. */
function scenariosOfAll (make) {
  return {
    'counts, callbacks and events': async (lib, log) => {
      const q = make(lib)
      log(q.started, q.paused, q.idle(), q.length(), q.running(), q.workersList(), [...q], q.concurrency, q.buffer)
      for (const event of EVENTS) log(q[event](() => log(event, q.length(), q.running())))
      log(pushOf(q)(['a', 'b', 'c', 'd', 'e'], (...args) => log(args)))
      log(q.started, q.idle(), q.length(), q.running(), [...q])
      await null
      log(q.idle(), q.length(), q.running(), q.workersList().map(({ data }) => data))
      await quiet()
      log(q.idle(), q.workersList())
    },

    'promises of results and of events': async (lib, log) => {
      const q = make(lib)
      for (const event of EVENTS) q[event]().then(value => log(event, value))
      log(await q.push('one'))
      log(await Promise.all(q.push(['two', 'three'])))
      log(await Promise.all(q.pushAsync(['four', 'five'])))
      if (q.unshiftAsync !== undefined) log(await q.unshiftAsync('six'))
      const error = q.error().catch(err => log('error', err))
      log(await q.push('fails'))
      await q.pushAsync('fails').catch(err => log('rejected', err))
      await error
      log(await q.push('several'))
    },

    'members are not to be overwritten': (lib, log) => {
      const q = make(lib)
      for (const event of [...EVENTS, 'error']) log(errorText(() => { q[event] = () => {} }))
    },

    'an error handler gets the error and the task': async (lib, log) => {
      const q = make(lib)
      q.error(() => log('replaced'))
      q.error((err, task) => log('error', err, task))
      pushOf(q)('fails', err => log('callback', err))
      await quiet()
    },

    'an empty array drains an idle queue, later, and one that is not idle by no means': async (lib, log) => {
      const q = make(lib)
      q.drain(() => log('drain'))
      log(q.push([]), q.pushAsync([]))
      log('pushed')
      await turn()
      pushOf(q)('a', () => {})
      log(q.push([]))
      await quiet()
    },

    'callbacks must be functions': (lib, log) => {
      const q = make(lib)
      q.pause()
      log(errorText(() => pushOf(q)(1, 'callback')), errorText(() => pushOf(q)([1, 2], 'callback')))
      log(q.push(1, null) instanceof Promise)
    },

    'pause and resume': async (lib, log) => {
      const q = make(lib)
      log(q.resume(), q.pause(), q.paused)
      pushOf(q)([1, 2, 3], (err, result) => log(err, result))
      await quiet()
      log('paused', q.length(), q.running())
      log(q.resume(), q.paused, q.running())
      await quiet()
      log(q.idle())
    },

    'remove takes out what its test finds, without a word': async (lib, log) => {
      const q = make(lib)
      q.pause()
      pushOf(q)([1, 2, 3, 4, 5], (err, result) => log(err, result))
      log(q.remove(({ data }) => data % 2 === 0), q.length())
      q.resume()
      await quiet()
      q.pause()
      pushOf(q)(6, log)
      q.remove(() => true)
      log(q.length(), q.idle())
      q.resume()
      await quiet()
      pushOf(q)(7, log)
      await quiet()
    },

    'kill takes out all, and all handlers': async (lib, log) => {
      const q = make(lib)
      for (const event of [...EVENTS, 'error']) q[event](() => log(event))
      pushOf(q)([1, 2, 3, 4, 5, 6, 7, 8, 9], (err, result) => log(err, result))
      await null
      log(q.kill(), q.length(), q.running())
      await quiet()
      log(q.idle())
    },

    'members work without their queue': async (lib, log) => {
      const { push, length, running, idle } = make(lib)
      const pushed = push(1)
      log(length(), running(), idle(), await pushed)
    }
  }
}

/** push(data, callback) of any kind: a priorityQueue has the priority between them. */
function pushOf (q) {
  return q.unshift === undefined ? (data, callback) => q.push(data, undefined, callback) : q.push
}

/** A worker of one task or of an array of them. */
function echo (data, done) {
  const [first] = [].concat(data)
  if (first === 'fails') setImmediate(done, 'failed')
  else if (first === 'several') setImmediate(done, null, 1, 2)
  else setImmediate(done, null, data)
}
