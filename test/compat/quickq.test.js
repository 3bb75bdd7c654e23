'use strict'

const assert = require('node:assert')
const original = require('quickq')
const facade = require('../../lib/compat/quickq')
const { Queue } = require('../..')
const { mirror, errorText } = require('./mirror')
const { turns } = require('../support/turns')

describe('compat/quickq', () => {
  describe('does as quickq does:', () => {
    mirror(original, facade, {
      'a queue is made with new and without, and is an instance': (quickq, log) => {
        // eslint-disable-next-line new-cap
        log(quickq(echo) instanceof quickq, new quickq(echo) instanceof quickq)
      },

      'the concurrency is a number, a string or an option, and falsy values are 10': (quickq, log) => {
        const given = [undefined, 5, 0, '', NaN, {}, { concurrency: 3 }, { concurrency: 0 }, { concurrency: null }]
        for (const options of given) log(quickq(echo, options).concurrency)
        log(Number(quickq(echo, '6').concurrency))
        log(quickq(echo).drain, quickq(echo).scheduler)
      },

      'a runner, a scheduler that is none and an incomplete one are refused': (quickq, log) => {
        log(errorText(() => quickq()), errorText(() => quickq(echo, { scheduler: 'none' })))
        log(errorText(() => quickq(echo, { scheduler: 3.5 })), errorText(() => quickq(echo, { scheduler: { start () {} } })))
      },

      'unknown options, and options of no scheduler, mean nothing': (quickq, log) => {
        log(quickq(echo, { concurrency: 2, retries: 5, scheduler: false, schedulerOptions: { maxTypeCap: 1 } }).concurrency)
      },

      'jobs run in order, later, with their callbacks': async (quickq, log) => {
        const queue = quickq((job, done) => { log('run', job); done(null, job) }, 1)
        log(queue.push(2, log) === queue, queue.unshift(1, log) === queue, queue.length, queue.running)
        queue.push(3)
        queue.push(4, null)
        await emptied(queue)
        log(queue.length, queue.running)
      },

      'the aliases push and unshift': async (quickq, log) => {
        const queue = quickq((job, done) => { log(job); done() }, 1)
        queue.enqueue(2).append(3).prepend(1)
        await emptied(queue)
      },

      'this is the queue in the runner, and what it returns means nothing': async (quickq, log) => {
        const queue = quickq(function (job, done) {
          log(this === queue)
          setImmediate(done, null, job)
          return Promise.reject(new Error('not looked at')).catch(() => {})
        })
        queue.push(1, log)
        await emptied(queue)
      },

      'errors go to the callback, thrown ones too': async (quickq, log) => {
        const queue = quickq((job, done) => {
          if (job === 'throws') throw new Error(job)
          done(new Error(job))
        })
        queue.push('throws', err => log(err.message))
        queue.push('fails', err => log(err.message))
        await emptied(queue)
      },

      'pause and resume': async (quickq, log) => {
        const queue = quickq((job, done) => { log(job); done() }, 2)
        log(queue.pause() === queue, queue.concurrency)
        queue.push(1)
        await turns(3)
        log('nothing ran', queue.length)
        log(queue.resume() === queue, queue.concurrency)
        await emptied(queue)
        queue.pause()
        queue.concurrency = 3
        log(queue.resume().concurrency, queue.resume(7).concurrency)
      },

      'drain and then fflush are called when the queue empties': async (quickq, log) => {
        const queue = quickq(echo, 1)
        queue.push(1)
        log(queue.fflush() === queue)
        await new Promise(resolve => {
          queue.drain = () => log('drain')
          log(queue.fflush(() => log('first')) === queue)
          queue.fflush(() => { log('second'); resolve() })
        })
      },

      'jobs of types run by a scheduler of one\'s own, of which the queue tells it': async (quickq, log) => {
        const scheduler = {
          waiting: type => log('waiting', type),
          start: type => log('start', type),
          done: type => log('done', type),
          select: types => types.peekAt(1) === undefined ? 0 : 1
        }
        const queue = quickq((job, done) => { log(job); setImmediate(done) }, { concurrency: 1, scheduler })
        log(queue.scheduler === scheduler, errorText(() => queue.push(1)), errorText(() => queue.unshift(1)))
        log(queue.pushType('b', 2) === queue, queue.unshiftType('a', 1) === queue)
        queue.pushType(3, 3, null)
        queue.unshiftType(undefined, 4, null)
        queue.pushType(null, 5, null)
        await emptied(queue)
        scheduler.configure = ({ concurrency }) => log('configure', concurrency)
        queue.resume(5)
      },

      'types mean nothing without a scheduler': async (quickq, log) => {
        const queue = quickq((job, done) => { log(job); done() }, 1)
        queue.pushType('b', 2).unshiftType('a', 1)
        await emptied(queue)
      },

      'the schedulers fair and capped let a type go first that runs less': async (quickq, log) => {
        for (const [scheduler, schedulerOptions] of [['fair', undefined], ['capped', { maxTypeCap: 2, maxScanLength: 5 }], ['capped', null]]) {
          const queue = quickq((job, done) => { log(job); setImmediate(done) }, { concurrency: 4, scheduler, schedulerOptions })
          for (const job of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.pushType(job[0], job)
          await emptied(queue)
        }
      }
    })
  })

  describe('does better than quickq:', () => {
    it('a queue has all that a Queue has', async () => {
      const queue = facade(echo, { scheduler: 'equal' })
      assert(queue instanceof Queue)
      queue.pushType('a', 1)
      await queue.onIdle()
      assert.equal(queue.stats().done, 1)
    })

    it('options that are null are as if absent', () => {
      assert.equal(facade(echo, null).concurrency, 10)
    })

    it('a higher concurrency takes effect at once', async () => {
      const dones = []
      const queue = facade((job, done) => dones.push(done), 1)
      queue.push(1).push(2)
      await turns(2)
      queue.concurrency = 2
      await turns(2)
      assert.equal(dones.length, 2)
    })

    it('fflush waits only for jobs that were there, and is called on an empty queue, too', async () => {
      const queue = facade(echo, 1)
      await new Promise(resolve => queue.fflush(resolve))
      queue.push(1)
      const flushed = new Promise(resolve => queue.fflush(() => resolve(queue.length)))
      queue.push(2)
      assert.equal(await flushed, 1)
    })

    it('a second done is ignored', async () => {
      const queue = facade((job, done) => { done(); done() })
      queue.push(1)
      await queue.onIdle()
      assert.deepEqual([queue.length, queue.stats().misuse], [0, 1])
    })

    it('schedulerOptions are not changed', () => {
      const schedulerOptions = {}
      facade(echo, { scheduler: 'fair', schedulerOptions })
      assert.deepEqual(schedulerOptions, {})
    })
  })
})

function echo (job, done) {
  setImmediate(done, null, job)
}

function emptied (queue) {
  return new Promise(resolve => { queue.drain = resolve })
}
