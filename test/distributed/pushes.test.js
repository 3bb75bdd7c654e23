'use strict'

// Pushes of several types in one turn: they share calls, and nothing else.

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')
const { latch, openRigged } = require('./rigged')

const TYPES = ['a', 'b', 'c']

describeWithRedis('pushes of a turn', function () {
  const at = atServer()
  const open = openRigged(at)
  const key = what => `{fairlane:${at.name}}:${what}`

  /** How many types each call has that pushes some. @returns {number[]} */
  function watchCalls (rig) {
    const counts = []
    rig.rig('fairlanePush', (call, keysCount, ...rest) => {
      counts.push(rest.slice(0, keysCount).filter(name => name.endsWith(':wait')).length)
      return call()
    })
    return counts
  }

  const codesOf = settled => settled.map(({ status, reason }) => status === 'fulfilled' ? 'stored' : reason.code)

  it('share a call, and each has its own answer', async () => {
    const { queue, rig } = await open(null)
    const counts = watchCalls(rig)
    const pushes = TYPES.flatMap(type => [1, 2].map(n => queue.pushType(type, n, { key: `key ${n}` })))
    const again = queue.pushType('b', 3, { key: 'key 1' })
    const ids = await Promise.all([...pushes, again])
    assert.deepEqual(counts, [3])
    assert.deepEqual([new Set(ids).size, ids[6], ids.map(id => id[0]).join('')], [6, ids[2], 'aabbccb'])
    assert.deepEqual(await Promise.all(TYPES.map(async type => (await queue.counts(type)).waiting)), [2, 2, 2])
  })

  for (const odd of TYPES) {
    it(`are stored whatever is wrong with '${odd}', one of their types`, async () => {
      const { queue, rig } = await open(null)
      const counts = watchCalls(rig)
      at.server.cli('set', key(`${odd}:wait`), 'no list')
      const settled = await Promise.allSettled(TYPES.flatMap(type => [queue.pushType(type, 1), queue.pushType(type, 2)]))
      assert.deepEqual(codesOf(settled), TYPES.flatMap(type => Array(2).fill(type === odd ? 'FAIRLANE_ERR_BROKER' : 'stored')))
      const { reason: { message } } = settled.find(({ status }) => status === 'rejected')
      assert.match(message, /^The broker failed: WRONGTYPE /)
      assert.equal(counts[0], 3)
      for (const type of TYPES.filter(type => type !== odd)) assert.equal((await queue.counts(type)).waiting, 2)
    })
  }

  it('are stored once if the answer to their call is lost', async () => {
    const { queue, rig } = await open(null)
    const counts = watchCalls(rig)
    const lost = rig.loseAnswer('fairlanePush')
    const pushes = TYPES.map(type => queue.pushType(type, 1, { key: 'one' }))
    await lost
    assert.equal(new Set(await Promise.all(pushes)).size, 3)
    assert.equal(counts.reduce((sum, count) => sum + count), 6)
    for (const type of TYPES) assert.equal((await queue.counts(type)).waiting, 1)
  })

  it('go with several calls where they are many or large', async () => {
    const { queue, rig } = await open(null)
    const counts = watchCalls(rig)
    await Promise.all(TYPES.flatMap(type => Array.from({ length: 600 }, (_, n) => queue.pushType(type, n))))
    assert.deepEqual(counts, [1, 1, 1])
    await Promise.all(TYPES.map(type => queue.pushType(type, 'x'.repeat(2 ** 21))))
    assert.deepEqual(counts.slice(3), [1, 1, 1])
    await Promise.all(TYPES.map(type => queue.pushType(type, 'x'.repeat(2 ** 20))))
    assert.deepEqual(counts.slice(6), [3])
  })

  it('of other partitions go by themselves', async () => {
    const { queue, rig } = await open(null, { partitions: 4 })
    const counts = watchCalls(rig)
    const types = Array.from({ length: 40 }, (_, n) => `type ${n}`)
    await Promise.all(types.map(type => queue.pushType(type, 1)))
    assert.deepEqual([counts.length, counts.reduce((sum, count) => sum + count)], [4, 40])
  })

  it('while another call is on its way go at once', async () => {
    const { queue, rig } = await open(null)
    const gate = latch()
    rig.once('fairlanePush', async call => {
      await gate.opened
      return call()
    })
    const first = queue.pushType('a', 1)
    await new Promise(setImmediate)
    await queue.pushType('b', 1)
    gate.open()
    await first
  })
})
