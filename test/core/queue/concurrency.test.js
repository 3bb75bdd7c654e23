'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const outcomes = require('../../support/outcomes')
const { quiet } = require('../../support/turns')

function pushMany (queue, count, from = 0) {
  for (let i = from; i < from + count; i++) queue.push(i)
}

describe('concurrency', function () {
  for (const concurrency of [1, 2, 10, 100]) {
    it(`starts exactly ${concurrency} jobs while none ends`, async function () {
      const gate = gates()
      const queue = fairlane(gate.runner, concurrency)
      pushMany(queue, concurrency + 50)
      await gate.until(concurrency)
      await quiet()
      assert.equal(gate.started.length, concurrency)
      assert.equal(queue.running, concurrency)
      assert.equal(queue.waiting, 50)
      assert.equal(queue.length, concurrency + 50)
    })
  }

  it('starts everything when it is Infinity', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, Infinity)
    pushMany(queue, 5000)
    await gate.until(5000)
    assert.equal(queue.running, 5000)
    assert.equal(queue.waiting, 0)
  })

  it('fills slots that are free with jobs pushed later', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    queue.push(1)
    await gate.until(1)
    await quiet()
    pushMany(queue, 5)
    await gate.until(3)
    await quiet()
    assert.equal(queue.running, 3)
    assert.equal(queue.waiting, 3)
  })

  it('starts one job for each that ends', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 4)
    pushMany(queue, 100)
    await gate.until(4)
    for (let i = 0; i < 96; i++) {
      gate.open.splice(i % 4, 1)[0].done()
      await gate.until(5 + i)
      assert.equal(queue.running, 4)
      assert.equal(queue.waiting, 95 - i)
    }
    await quiet()
    assert.equal(gate.started.length, 100)
  })

  it('raised from outside takes effect at once, without resume', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    pushMany(queue, 10)
    await gate.until(1)
    queue.concurrency = 4
    assert.equal(queue.concurrency, 4)
    assert.equal(gate.started.length, 1, 'no start inside the setter')
    await gate.until(4)
    await quiet()
    assert.equal(gate.started.length, 4)
    assert.equal(queue.running, 4)
  })

  it('lowered from outside starts no job until few enough run', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 5)
    pushMany(queue, 20)
    await gate.until(5)
    queue.concurrency = 2
    gate.release(3)
    await quiet()
    assert.equal(gate.started.length, 5)
    assert.equal(queue.running, 2)
    gate.release()
    await gate.until(6)
    await quiet()
    assert.equal(gate.started.length, 6)
    assert.equal(queue.running, 2)
  })

  it('raised and lowered again before the next turn counts as it stands then', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    pushMany(queue, 20)
    queue.concurrency = 10
    queue.concurrency = 2
    await gate.until(2)
    await quiet()
    assert.equal(gate.started.length, 2)
    queue.concurrency = 1
    queue.concurrency = 3
    await gate.until(3)
    await quiet()
    assert.equal(gate.started.length, 3)
  })

  it('raised inside a runner lets more jobs start, none of them inside the setter', async function () {
    const gate = gates()
    const queue = fairlane((payload, done, context) => {
      gate.runner(payload, done, context)
      if (payload === 0) {
        queue.concurrency = 3
        assert.equal(gate.started.length, 1)
      }
    }, 1)
    pushMany(queue, 10)
    await gate.until(3)
    await quiet()
    assert.equal(gate.started.length, 3)
    assert.equal(queue.running, 3)
  })

  it('lowered inside a runner stops the starts of the same turn', async function () {
    const gate = gates()
    const queue = fairlane((payload, done, context) => {
      gate.runner(payload, done, context)
      if (payload === 2) queue.concurrency = 2
    }, 10)
    pushMany(queue, 20)
    await gate.until(3)
    await quiet()
    assert.equal(gate.started.length, 3)
    gate.release()
    await quiet()
    assert.equal(gate.started.length, 3)
    gate.release()
    await gate.until(4)
    await quiet()
    assert.equal(gate.started.length, 4)
    assert.equal(queue.running, 2)
  })

  it('changed from a callback holds for the refill that follows', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    queue.push('first', () => { queue.concurrency = 3 })
    pushMany(queue, 10)
    await gate.until(1)
    gate.release()
    await gate.until(4)
    await quiet()
    assert.equal(queue.running, 3)
    assert.equal(gate.started.length, 4)
  })

  it('lowered from a callback holds for the refill that follows', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    queue.push('first', () => { queue.concurrency = 1 })
    pushMany(queue, 10)
    await gate.until(3)
    gate.release()
    await quiet()
    assert.equal(queue.running, 2)
    assert.equal(gate.started.length, 3)
    gate.release()
    await quiet()
    assert.equal(gate.started.length, 3)
    gate.release()
    await gate.until(4)
    await quiet()
    assert.equal(queue.running, 1)
  })

  it('changed in drain holds for the next jobs', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    const drained = new Promise((resolve) => {
      queue.drain = () => {
        queue.concurrency = 2
        pushMany(queue, 5)
        resolve()
      }
    })
    queue.push('first')
    await gate.until(1)
    gate.release()
    await drained
    await gate.until(3)
    await quiet()
    assert.equal(queue.running, 2)
    assert.equal(gate.started.length, 3)
  })

  it('accepts numeric strings, as the option does', function () {
    const queue = fairlane(() => {})
    queue.concurrency = '4'
    assert.equal(queue.concurrency, 4)
    queue.resume('6')
    assert.equal(queue.concurrency, 6)
    queue.concurrency = Infinity
    assert.equal(queue.concurrency, Infinity)
    queue.resume(Infinity)
    assert.equal(queue.concurrency, Infinity)
  })

  it('set to zero or below pauses and reads -1', function () {
    for (const value of [0, -0, -1, -7, -2.5, -Infinity, '0', '-3']) {
      const queue = fairlane(() => {}, 6)
      queue.concurrency = value
      assert.equal(queue.concurrency, -1, String(value))
      assert.equal(queue.paused, true, String(value))
      queue.resume()
      assert.equal(queue.concurrency, 6, String(value))
      assert.equal(queue.paused, false, String(value))
    }
  })

  it('never lets a synchronous runner exceed one slot', async function () {
    let inside = 0
    let most = 0
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      inside++
      most = Math.max(most, inside, queue.running)
      inside--
      done()
    }, 1)
    for (let i = 0; i < 1000; i++) queue.push(i, settled.callback(i))
    await settled.until(1000)
    assert.equal(most, 1)
  })

  it('never starts a runner inside another runner', async function () {
    let inside = false
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      assert.equal(inside, false)
      inside = true
      if (payload % 3 === 0) queue.push(-1, settled.callback(-1))
      if (payload % 5 === 0) queue.concurrency = 1 + (payload % 7)
      if (payload % 11 === 0) queue.pause().resume()
      inside = false
      done()
    }, 3)
    const pushed = 300
    for (let i = 1; i <= pushed; i++) queue.push(i, settled.callback(i))
    await settled.until(pushed + Math.floor(pushed / 3))
    assert.deepEqual(settled.list.filter((entry) => entry[1]), [])
  })
})

