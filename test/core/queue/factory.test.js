'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { quiet } = require('../../support/turns')

function noop () {}

describe('the factory', function () {
  it('makes a queue without new', function () {
    const queue = fairlane(noop)
    assert.ok(queue instanceof fairlane.Queue)
  })

  it('makes a queue with new', function () {
    const queue = new fairlane(noop) // eslint-disable-line new-cap
    assert.ok(queue instanceof fairlane.Queue)
    assert.equal(queue.concurrency, 10)
  })

  it('may be extended', async function () {
    class Log extends fairlane {
      constructor (options) {
        super((payload, done) => done(null, payload), options)
        this.results = []
      }

      write (payload) {
        return this.push(payload, (error, result) => this.results.push(error ?? result))
      }
    }
    const log = new Log({ concurrency: 2 })
    assert(log instanceof Log && log instanceof fairlane.Queue)
    log.write(1).write(2)
    await log.onIdle()
    assert.deepEqual([log.results, log.concurrency], [[1, 2], 2])
  })

  it('exports the class, which makes a queue as well', async function () {
    const gate = gates()
    const queue = new fairlane.Queue(gate.runner, { concurrency: 2 })
    assert.ok(queue instanceof fairlane.Queue)
    assert.equal(queue.concurrency, 2)
    queue.push(1).push(2).push(3)
    await gate.until(2)
    assert.deepEqual(gate.payloads, [1, 2])
  })

  it('exports the class of run-time errors', function () {
    assert.equal(typeof fairlane.FairlaneError, 'function')
    assert.ok(fairlane.FairlaneError.prototype instanceof Error)
  })

  it('starts with an empty queue of ten slots', function () {
    const queue = fairlane(noop)
    assert.equal(queue.concurrency, 10)
    assert.equal(queue.length, 0)
    assert.equal(queue.running, 0)
    assert.equal(queue.waiting, 0)
    assert.equal(queue.paused, false)
    assert.equal(queue.drain, null)
  })

  it('takes a number, a numeric string or Infinity as the concurrency', function () {
    assert.equal(fairlane(noop, 3).concurrency, 3)
    assert.equal(fairlane(noop, '3').concurrency, 3)
    assert.equal(fairlane(noop, Infinity).concurrency, Infinity)
  })

  it('takes the concurrency as an option, in the same forms', function () {
    assert.equal(fairlane(noop, { concurrency: 7 }).concurrency, 7)
    assert.equal(fairlane(noop, { concurrency: '7' }).concurrency, 7)
    assert.equal(fairlane(noop, { concurrency: Infinity }).concurrency, Infinity)
  })

  it('treats undefined as if absent', function () {
    assert.equal(fairlane(noop, undefined).concurrency, 10)
    assert.equal(fairlane(noop, {}).concurrency, 10)
    assert.equal(fairlane(noop, { concurrency: undefined, settleBy: undefined }).concurrency, 10)
  })

  it('accepts options that have no prototype', function () {
    const options = Object.create(null)
    options.concurrency = 4
    assert.equal(fairlane(noop, options).concurrency, 4)
  })

  it('leaves the options object as it was', function () {
    const options = Object.freeze({ concurrency: '4', settleBy: 'either' })
    const queue = fairlane(noop, options)
    queue.concurrency = 9
    assert.deepEqual(options, { concurrency: '4', settleBy: 'either' })
  })

  it('suggests the nearest name for an unknown option', function () {
    assert.throws(() => fairlane(noop, { concurency: 3 }), (error) => {
      assert.equal(error.code, 'FAIRLANE_ERR_OPTION')
      assert.ok(error instanceof TypeError)
      assert.match(error.message, /concurency/)
      assert.match(error.message, /\bconcurrency\b/)
      return true
    })
    assert.throws(() => fairlane(noop, { settleby: 'promise' }), /settleBy/)
  })

  it('knows no inherited option names', function () {
    for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
      assert.throws(() => fairlane(noop, { [name]: 1 }), { code: 'FAIRLANE_ERR_OPTION' }, name)
    }
    const hostile = JSON.parse('{"__proto__": {"concurrency": 3}}')
    assert.throws(() => fairlane(noop, hostile), { code: 'FAIRLANE_ERR_OPTION' })
  })

  it('runs nothing while there is nothing to run', async function () {
    const gate = gates()
    fairlane(gate.runner)
    await quiet()
    assert.equal(gate.started.length, 0)
  })

  it('keeps queues apart', async function () {
    const one = gates()
    const two = gates()
    const first = fairlane(one.runner, 1)
    const second = fairlane(two.runner, 2)
    first.push('a').push('b').pause()
    second.push('c').push('d').push('e')
    await two.until(2)
    assert.deepEqual(two.payloads, ['c', 'd'])
    assert.equal(second.length, 3)
    assert.equal(first.length, 2)
    assert.equal(first.concurrency, -1)
    assert.equal(second.concurrency, 2)
  })
})
