'use strict'

const assert = require('node:assert')
const original = require('fastq')
const facade = require('../../lib/compat/fastq')
const { mirror, errorText } = require('./mirror')
const { spin, withoutTime } = require('../support/time')
const { quiet, turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

describe('compat/fastq', () => {
  describe('does as fastq does:', () => {
    mirror(original, facade, {
      'the members': (fastq, log) => {
        log(Object.keys(fastq(later, 1)).sort())
        log(Object.keys(fastq.promise(later, 1)).sort())
      },

      'a worker starts inside push and unshift while slots are free': async (fastq, log) => {
        const queue = fastq((task, done) => { log('start', task); setImmediate(done, null, task) }, 2)
        log(queue.push(1, log), queue.running())
        log(queue.unshift(2, log), queue.running())
        log(queue.push(4), queue.unshift(3, null), queue.running(), queue.length(), queue.getQueue())
        await quiet()
        log(queue.running(), queue.length(), queue.getQueue())
      },

      'the next worker starts before the end of one that was still running returns, however long the turn has lasted': async (fastq, log) => {
        for (const slots of [1, 2, Infinity]) {
          const ends = []
          const queue = fastq((task, done) => { log('start', task); ends.push(done) }, slots)
          for (const task of [1, 2, 3, 4, 5, 6]) queue.push(task, () => { log('end', task); spin(3) })
          while (ends.length > 0) {
            spin(3)
            ends.shift()()
            log('returned', queue.running(), queue.length())
          }
        }
      },

      '... also if it ends inside another worker': async (fastq, log) => {
        const ends = []
        const queue = fastq((task, done) => {
          log('start', task)
          spin(3)
          if (task === 3) ends.shift()()
          ends.push(done)
        }, 2)
        for (const task of [1, 2, 3, 4, 5]) queue.push(task, () => { log('end', task) })
        ends.pop()()
        log('returned', queue.running(), queue.length())
      },

      '... also if workers are promised': async (fastq, log) => {
        const ends = []
        const queue = fastq.promise(task => { log('start', task); return new Promise(resolve => ends.push(resolve)) }, 1)
        for (const task of [1, 2, 3, 4]) queue.push(task)
        for (let i = 0; i < 4; i++) {
          spin(3)
          ends.shift()()
          for (let ticks = 0; ticks < 10; ticks++) await null
          log(queue.length(), ends.length)
        }
      },

      'a worker starts inside push however long the turn has lasted': async (fastq, log) => {
        const queue = fastq((task, done) => { log('start', task); spin(2); done() }, 3)
        for (const task of [1, 2, 3, 4]) {
          queue.push(task)
          log('pushed', task)
        }
        const slow = fastq((task, done) => { log('start', task); spin(2); setImmediate(done) }, 4)
        slow.pause()
        for (const task of [1, 2, 3, 4]) slow.push(task)
        slow.resume()
        log(slow.running())
        await quiet()
      },

      'the context is this of the worker and of the callbacks': async (fastq, log) => {
        const context = {}
        const queue = fastq(context, function (task, done) { log(this === context); setImmediate(done) }, 1)
        queue.push(1, function () { log(this === context) })
        fastq(function (task, done) { log(this === null); done() }, 1).push(1)
        await quiet()
      },

      'the concurrency must be 1 or more': (fastq, log) => {
        for (const value of [0, -1, NaN, undefined, null, 'many']) log(errorText(() => fastq(later, value)))
        const queue = fastq(later, 1)
        for (const value of [0, -1, NaN]) log(errorText(() => { queue.concurrency = value }), queue.concurrency)
        log(fastq(later, Infinity).concurrency)
      },

      'a higher concurrency starts workers before it returns, a lower one lets them finish': async (fastq, log) => {
        const queue = fastq((task, done) => { log(task); setImmediate(done) }, 1)
        for (let i = 0; i < 9; i++) queue.push(i)
        queue.concurrency = 3
        log(queue.running(), queue.concurrency)
        queue.concurrency = 1
        log(queue.running(), queue.concurrency)
        await turn()
        log(queue.running())
        queue.pause()
        queue.concurrency = 2
        log(queue.running(), queue.concurrency, queue.paused)
        queue.resume()
        log(queue.running(), queue.concurrency, queue.paused)
        await quiet()
      },

      'pause, and resume, which starts workers before it returns': async (fastq, log) => {
        const queue = fastq((task, done) => { log(task); setImmediate(done) }, 2)
        log(queue.pause(), queue.paused)
        for (const task of [1, 2, 3]) queue.push(task)
        log(queue.running(), queue.length(), queue.idle())
        log(queue.resume(), queue.paused, queue.running())
        queue.resume()
        queue.pause()
        await quiet()
        log(queue.running(), queue.length(), queue.idle())
        queue.resume()
        await quiet()
        log(queue.idle())
      },

      'a task counts as running until its callback has returned': async (fastq, log) => {
        const queue = fastq((task, done) => { log(queue.running(), queue.idle()); setImmediate(done) }, 1)
        queue.push(1, () => {
          log(queue.running(), queue.idle(), queue.length())
          queue.push(2, () => log(queue.running(), queue.idle()))
          log(queue.length())
        })
        await quiet()
        log(queue.running(), queue.idle())
      },

      'saturated, empty and drain': async (fastq, log) => {
        const queue = fastq((task, done) => { log('start', task); setImmediate(done) }, 2)
        for (const name of ['saturated', 'empty', 'drain']) queue[name] = () => log(name, queue.running(), queue.length())
        queue.push(1)
        queue.push(2)
        log('full')
        queue.push(3)
        queue.unshift(4)
        await quiet()
        queue.pause()
        queue.push(5)
        queue.resume()
        await quiet()
      },

      'resume on an empty queue drains it': async (fastq, log) => {
        const queue = fastq(later, 1)
        queue.drain = () => log('drain')
        queue.resume()
        queue.pause()
        queue.resume()
        log('resumed')
        queue.push(1)
        queue.pause()
        queue.resume()
        await quiet()
        log('done')
      },

      'kill drops what waits, and drain': async (fastq, log) => {
        const queue = fastq((task, done) => { log(task); setImmediate(done) }, 1)
        queue.drain = () => log('drain')
        for (const task of [1, 2, 3]) queue.push(task, () => log('end', task))
        log(queue.kill(), queue.length(), queue.running())
        queue.push(4)
        await quiet()
        log(queue.idle())
      },

      'killAndDrain does, too, but calls drain first': async (fastq, log) => {
        const queue = fastq((task, done) => { log(task); setImmediate(done) }, 1)
        queue.drain = () => log('drain', queue.length())
        for (const task of [1, 2, 3]) queue.push(task, () => log('end', task))
        log(queue.killAndDrain(), queue.length(), queue.running())
        await quiet()
        queue.push(4)
        await quiet()
      },

      'abort tells the callbacks and the error handler of what waits': async (fastq, log) => {
        const queue = fastq((task, done) => { log(task); setImmediate(done) }, 1)
        queue.drain = () => log('drain')
        queue.error((err, task) => log('error', err?.message, task))
        for (const task of [1, 2, 3]) {
          queue.push(task, err => {
            log('end', task, err?.message)
            if (task === 3) queue.push(4)
          })
        }
        log(queue.abort(), queue.length(), queue.running())
        await quiet()
        log(queue.idle())
      },

      'callbacks that abort calls may push; those tasks start before it returns': (fastq, log) => {
        const queue = fastq(task => log('start', task), 1)
        queue.pause()
        queue.push(1, () => queue.push(2))
        queue.abort()
        log(queue.length())
        queue.resume()
        queue.abort()
        log(queue.running())
      },

      'the error handler is called for each task that was pushed after it was set': async (fastq, log) => {
        const queue = fastq((task, done) => setImmediate(done, task === 'bad' ? 'no' : null, 'result'), 1)
        const seen = []
        queue.push('before', log)
        queue.error((err, task) => seen.push([err, task]))
        queue.push('good', log)
        queue.push('bad', log)
        queue.unshift('bad')
        await quiet()
        log(seen)
      },

      'what a worker returns means nothing': async (fastq, log) => {
        const queue = fastq((task, done) => { setImmediate(done, null, task); return { then: () => log('looked at') } }, 1)
        queue.push(1, log)
        await quiet()
      },

      'promise: push and unshift give promises of the results': async ({ promise }, log) => {
        const context = {}
        const queue = promise(context, async function (task) {
          log(this === context, task)
          await null
          if (task === 2) throw new Error('two')
          return task
        }, 1)
        const all = [queue.push(1), queue.push(3), queue.unshift(2)]
        for (const { value, reason } of await Promise.allSettled(all)) log(value ?? reason.message)
        log(await promise(async task => task, 1).push('no context'))
      },

      'promise: the worker gets the value alone': async ({ promise }, log) => {
        const queue = promise(async (task, more = 'default', ...rest) => [task, more, rest], 1)
        log(await Promise.all([queue.push('first'), queue.push('second')]))
      },

      'promise: drained resolves when all has ended, after drain was called': async ({ promise }, log) => {
        const queue = promise(() => turn().then(() => log('worked')), 1)
        queue.drain = () => log('drain')
        const drained = queue.drained().then(value => log('drained', value))
        await Promise.all([queue.push(), queue.push()])
        await drained
        await queue.drained()
        log('idle')
      },

      'promise: drain may be undefined with drained': async ({ promise }, log) => {
        const queue = promise(turn, 1)
        queue.drain = undefined
        queue.push()
        log(await queue.drained())
      },

      'promise: abort rejects': async ({ promise }, log) => {
        const queue = promise(turn, 1)
        queue.pause()
        queue.error((err, task) => log(err.message, task))
        const pushed = queue.push(1)
        queue.abort()
        await pushed.catch(err => log(err.message))
      }
    })
  })

  describe('does better than fastq:', () => {
    it('a worker that throws fails its task, and its slot is free again', async () => {
      const queue = facade(task => { throw new Error(task) }, 1)
      const errors = []
      queue.push('one', err => errors.push(err.message))
      queue.push('two', err => errors.push(err.message))
      assert.deepEqual([errors, queue.idle()], [['one', 'two'], true])
    })

    it('a second done is ignored', async () => {
      let ends = 0
      const queue = facade((task, done) => { done(); done() }, 2)
      queue.push(1, () => ends++)
      assert.deepEqual([ends, queue.running()], [1, 0])
      queue.push(2, () => ends++)
      assert.deepEqual([ends, queue.running()], [2, 0])
    })

    it('the callback of a worker that ends at once runs when it has returned, still inside push', () => {
      const log = []
      const queue = facade((task, done) => { done(null, task); log.push('returned') }, 1)
      queue.push(1, () => log.push('called back'))
      log.push('pushed')
      assert.deepEqual(log, ['returned', 'called back', 'pushed'])
    })

    it('a task pushed inside a worker or a callback starts when that has returned', async () => {
      const log = []
      const queue = facade((task, done) => {
        log.push(`start ${task}`)
        if (task < 3) queue.push(task + 1)
        log.push(`end ${task}`)
      }, 3)
      await withoutTime(() => { queue.push(1) })
      assert.deepEqual(log, ['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3'])
    })

    it('a task pushed inside a callback starts when that has returned, however long it has taken', () => {
      const log = []
      const ends = []
      const queue = facade((task, done) => { log.push(task); ends.push(done) }, 1)
      queue.push(1, () => {
        queue.push(2)
        spin(3)
        log.push('called back')
      })
      spin(3)
      ends.shift()()
      assert.deepEqual(log, [1, 'called back', 2])
    })

    it('tasks that end at once and push others for ever let the event loop turn', async () => {
      for (const slots of [1, 2, Infinity]) {
        let isOver = false
        const queue = facade((task, done) => {
          if (!isOver) queue.push(task + 1)
          done()
        }, slots)
        queue.push(0)
        await turn()
        await turn()
        isOver = true
      }
    })

    it('any number of tasks that end at once do not grow the stack', async () => {
      let count = 0
      const queue = facade((task, done) => { count++; done() }, 1)
      queue.pause()
      for (let i = 0; i < 100000; i++) queue.push(i)
      queue.resume()
      await new Promise(resolve => { queue.drain = resolve })
      assert.equal(count, 100000)
    })

    it('promises of killed tasks reject, and drained resolves', async () => {
      const queue = facade.promise(turn, 1)
      queue.push(1)
      const killed = queue.push(2)
      const drained = queue.drained()
      await null
      queue.kill()
      await assert.rejects(killed, { code: 'FAIRLANE_ERR_CLEARED' })
      await drained
    })

    it('a worker that rejects without a reason rejects', async () => {
      // eslint-disable-next-line prefer-promise-reject-errors
      await assert.rejects(facade.promise(() => Promise.reject(), 1).push(1), { code: 'FAIRLANE_ERR_RUNNER' })
    })

    it('wrong use throws errors with codes', () => {
      assert.throws(() => facade('worker', 1), { code: 'FAIRLANE_ERR_CONCURRENCY' })
      assert.throws(() => facade(null, 'worker', 1), { code: 'FAIRLANE_ERR_RUNNER' })
      assert.throws(() => facade(later, 1.5), { code: 'FAIRLANE_ERR_CONCURRENCY' })
      assert.throws(() => facade(later, 1).push(1, 'callback'), { code: 'FAIRLANE_ERR_CALLBACK' })
    })

    describe('what handlers throw becomes an uncaught exception, and nothing is left undone', () => {
      let uncaught
      beforeEach(() => { uncaught = captureUncaught() })
      afterEach(() => uncaught.release())

      it('of empty', async () => {
        const queue = facade((task, done) => setImmediate(done, null, task), 1)
        const results = []
        queue.empty = () => { throw new Error('empty') }
        queue.push(1)
        queue.push(2, (err, result) => results.push(err, result))
        await quiet()
        assert.deepEqual(results, [null, 2])
        assert.deepEqual(uncaught.seen.map(err => err.message), ['empty'])
      })

      it('of error, of callbacks and of drain', async () => {
        const queue = facade((task, done) => setImmediate(done), 1)
        let ends = 0
        queue.error(() => { throw new Error('error') })
        queue.drain = () => { throw new Error('drain') }
        queue.push(1, () => ends++)
        queue.push(2, () => { ends++; throw new Error('callback') })
        await quiet()
        assert.deepEqual([ends, queue.running(), queue.idle()], [2, 0, true])
        assert.deepEqual(uncaught.seen.map(err => err.message), ['error', 'callback', 'drain'])
      })
    })
  })
})

function later (task, done) {
  setImmediate(done, null, task)
}
