'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { quiet, turn } = require('../../support/turns')

const STYLES = {
  synchronously: (done) => done(),
  'by nextTick': (done) => process.nextTick(done),
  'in a microtask': (done) => queueMicrotask(done),
  'by setImmediate': (done) => setImmediate(done),
  'by promise': () => Promise.resolve()
}

// The rest of this turn: all microtasks and ticks, and those that they add.
async function restOfTurn () {
  for (let i = 0; i < 10; i++) {
    await null
    await new Promise((resolve) => process.nextTick(resolve))
  }
}

describe('the first start', function () {
  const calls = {
    push: (queue) => queue.push(2),
    unshift: (queue) => queue.unshift(2),
    pushType: (queue) => queue.pushType('t', 2),
    unshiftType: (queue) => queue.unshiftType('t', 2)
  }

  for (const [name, call] of Object.entries(calls)) {
    it(`comes in a later turn than ${name}`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner)
      call(queue)
      assert.equal(gate.started.length, 0)
      await restOfTurn()
      assert.equal(gate.started.length, 0)
      assert.equal(queue.running, 0)
      assert.equal(queue.waiting, 1)
      await gate.until(1)
    })

    it(`comes in a later turn than ${name} on a queue that was busy before`, async function () {
      const gate = gates()
      const settled = outcomes()
      const queue = fairlane(gate.runner)
      for (let round = 1; round <= 3; round++) {
        queue.push(1, settled.callback(1))
        await gate.until(2 * round - 1)
        gate.release()
        await settled.until(round)
        if (round > 1) await quiet()
        call(queue)
        assert.equal(gate.started.length, 2 * round - 1)
        await restOfTurn()
        assert.equal(gate.started.length, 2 * round - 1)
        await gate.until(2 * round)
        gate.release()
      }
    })

    it(`never comes inside ${name} while slots are free and others run`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, 3)
      queue.push(1)
      await gate.until(1)
      call(queue)
      assert.equal(gate.started.length, 1)
      await gate.until(2)
    })
  }

  const openers = {
    resume: (queue) => queue.resume(),
    'resume with a number': (queue) => queue.resume(5),
    'the setter': (queue) => { queue.concurrency = 5 }
  }

  for (const [name, open] of Object.entries(openers)) {
    it(`comes in a later turn than ${name}`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner)
      queue.push(1).pause()
      await quiet()
      open(queue)
      assert.equal(gate.started.length, 0)
      await restOfTurn()
      assert.equal(gate.started.length, 0)
      await gate.until(1)
    })

    it(`never comes inside ${name} that is called from a callback or a runner`, async function () {
      let inside = false
      let startedInside = 0
      const settled = outcomes()
      const openInside = () => {
        inside = true
        open(queue)
        inside = false
      }
      const queue = fairlane((payload, done) => {
        if (inside) startedInside++
        openInside()
        setImmediate(done)
      }, 1)
      for (let i = 0; i < 20; i++) {
        const callback = settled.callback(i)
        queue.push(i, () => {
          openInside()
          callback()
        })
      }
      await settled.until(20)
      assert.equal(startedInside, 0)
    })
  }
})

describe('the end of a job', function () {
  for (const [name, complete] of Object.entries(STYLES)) {
    it(`${name}: slot freed, callback, refill, drain, fflush, onIdle`, async function () {
      const events = []
      const queue = fairlane((payload, done) => {
        events.push(`start ${payload}`)
        return complete(done)
      }, 1)
      queue.drain = () => events.push(`drain ${queue.length}`)
      queue.on('drain', () => events.push('drain event'))
      const counts = (name) => () => events.push(`callback ${name} ${queue.length} ${queue.waiting} ${queue.running}`)
      queue.push('a', counts('a')).push('b', counts('b')).push('c', counts('c'))
      queue.fflush(() => events.push(`fflush ${queue.length}`))
      await queue.onIdle().then(() => events.push('idle'))
      assert.deepEqual(events, [
        'start a', 'callback a 2 2 0',
        'start b', 'callback b 1 1 0',
        'start c', 'callback c 0 0 0',
        'drain 0', 'drain event', 'fflush 0', 'idle'
      ])
    })

    it(`${name}: counts are right in the callback with several slots`, async function () {
      const settled = outcomes()
      let running = 0
      let waiting = 40
      const queue = fairlane((payload, done) => {
        running++
        waiting--
        assertCounts()
        return complete(done)
      }, 3)
      const errors = []

      function assertCounts () {
        const { length, running: theirs, waiting: left } = queue
        if (theirs !== running || left !== waiting || length !== running + waiting) {
          errors.push({ theirs, running, left, waiting, length })
        }
      }

      for (let i = 0; i < 40; i++) {
        const callback = settled.callback(i)
        queue.push(i, (error, result) => {
          running--
          assertCounts()
          callback(error, result)
        })
      }
      await settled.until(40)
      assert.deepEqual(errors, [])
      assert.deepEqual(settled.list.filter((entry) => entry[1]), [])
    })
  }

  it('calls the callback before the next job starts, for a job that ends inside its runner too', async function () {
    const events = []
    const queue = fairlane((payload, done) => {
      events.push(`start ${payload}`)
      done()
    }, 10)
    for (let i = 0; i < 4; i++) queue.push(i, () => events.push(`callback ${i}`))
    await queue.onIdle()
    assert.deepEqual(events, ['start 0', 'callback 0', 'start 1', 'callback 1', 'start 2', 'callback 2', 'start 3', 'callback 3'])
  })

  it('never calls a callback inside push', async function () {
    let inside = false
    let wrong = 0
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(), 3)
    function push (name, then) {
      inside = true
      const callback = settled.callback(name)
      queue.push(name, () => {
        if (inside) wrong++
        callback()
        if (then) then()
      })
      inside = false
    }
    push('a', () => push('b', () => push('c')))
    await settled.until(3)
    assert.equal(wrong, 0)
  })

  it('does not call drain where the last callback pushed another job', async function () {
    let drains = 0
    const settled = outcomes()
    const queue = fairlane((payload, done) => done(), 1)
    queue.drain = () => drains++
    queue.push('a', () => {
      assert.equal(queue.length, 0)
      queue.push('b', settled.callback('b'))
    })
    await settled.until(1)
    await quiet()
    assert.equal(drains, 1)
  })

  it('calls drain once where the last two jobs end one inside the other', async function () {
    let drains = 0
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    queue.drain = () => drains++
    queue.push('a', () => gate.release())
    queue.push('b')
    await gate.until(2)
    gate.release()
    await quiet()
    assert.equal(queue.length, 0)
    assert.equal(drains, 1)
  })

  it('fires fflush in the same turn as the last settlement', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let fired = false
    queue.push(1).push(2)
    queue.fflush(() => { fired = true })
    await gate.until(1)
    gate.release()
    await gate.until(2)
    await turn()
    assert.equal(fired, false)
    gate.release()
    assert.equal(fired, true)
  })

  it('starts the job that was pushed at the head by the callback', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push('a', () => queue.unshift('urgent'))
    queue.push('b')
    await gate.until(1)
    gate.release()
    await gate.until(2)
    assert.deepEqual(gate.payloads, ['a', 'urgent'])
  })
})
