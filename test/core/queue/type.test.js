'use strict'

const assert = require('node:assert/strict')
const { rmSync } = require('node:fs')
const fairlane = require('../../..')
const { durable } = require('../../../lib/durable')
const { temporaryFolder } = require('../../support/folders')

class Plain {}
class Tagged { get [Symbol.toStringTag] () { return 'Tenant' } }
class Tenant {
  constructor (name) { this.name = name }
  toString () { return this.name }
}

// What has no text of its own: pushType(payload, type), with the two swapped, gave each payload the type '[object Object]'.
const TEXTLESS = [{}, { to: 'ada' }, new Plain(), new Tagged(), new Map(), new Set(), Promise.resolve(), JSON, [{ to: 'ada' }]]
const withText = [
  ['a', 'a'], ['', ''], ['[object Object]', '[object Object]'], [7, '7'], [7n, '7'], [true, 'true'], ['undefined', 'undefined'], ['null', 'null'],
  [new Tenant('ada'), 'ada'], [{ toString: () => 'own' }, 'own'], [{ [Symbol.toPrimitive]: () => 'primitive' }, 'primitive'],
  [Plain, 'class Plain {}'],
  [new URL('http://tenant/'), 'http://tenant/'], [Buffer.from('bytes'), 'bytes'], [new Date(NaN), 'Invalid Date'],
  [['org', 7], 'org,7'], [/x/, '/x/'], [new Error('no'), 'Error: no']
]

// each call that takes a type, on a queue with a scheduler
const CALLS = {
  pushType: (queue, type) => queue.pushType(type, 1),
  unshiftType: (queue, type) => queue.unshiftType(type, 1),
  add: (queue, type) => queue.add(1, { type }),
  map: (queue, type) => queue.map([1], { type }),
  ready: (queue, type) => queue.ready(type),
  jobs: (queue, type) => queue.jobs(type),
  clear: (queue, type) => queue.clear({ type }),
  stats: (queue, type) => queue.stats(type),
  pauseType: (queue, type) => queue.pauseType(type),
  resumeType: (queue, type) => queue.resumeType(type)
}
const ADDING = ['pushType', 'unshiftType', 'add']
const ON_DISK = ['pushType', 'unshiftType', 'ready', 'jobs', 'clear', 'stats', 'pauseType', 'resumeType']

const refused = { name: 'TypeError', code: 'FAIRLANE_ERR_TYPE' }

describe('a value that has no text of its own is no type', function () {
  for (const [name, call] of Object.entries(CALLS)) {
    it(`for ${name}, which throws and changes nothing`, async function () {
      const queue = fairlane(async () => {}, { scheduler: 'equal' })
      for (const value of TEXTLESS) assert.throws(() => call(queue, value), refused)
      assert.deepEqual([queue.length, queue.stats().accepted, queue.stats().rejected], [0, 0, 0])
    })
  }

  it('for pushType and add of a queue that ignores types', function () {
    const queue = fairlane(async () => {})
    for (const name of ADDING) assert.throws(() => CALLS[name](queue, {}), refused, name)
    assert.equal(queue.length, 0)
  })

  it('and null is none, and undefined, where jobs are pushed: they would be of a tenant that nobody means', function () {
    for (const [name, call] of Object.entries(CALLS)) assert.throws(() => call(fairlane(async () => {}, { scheduler: 'equal' }), null), refused, name)
    for (const options of [{ scheduler: 'equal' }, {}]) {
      const queue = fairlane(async () => {}, options)
      for (const name of ['pushType', 'unshiftType']) assert.throws(() => CALLS[name](queue, undefined), refused, name)
      for (const name of ADDING) assert.throws(() => CALLS[name](queue, null), refused, name)
      assert.deepEqual([queue.length, queue.stats().accepted], [0, 0])
    }
  })

  it('and the message says what may be wrong', function () {
    const queue = fairlane(async () => {}, { scheduler: 'equal' })
    assert.throws(() => queue.pushType({ to: 'ada' }, 'tenant-a'), { message: /an object .*the type and the payload swapped\?/ })
    assert.throws(() => queue.pushType([{}], 'tenant-a'), { message: /an array .*the type and the payload swapped\?/ })
    assert.throws(() => queue.pushType(undefined, 1), { message: /^a type cannot be undefined/ })
    assert.throws(() => queue.pushType(null, 1), { message: /^a type cannot be null/ })
  })

  it('for any call of a queue on disk', async function () {
    const path = temporaryFolder()
    const queue = await durable(async () => {}, { path, scheduler: 'equal' })
    for (const name of ON_DISK) assert.throws(() => CALLS[name](queue, {}), refused, name)
    await queue.close()
    rmSync(path, { recursive: true })
  })
})

describe('a value that has a text of its own', function () {
  for (const [value, text] of withText) {
    it(`is the type '${text}'`, async function () {
      const types = []
      const queue = fairlane(async (_, done, { type }) => { types.push(type) }, { scheduler: 'equal' })
      queue.pushType(value, 1)
      assert.equal(queue.stats(text).waiting, 1)
      await queue.onIdle()
      assert.deepEqual(types, [text])
    })
  }
})
