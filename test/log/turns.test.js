'use strict'

const assert = require('node:assert')
const { SimulatedDisk } = require('./disk')
const { openOn, numbersIn, payload } = require('./history')

// The clock goes by 4 ms each time it is read, so that what happens between two turns of the event loop does not depend on
// the machine.
describe('the event loop beside calls that are awaited one after the other', () => {
  const { now } = performance
  let queue
  let time
  let watch

  beforeEach(async () => {
    time = 0
    performance.now = () => { time += 4; return time }
    queue = await openOn(new SimulatedDisk(), { ack: 'os', segmentBytes: 1 << 16 })
    watch = watchTurns()
  })

  afterEach(async () => {
    watch.stop()
    performance.now = now
    await queue.close()
  })

  const calls = {
    push: i => queue.push(payload(i, 10)),
    'push and pop': async i => {
      await queue.push(payload(i, 10))
      assert.equal((await queue.pop()).length, 1)
    },
    'pop of nothing': async () => assert.deepEqual(await queue.pop(), []),
    'reserve of nothing': async () => assert.deepEqual(await queue.reserve(), []),
    peek: () => queue.peek(),
    'reserve and ack': async i => {
      await queue.push(payload(i, 10))
      const [{ id }] = await queue.reserve()
      await queue.ack(id)
    }
  }
  for (const [name, call] of Object.entries(calls)) {
    it(`turns every few milliseconds: ${name}`, async () => {
      for (let i = 1; i <= 100; i++) await call(i)
      assert(watch.count >= 10, `${watch.count} turns`)
      assert(watch.count <= 60, `${watch.count} turns`)
    })
  }

  it('gives back disk space while they go on', async () => {
    await queue.close()
    queue = await openOn(new SimulatedDisk(), { ack: 'os', segmentBytes: 4096 })
    let most = 0
    for (let i = 1; i <= 2000; i++) {
      await queue.push(payload(i, 100))
      await queue.pop()
      most = Math.max(most, queue.diskBytes())
    }
    assert(most <= 6 * 4096, `${most} bytes`)
  })

  it('acknowledges in order, also with blocking calls between', async () => {
    const order = []
    const promises = []
    for (let i = 1; i <= 40; i++) {
      promises.push(queue.push(payload(i, 10)).then(() => order.push(i)))
      if (i % 3 === 0) await undefined
      if (i % 7 === 0) {
        queue.pushSync(payload(1000 + i, 10))
        const numbers = await numbersIn(queue)
        assert.equal(numbers.length, i + i / 7)
      }
    }
    await Promise.all(promises)
    assert.deepEqual(order, Array.from({ length: 40 }, (_, i) => i + 1))
  })

  it('acknowledges in order what bursts had written before its turn', async () => {
    await queue.close()
    queue = await openOn(new SimulatedDisk(), { ack: 'os', segmentBytes: 4096 })
    const order = []
    const promises = []
    for (let i = 1; i <= 400; i++) {
      promises.push(queue.push(payload(i, 900)).then(() => order.push(i)))
      if (i % 4 !== 0) continue
      assert(order.length < i, 'nobody is told inside a call')
      time += 2
      await undefined
    }
    await Promise.all(promises)
    assert.deepEqual(order, Array.from({ length: 400 }, (_, i) => i + 1))
    assert(watch.count > 10, `${watch.count} turns`)
  })

  it('has the disk begin with a burst before all of it is there', async () => {
    await queue.close()
    const disk = new SimulatedDisk()
    queue = await openOn(disk, { ack: 'disk', segmentBytes: 2 ** 22, maxInflightOps: 2000 })
    const { sync } = disk
    let count = 0
    disk.sync = (...args) => {
      count++
      return sync.apply(disk, args)
    }
    const order = []
    const promises = []
    const push = i => promises.push(queue.push(payload(i, 1000)).then(() => order.push(i)))
    for (let i = 1; i <= 400; i++) push(i)
    assert.equal(count, 0)
    for (let i = 401; i <= 2000; i++) push(i)
    assert.deepEqual([count, order], [1, []], 'one sync at a time, and nobody is told inside a call')
    await Promise.all(promises)
    assert.equal(count, 2)
    assert.deepEqual(order, Array.from({ length: 2000 }, (_, i) => i + 1))
  })

  it('acknowledges what was handed to the system before it is closed', async () => {
    const order = []
    for (let i = 1; i <= 10; i++) await queue.push(payload(i, 10))
    time += 100
    const pushed = queue.push(payload(11, 10)).then(() => order.push('pushed'))
    await queue.close().then(() => order.push('closed'))
    await pushed
    assert.deepEqual(order, ['pushed', 'closed'])
  })
})

/** Counts the turns of the event loop until it is stopped. */
function watchTurns () {
  const watch = { count: 0, stop: () => clearImmediate(watch.next) }
  const look = () => {
    watch.count++
    watch.next = setImmediate(look)
  }
  watch.next = setImmediate(look)
  return watch
}