describe('pause and resume', function () {
  it('return the queue', function () {
    const queue = fairlane(() => {})
    assert.equal(queue.pause(), queue)
    assert.equal(queue.resume(), queue)
    assert.equal(queue.resume(3), queue)
  })

  it('pause sets concurrency to -1 and starts nothing', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 4)
    queue.push(1).pause()
    assert.equal(queue.concurrency, -1)
    assert.equal(queue.paused, true)
    queue.push(2).unshift(3)
    await quiet()
    assert.equal(gate.started.length, 0)
    assert.equal(queue.length, 3)
    assert.equal(queue.running, 0)
  })

  it('pause lets running jobs finish and starts none in their place', async function () {
    const gate = gates()
    const settled = outcomes()
    const queue = fairlane(gate.runner, 2)
    for (let i = 0; i < 5; i++) queue.push(i, settled.callback(i))
    await gate.until(2)
    queue.pause()
    gate.release(2)
    await quiet()
    assert.deepEqual(settled.names(), [0, 1])
    assert.equal(queue.running, 0)
    assert.equal(queue.length, 3)
    assert.equal(gate.started.length, 2)
  })

  it('resume restores the last positive concurrency', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 4)
    pushMany(queue, 10)
    queue.pause().resume()
    assert.equal(queue.concurrency, 4)
    assert.equal(queue.paused, false)
    await gate.until(4)
    await quiet()
    assert.equal(gate.started.length, 4)
  })

  it('resume restores the last positive concurrency that was set', function () {
    const queue = fairlane(() => {}, 4)
    queue.concurrency = 6
    queue.pause().pause()
    queue.concurrency = 0
    queue.resume()
    assert.equal(queue.concurrency, 6)
    queue.resume(8).pause().resume()
    assert.equal(queue.concurrency, 8)
    queue.resume(undefined)
    assert.equal(queue.concurrency, 8)
  })

  it('resume restores the default of ten where nothing else was set', function () {
    const queue = fairlane(() => {})
    queue.concurrency = -1
    queue.resume()
    assert.equal(queue.concurrency, 10)
  })

  it('resume with a number sets it', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 4)
    queue.pause()
    pushMany(queue, 10)
    queue.resume(2)
    assert.equal(queue.concurrency, 2)
    assert.equal(gate.started.length, 0, 'no start inside resume')
    await gate.until(2)
    await quiet()
    assert.equal(gate.started.length, 2)
  })

  it('resume of a queue that is not paused changes nothing', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    pushMany(queue, 10)
    await gate.until(2)
    queue.resume().resume().resume()
    assert.equal(queue.concurrency, 2)
    await quiet()
    assert.equal(gate.started.length, 2)
  })

  it('a setter ends a pause as resume does', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    queue.pause()
    pushMany(queue, 10)
    queue.concurrency = 3
    assert.equal(queue.paused, false)
    await gate.until(3)
    await quiet()
    assert.equal(gate.started.length, 3)
  })

  it('a setter that is given its own positive value changes nothing', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 2)
    pushMany(queue, 10)
    await gate.until(2)
    queue.concurrency = queue.concurrency // eslint-disable-line no-self-assign
    await quiet()
    assert.equal(gate.started.length, 2)
  })

  it('many pauses and resumes in one turn start no more than fit', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 3)
    pushMany(queue, 50)
    for (let i = 0; i < 100; i++) {
      queue.pause()
      queue.resume()
      queue.push('x')
    }
    await gate.until(3)
    await quiet()
    assert.equal(gate.started.length, 3)
    for (let i = 0; i < 100; i++) queue.pause().resume()
    await quiet()
    assert.equal(gate.started.length, 3)
  })

  it('pause inside a synchronous runner stops at that job', async function () {
    const order = []
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      order.push(payload)
      if (payload === 2) queue.pause()
      done()
    }, 10)
    for (let i = 0; i < 6; i++) queue.push(i, settled.callback(i))
    await settled.until(3)
    await quiet()
    assert.deepEqual(order, [0, 1, 2])
    assert.equal(queue.running, 0)
    assert.equal(queue.waiting, 3)
    queue.resume()
    await settled.until(6)
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5])
  })

  it('pause inside a callback stops the refill', async function () {
    for (const complete of [(done) => done(), process.nextTick, queueMicrotask, setImmediate]) {
      const order = []
      const settled = outcomes()
      const queue = fairlane((payload, done) => {
        order.push(payload)
        complete(done)
      }, 1)
      queue.push(0, () => queue.pause())
      queue.push(1, settled.callback(1))
      await quiet()
      assert.deepEqual(order, [0])
      assert.equal(queue.length, 1)
      queue.resume()
      await settled.until(1)
      assert.deepEqual(order, [0, 1])
    }
  })

  it('resume inside drain, runner and callback is a plain resume', async function () {
    const settled = outcomes()
    const queue = fairlane((payload, done) => {
      queue.pause().resume()
      done()
    }, 2)
    queue.drain = () => queue.resume(5)
    for (let i = 0; i < 10; i++) {
      const callback = settled.callback(i)
      queue.push(i, (error) => {
        queue.pause().resume()
        callback(error)
      })
    }
    await settled.until(10)
    await quiet()
    assert.deepEqual(settled.names(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.equal(queue.concurrency, 5)
  })

  it('a paused queue that loses its last running job does not drain while jobs wait', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, 1)
    let drains = 0
    queue.drain = () => drains++
    queue.push(1).push(2)
    await gate.until(1)
    queue.pause()
    gate.release()
    await quiet()
    assert.equal(drains, 0)
    queue.resume()
    await gate.until(2)
    gate.release()
    await quiet()
    assert.equal(drains, 1)
  })
})
