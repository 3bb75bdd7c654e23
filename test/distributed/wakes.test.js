'use strict'

const assert = require('node:assert')
const { Wakes } = require('../../lib/distributed/worker/wakes')

const PROCESSES = 1000

describe('a type that has become ready', () => {
  const all = []
  const partition = { ready: 'ready' }
  let asking, isReady, looksCount

  beforeEach(() => {
    asking = new Set()
    isReady = true
    looksCount = 0
    const client = {
      async smismember (key, ...names) {
        looksCount++
        return names.map(() => Number(isReady))
      }
    }
    for (let n = 0; n < PROCESSES; n++) {
      const wakes = new Wakes({ broker: { client }, crew: {}, scouts: { tell: () => {} } })
      wakes.found = () => asking.add(wakes)
      all.push(wakes)
    }
  })
  afterEach(() => { for (const wakes of all.splice(0)) clearTimeout(wakes.lookTimer) })

  const hearAll = () => { for (const wakes of all) wakes.hear(partition, [PROCESSES, ['t']]) }

  async function lookAll () {
    const due = all.filter(({ lookTimer }) => lookTimer !== undefined)
    for (const { lookTimer } of due) clearTimeout(lookTimer)
    await Promise.all(due.map(wakes => wakes.look()))
  }

  // how many ask is a sum of 1,000 independent choices: by these limits it is wrong once in 10 million times
  it('is asked for by eight of a thousand workers, and if that was not enough by more and more, until all have asked', async () => {
    hearAll()
    assert(asking.size < 28, `${asking.size} asked`)
    for (const most of [70, 200]) {
      await lookAll()
      assert(asking.size < most, `${asking.size} asked`)
    }
    for (let looks = 0; asking.size < PROCESSES; looks++) {
      assert(looks < 3)
      await lookAll()
    }
    assert(all.every(({ lookTimer }) => lookTimer === undefined))
  })

  it('is looked at once by each of the others when it has been taken', async () => {
    hearAll()
    const count = asking.size
    isReady = false
    await lookAll()
    assert.equal(looksCount, PROCESSES - count)
    assert(all.every(({ lookTimer }) => lookTimer === undefined))
    assert.equal(asking.size, count)
  })

  it('is looked at together with others that have', async () => {
    const [wakes] = all
    for (const names of [['t', 'u'], ['v']]) wakes.hear(partition, [2 ** 47, names]) // so many that this one does not ask
    isReady = false
    await lookAll()
    assert.deepEqual([looksCount, asking.size], [1, 0])
  })

  it('is not heeded by those that have stopped', () => {
    for (const wakes of all) wakes.stop()
    hearAll()
    assert.equal(asking.size, 0)
    assert(all.every(({ lookTimer }) => lookTimer === undefined))
  })
})
