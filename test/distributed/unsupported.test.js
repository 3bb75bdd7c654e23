'use strict'

const assert = require('node:assert')
const { inspect } = require('node:util')
const fairlane = require('../..')
const { names: notInMemory } = require('../../lib/core/unsupported')
const { describeWithRedis } = require('../support/redis')
const { atServer } = require('./opened')

const VALUES = ['drain', 'length', 'recovered', 'waiting']
const METHODS = ['acquire', 'diskBytes', 'fflush', 'jobs', 'ready', 'remove', 'run']

describeWithRedis('what a queue in memory has and one at a broker has not', function () {
  const at = atServer()

  /** All public members of a queue. */
  function membersOf (queue) {
    const names = new Set()
    for (let object = queue; object !== Object.prototype; object = Object.getPrototypeOf(object)) {
      for (const name of Reflect.ownKeys(object)) names.add(name)
    }
    return names
  }

  it('is refused with a code, and a word of what to use', async () => {
    const queue = await at.open(null)
    const refused = { name: 'TypeError', code: 'FAIRLANE_ERR_UNSUPPORTED', message: /not available at a broker.*(in memory|on disk).*[Uu]se/ }
    for (const name of VALUES) {
      assert.throws(() => queue[name], { ...refused, message: new RegExp(`^queue\\.${name} is ${refused.message.source}`) })
    }
    for (const name of METHODS) {
      assert.throws(() => queue[name](), { ...refused, message: new RegExp(`^queue\\.${name}\\(\\) is ${refused.message.source}`) })
    }
    assert.throws(() => { queue.drain = () => {} }, refused)
    assert.throws(() => { queue.length = 5 }, refused)
  })

  it('is all that is missing there', async () => {
    const [own, others] = [await at.open(async () => {}), fairlane(() => {})].map(membersOf)
    assert.deepEqual([...others].filter(name => !own.has(name) && !notInMemory.includes(name)), [])
  })

  it('is in nobody\'s way who looks at the queue', async () => {
    const queue = await at.open(null)
    assert.equal(await queue, queue)
    assert.deepEqual(Object.keys({ ...queue }).filter(name => [...VALUES, ...METHODS].includes(name)), [])
    for (const options of [{}, { showHidden: true }, { getters: true, showHidden: true }, { depth: Infinity }]) {
      assert.match(inspect(queue, options), /DistributedQueue/)
    }
    assert.equal(typeof JSON.stringify(queue), 'string')
    assert.doesNotThrow(() => assert.notDeepEqual(queue, {}))
    assert.throws(() => [...queue], TypeError)
    for (const name in queue) assert(![...VALUES, ...METHODS].includes(name))
  })

  it('says of a type whether this process has paused it', async () => {
    const queue = await at.open(async () => {}, { scheduler: 'fair' })
    queue.pauseType('a')
    assert.deepEqual([queue.isTypePaused('a'), queue.isTypePaused('b')], [true, false])
    queue.resumeType('a')
    assert.equal(queue.isTypePaused('a'), false)
    const producer = await at.open(null)
    assert.throws(() => producer.isTypePaused('a'), { code: 'FAIRLANE_ERR_RUNNER' })
    assert.throws(() => queue.isTypePaused(Symbol('a')), { code: 'FAIRLANE_ERR_TYPE' })
  })
})
