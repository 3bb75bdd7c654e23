'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../../..')
const gates = require('../../support/gates')
const { quiet } = require('../../support/turns')

const NO_FUNCTIONS = [null, 0, 1, '', 'text', true, false, {}, [], Symbol('x'), 1n]
const thrower = { toString () { throw new Error('from toString') } }
const noPrimitive = { [Symbol.toPrimitive] () { return {} } }

function runner () {}

// [code, class, wrong arguments]: `arguments` of the factory, each a list.
const FACTORY = [
  ['FAIRLANE_ERR_RUNNER', TypeError, [undefined, ...NO_FUNCTIONS.filter((value) => value !== null)].map((value) => [value]).concat([[]])],
  ['FAIRLANE_ERR_OPTION', TypeError, [
    ...[null, true, false, [], Symbol('x'), 1n, runner].map((value) => [runner, value]),
    [runner, { concurrenci: 1 }], [runner, { settleby: 'promise' }], [runner, { unknown: 1 }], [runner, { '': 1 }],
    ...[null, 7, true, {}, [], runner].map((value) => [runner, { settleBy: value }])
  ]],
  ['FAIRLANE_ERR_OPTION', RangeError, ['', 'Promise', 'done', 'either '].map((value) => [runner, { settleBy: value }])],
  ['FAIRLANE_ERR_CONCURRENCY', RangeError, [
    ...[0, -0, -1, 2.5, NaN, -Infinity, 'text', '', ' ', '0', '2.5'].map((value) => [runner, value]),
    ...[0, -1, 2.5, NaN, -Infinity, '', ' ', '0', '-1', '2.5', 'text', '1e', '3x'].map((value) => [runner, { concurrency: value }])
  ]],
  ['FAIRLANE_ERR_CONCURRENCY', TypeError,
    [null, true, false, {}, [], [3], runner, 3n].map((value) => [runner, { concurrency: value }]).concat([[runner, { concurrency: Symbol('x') }]])]
]

// [call, code, class, wrong values, call with the value]: on a paused queue with three jobs.
const CALLS = [
  ['push(payload, callback)', 'FAIRLANE_ERR_CALLBACK', TypeError, NO_FUNCTIONS, (queue, value) => queue.push(1, value)],
  ['unshift(payload, callback)', 'FAIRLANE_ERR_CALLBACK', TypeError, NO_FUNCTIONS, (queue, value) => queue.unshift(1, value)],
  ['pushType(type, payload, callback)', 'FAIRLANE_ERR_CALLBACK', TypeError, NO_FUNCTIONS, (queue, value) => queue.pushType('t', 1, value)],
  ['unshiftType(type, payload, callback)', 'FAIRLANE_ERR_CALLBACK', TypeError, NO_FUNCTIONS, (queue, value) => queue.unshiftType('t', 1, value)],
  ...['pushType', 'unshiftType'].flatMap((name) => [
    [`${name}(type)`, 'FAIRLANE_ERR_TYPE', TypeError, [Symbol('t'), Symbol.iterator, thrower, noPrimitive, Object.create(null), {}, new Map(), Promise.resolve()], (queue, value) => queue[name](value, 1)],
    [`${name}(type, payload, wrong callback)`, 'FAIRLANE_ERR_TYPE', TypeError, [Symbol('t'), thrower], (queue, value) => queue[name](value, 1, 'no function')]
  ]),
  ['resume(concurrency)', 'FAIRLANE_ERR_CONCURRENCY', RangeError, [0, -0, -1, 2.5, NaN, -Infinity, '', ' ', '0', '-1', 'text', '2.5'], (queue, value) => queue.resume(value)],
  ['resume(concurrency)', 'FAIRLANE_ERR_CONCURRENCY', TypeError, [null, true, false, {}, [], [3], runner, Symbol('x'), 3n], (queue, value) => queue.resume(value)],
  ['concurrency = value', 'FAIRLANE_ERR_CONCURRENCY', RangeError, [2.5, NaN, '', ' ', 'text', '2.5'], (queue, value) => { queue.concurrency = value }],
  ['concurrency = value', 'FAIRLANE_ERR_CONCURRENCY', TypeError, [undefined, null, true, false, {}, [], [3], runner, Symbol('x'), 3n, -3n], (queue, value) => { queue.concurrency = value }],
  ['drain = value', 'FAIRLANE_ERR_CALLBACK', TypeError, [0, 1, '', 'text', true, false, {}, [], Symbol('x'), 1n], (queue, value) => { queue.drain = value }],
  ['fflush(callback)', 'FAIRLANE_ERR_CALLBACK', TypeError, NO_FUNCTIONS, (queue, value) => queue.fflush(value)],
  ['remove(test)', 'FAIRLANE_ERR_ARGUMENT', TypeError, [undefined, ...NO_FUNCTIONS], (queue, value) => queue.remove(value)],
  ['clear(options)', 'FAIRLANE_ERR_ARGUMENT', TypeError, [null, 0, 1, '', 'text', true, false, runner, Symbol('x'), 1n, { unknown: 1 }, { reson: 1 }, { type: 't' }, { type: 't', reason: 1 }], (queue, value) => queue.clear(value)],
  ['jobs(type)', 'FAIRLANE_ERR_ARGUMENT', TypeError, ['t', '', 0, null, {}], (queue, value) => queue.jobs(value)],
  ['stats(type)', 'FAIRLANE_ERR_ARGUMENT', TypeError, ['t', '', 0, null, {}], (queue, value) => queue.stats(value)]
]

