'use strict'

// When a process looks which limits all of them have: by a clock and a broker of the test's own. Then at a broker, whose message is enough.

const assert = require('node:assert')
const { once } = require('node:events')
const { Fleet } = require('../../lib/distributed/limits/fleet')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')

const turns = async () => { for (let n = 0; n < 4; n++) await new Promise(resolve => setImmediate(resolve)) }

describe('limits of all processes', () => {
  const { now } = performance
  const timers = { setTimeout, clearTimeout }
  let ms, timer, looks, told, refusal, generation, born, broker, heard

  beforeEach(() => {
    ms = 100000
    looks = 0
    generation = born = '5'
    refusal = undefined
    heard = new Set()
    performance.now = () => ms
    global.setTimeout = (fn, after) => (timer = { fn, at: ms + after })
    global.clearTimeout = () => { timer = undefined }
    const partition = { key: () => 'copy', wake: 'wake', generation: '' }
    broker = {
      name: 'q',
      isReady: true,
      partitions: [partition],
      onReady: [],
      onShaken: [],
      troubles: { refused () {} },
      soon: call => call(),
      listen: async (channel, onMessage) => { told = onMessage },
      client: {
        defineCommand () {},
        async fairlaneTerms () {
          looks++
          return [generation, 1000, ['generation', generation, 'born', born]]
        },
        async fairlaneCopyTerms (key, copied) {
          if (refusal !== undefined) throw refusal
          return copied
        }
      }
    }
  })

  afterEach(() => {
    performance.now = now
    Object.assign(global, timers)
  })

  async function open (runner) {
    const fleet = new Fleet({ broker }, { runner, isHeard: event => heard.has(event) }, () => {})
    await fleet.open()
    looks = 0
    return fleet
  }

  /** @returns {Promise<number>} how often it has looked meanwhile */
  async function pass (forMs) {
    const before = looks
    const end = ms + forMs
    while (timer?.at <= end) {
      ms = timer.at
      const { fn } = timer
      timer = undefined
      fn()
      await turns()
    }
    ms = end
    return looks - before
  }

  it('are looked at when a message tells of later ones', async () => {
    const freed = []
    const fleet = await open(() => {})
    fleet.follow({ changed () {}, inLine () {}, freed: tokens => freed.push(...tokens) })
    assert.deepEqual([told({ limits: '5' }), told({ limits: 6 }), told(null), told({ freed: ['a'] })], [true, false, false, true])
    await turns()
    assert.deepEqual([looks, freed], [0, ['a']])
    generation = '6'
    assert.equal(told({ limits: '6' }), true)
    await turns()
    assert.deepEqual([looks, fleet.terms.generation], [1, '6'])
    broker.client.fairlaneTerms = async () => { throw new Error('Connection is closed') }
    told({ limits: '7' })
    broker.isReady = false
    told({ limits: '7' })
    await turns()
    assert.equal(fleet.terms.generation, '6')
  })

  it('are looked at now and then by a process that is told', async () => {
    await open(() => {})
    assert.equal(await pass(9900), 0)
    assert.equal(await pass(1000), 1)
    assert.equal(await pass(60000), 5)
  })

  it('are looked at each second by one that is not told, where somebody wants to know', async () => {
    await open(null)
    assert.equal(await pass(9500), 0)
    heard.add('limits')
    assert(await pass(9000) >= 9)
  })

  it('are looked at each second while a partition has earlier ones', async () => {
    const fleet = await open(() => {})
    refusal = new Error('LOADING the test')
    await fleet.bring(broker.partitions[0], false)
    assert(await pass(4000) >= 4)
    refusal = undefined
    await pass(1000)
    assert.equal(await pass(5000), 0)
    fleet.stop()
    assert.equal(timer, undefined)
    fleet.lookLater()
    assert.equal(timer, undefined)
  })

  it('are filled in with what this process knows where others have begun anew without it, and only then', async () => {
    const written = []
    broker.client.fairlaneSetTerms = async (key, ...args) => {
      written.push(args)
      return '8'
    }
    const fleet = await open(null)
    generation = born = '6'
    await fleet.look()
    assert.deepEqual([written, fleet.terms.born], [[], '6'])
    fleet.terms.values.set('cap', '3')
    generation = born = '7'
    await fleet.look()
    assert.deepEqual(written, [['7', '', '', 'PUBLISH', 2, 'cap', '3']])
    assert.deepEqual([fleet.terms.generation, fleet.terms.values.get('cap')], ['8', '3'])
  })

  it('are looked at where a partition has later ones', async () => {
    const fleet = await open(null)
    const [partition] = broker.partitions
    const copied = []
    broker.client.fairlaneCopyTerms = async (key, own) => {
      copied.push(own)
      generation = '9'
      return generation
    }
    await fleet.bring(partition, false)
    assert.deepEqual([copied, fleet.terms.generation, fleet.lagging.has(partition)], [['5', '9'], '9', false])
  })

  it('that change while a partition is told of earlier ones reach it behind these', async () => {
    const fleet = await open(null)
    const [partition] = broker.partitions
    const answers = []
    const copied = []
    broker.client.fairlaneSetTerms = async () => '8'
    broker.client.fairlaneCopyTerms = (key, own, from, heldMs, publish, wake, count) => {
      copied.push([own, from, count])
      return new Promise(resolve => answers.push(resolve))
    }
    const brought = fleet.bring(partition, false)
    const written = fleet.setCap('a', 1)
    await turns()
    answers.shift()('5')
    await turns()
    answers.shift()('4') // what has changed since is not enough
    await turns()
    answers.shift()('8')
    await Promise.all([brought, written])
    assert.deepEqual(copied.map(([own]) => own), ['5', '8', '8'])
    assert.deepEqual([copied[2][1], copied[2][2], fleet.lagging.has(partition)], ['', 2, false])
  })

  it('wait for whoever has told a partition of later ones, and are written after these if nobody comes', async () => {
    const written = []
    broker.client.fairlaneSetTerms = async (key, before, later) => {
      written.push([before, later])
      return '10'
    }
    const fleet = await open(null)
    const [partition] = broker.partitions
    broker.client.fairlaneCopyTerms = async (key, copied) => Number(copied) < 9 ? '9' : copied
    await fleet.bring(partition, false)
    assert.deepEqual([fleet.lagging.has(partition), written], [true, []])
    ms += 60000
    await fleet.bring(partition, false)
    assert.deepEqual([fleet.lagging.has(partition), written, fleet.terms.generation], [false, [['5', '9']], '10'])
  })

  it('hold back nothing, as far as is known, while the broker knows others', async () => {
    const fleet = await open(null)
    fleet.terms.values.set('rate', '[]')
    let answer = [generation, 70]
    broker.client.fairlanePermits = async () => answer
    assert.equal(await fleet.heldMs(), 70)
    answer = ['6']
    assert.equal(await fleet.heldMs(), 0)
    fleet.terms.values.set('rate', JSON.stringify([{ limit: 1, intervalMs: 1000, of: 'cost' }]))
    let units = [generation, 0, '', 80, '']
    broker.client.fairlaneUnits = async () => units
    assert.equal(await fleet.heldMs(), 80)
    units = ['6']
    assert.equal(await fleet.heldMs(), 0)
  })
})

describeWithRedis('limits of a fleet, in a process with a runner', function () {
  const at = atServer()

  it('are told as soon as they are written', async () => {
    const worker = await at.open(async () => {})
    const producer = await at.open(null)
    const changed = once(worker, 'limits')
    const before = performance.now()
    await producer.setGlobalCap('a', 3)
    const [{ after }] = await changed
    assert.equal(after.globalTypeCaps.a, 3)
    assert(performance.now() - before < 8000) // it would look after ten seconds
  })
})
