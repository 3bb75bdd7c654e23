'use strict'

const assert = require('node:assert')
const { Crew } = require('../../lib/distributed/worker/crew')

const CREWS = 1000

describe('a type that has become ready', () => {
  const crews = []
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
    for (let n = 0; n < CREWS; n++) {
      const crew = new Crew({ broker: { client, partitions: [] } }, {}, {})
      crew.believeName = () => asking.add(crew)
      crews.push(crew)
    }
  })
  afterEach(() => { for (const crew of crews.splice(0)) clearTimeout(crew.lookTimer) })

  const hearAll = () => { for (const crew of crews) crew.hear(partition, [CREWS, ['t']]) }

  async function lookAll () {
    const due = crews.filter(({ lookTimer }) => lookTimer !== undefined)
    for (const { lookTimer } of due) clearTimeout(lookTimer)
    await Promise.all(due.map(crew => crew.look()))
  }

  // how many ask is a sum of 1,000 independent choices: by these limits it is wrong once in 10 million times
  it('is asked for by eight of a thousand workers, and if that was not enough by more and more, until all have asked', async () => {
    hearAll()
    assert(asking.size < 28, `${asking.size} asked`)
    for (const most of [70, 200]) {
      await lookAll()
      assert(asking.size < most, `${asking.size} asked`)
    }
    for (let looks = 0; asking.size < CREWS; looks++) {
      assert(looks < 3)
      await lookAll()
    }
    assert(crews.every(({ lookTimer }) => lookTimer === undefined))
  })

  it('is looked at once by each of the others when it has been taken', async () => {
    hearAll()
    const count = asking.size
    isReady = false
    await lookAll()
    assert.equal(looksCount, CREWS - count)
    assert(crews.every(({ lookTimer }) => lookTimer === undefined))
    assert.equal(asking.size, count)
  })

  it('is looked at together with others that have', async () => {
    const [crew] = crews
    for (const names of [['t', 'u'], ['v']]) crew.hear(partition, [2 ** 47, names]) // so many that this one does not ask
    isReady = false
    await lookAll()
    assert.deepEqual([looksCount, asking.size], [1, 0])
  })

  it('is not heeded by those that have stopped', () => {
    for (const crew of crews) crew.isStopped = true
    hearAll()
    assert.equal(asking.size, 0)
    assert(crews.every(({ lookTimer }) => lookTimer === undefined))
  })
})