describe('wrong arguments', function () {
  for (const [code, errorClass, lists] of FACTORY) {
    for (const list of lists) {
      it(`fairlane(${list.map(show).join(', ')}) throws ${code}`, function () {
        assertThrows(() => fairlane(...list), code, errorClass)
        assertThrows(() => new fairlane.Queue(...list), code, errorClass)
      })
    }
  }

  for (const [call, code, errorClass, values, perform] of CALLS) {
    for (const value of values) {
      it(`${call} with ${show(value)} throws ${code} and changes nothing`, async function () {
        const gate = gates()
        const queue = fairlane(gate.runner, 4)
        const drain = () => {}
        let called = 0
        queue.drain = drain
        queue.push('running')
        await gate.until(1)
        queue.pause()
        for (let i = 0; i < 3; i++) queue.push(i, () => called++)
        const before = look(queue)

        assertThrows(() => perform(queue, value), code, errorClass)

        assert.deepEqual(look(queue), before)
        assert.equal(queue.drain, drain)
        await quiet()
        assert.deepEqual(look(queue), before)
        assert.equal(called, 0)
        assert.equal(gate.started.length, 1)
        queue.resume()
        assert.equal(queue.concurrency, 4)
      })
    }
  }

  for (const method of ['push', 'unshift', 'pushType', 'unshiftType']) {
    it(`${method}() says where options belong`, function () {
      const typed = method.endsWith('Type') ? ['a'] : []
      const queue = fairlane(() => {})
      assert.throws(() => queue[method](...typed, 1, { delayMs: 5 }), /not an object; only add\(\) takes options, and returns a promise of the result$/)
      assert.throws(() => queue[method](...typed, 1, 'text'), /not 'text'$/)
    })
  }
})

function look (queue) {
  const { length, running, waiting, concurrency, paused } = queue
  return { length, running, waiting, concurrency, paused, stats: { ...queue.stats() }, jobs: [...queue.jobs()] }
}

function assertThrows (call, code, errorClass) {
  let caught
  let returned = true
  try {
    call()
  } catch (error) {
    caught = error
    returned = false
  }
  assert.equal(returned, false, 'it threw')
  assert.equal(caught.code, code)
  assert.equal(caught.constructor, errorClass)
  assert.equal(typeof caught.message, 'string')
  assert.ok(caught.message.length > 10, 'a message that says something')
}

function show (value) {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'function') return value.name || 'function'
  if (typeof value === 'bigint') return `${value}n`
  if (value === thrower) return 'an object whose toString throws'
  if (value === noPrimitive) return 'an object that becomes no string'
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.keys(value).map((key) => ` ${key}: ${show(value[key])}`).join(',')} }`
}
