'use strict'

const assert = require('node:assert')
const { Scout } = require('../../lib/distributed/worker/scout')

const LOST = 'CLUSTERDOWN Hash slot not served'

describe('a scout', () => {
  const { setTimeout, clearTimeout } = global
  const { random } = Math
  let timer, partition, answers, heard, scout

  beforeEach(() => {
    timer = undefined
    global.setTimeout = (fn, ms) => (timer = { fn, ms })
    global.clearTimeout = old => { if (old === timer) timer = undefined }
    Math.random = () => 0.5
    partition = { ready: 'ready', isAway: false }
    answers = []
    heard = []
    const client = {
      sscan: async () => {
        const answer = answers.shift() ?? ['0', []]
        if (answer instanceof Error) throw answer
        return answer
      }
    }
    scout = new Scout({ client, isReady: true }, partition, { found: name => heard.push(name), back: () => heard.push('back') })
  })

  afterEach(() => {
    Object.assign(global, { setTimeout, clearTimeout })
    Math.random = random
  })

  /** The time has come for the next look. @returns {Promise<number>} after how long */
  async function next () {
    const { fn, ms } = timer
    fn()
    for (let turns = 0; turns < 10; turns++) await undefined
    return ms
  }

  async function nextOnes (count) {
    const all = []
    while (all.length < count) all.push(await next())
    return all
  }

  it('finds what is ready, every half minute', async () => {
    answers.push(['1', ['a']], ['0', ['b']])
    await scout.look()
    assert.deepEqual(heard, ['a', 'b'])
    assert.deepEqual(await nextOnes(2), [30000, 30000])
  })

  it('looks in short intervals after an alarm, ever longer ones', async () => {
    await scout.look()
    scout.alarm()
    assert.deepEqual(await nextOnes(8), [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000])
  })

  it('asks a partition that is away until it answers, whatever else is said of it', async () => {
    await scout.look()
    answers.push(...Array(6).fill(new Error(LOST)))
    assert.equal(scout.failed(new Error(LOST)), true)
    assert.equal(partition.isAway, true)
    assert.deepEqual(await nextOnes(3), [50, 100, 200])
    scout.alarm()
    scout.failed(new Error(LOST))
    assert.deepEqual(await nextOnes(3), [400, 800, 1000])
    assert.deepEqual(heard, [])
    answers.push(['0', ['a']])
    assert.equal(await next(), 1000)
    assert.equal(partition.isAway, false)
    assert.deepEqual(heard, ['a', 'back'])
    assert.deepEqual(await nextOnes(2), [500, 1000])
  })

  it('goes on when it is refused, which says nothing of the partition', async () => {
    answers.push(new Error('NOPERM'), new Error('NOPERM'))
    await assert.rejects(scout.look(), /NOPERM/)
    assert.equal(scout.failed(new Error('NOPERM')), false)
    assert.deepEqual(await nextOnes(2), [30000, 30000])
    assert.equal(partition.isAway, false)
  })

  it('does not look while the connection is lost, nor after its end', async () => {
    answers.push(['1', ['a']], ['1', ['b']])
    scout.broker.isReady = false
    await scout.look()
    assert.deepEqual(heard, [])
    scout.broker.isReady = true
    const looking = scout.look()
    scout.stop()
    await looking
    assert.deepEqual(heard, ['a'])
    assert.equal(timer, undefined)
  })
})
