'use strict'

const assert = require('node:assert')
const fields = require('../../lib/arguments/fields')
const { readRate } = require('../../lib/arguments/rates')
const { revoked } = require('../support/proxies')

const CODE = 'FAIRLANE_ERR_OPTION'
const signal = new AbortController().signal
const run = () => {}

// What each reader takes; then what it refuses, with the class of the error and what is said of it after 'it must be '.
const READERS = [
  [value => fields.readFlag(value, 'it', CODE), [true, false], [[0, TypeError, 'true or false, not 0'], [undefined, TypeError, 'true or false, not undefined']]],
  [value => fields.readChoice(value, 'it', ['a', 'b'], CODE), ['a', 'b'], [['c', RangeError, "one of 'a', 'b', not 'c'"], [1, TypeError, "one of 'a', 'b', not 1"]]],
  [value => fields.readText(value, 'it', CODE), ['a', ' '], [['', TypeError, "a non-empty string, not ''"], [1, TypeError, 'a non-empty string, not 1']]],
  [value => fields.readFunction(value, 'it', CODE), [run], [[{}, TypeError, 'a function, not an object']]],
  [value => fields.readPart(value, ['sort'], 'it must be a list', CODE), [[]], [[{}, TypeError, 'a list, not an object'], [revoked(), TypeError, 'a list, not a revoked Proxy']]],
  [value => fields.readCount(value, 'it', CODE), [0, 1, Infinity], [
    [-1, RangeError, 'a non-negative integer or Infinity, not -1'], [0.5, RangeError, 'a non-negative integer or Infinity, not 0.5'],
    ['1', TypeError, "a non-negative integer or Infinity, not '1'"], [NaN, RangeError, 'a non-negative integer or Infinity, not NaN']
  ]],
  [value => fields.readPositiveCount(value, 'it', CODE), [1, Infinity], [
    [0, RangeError, 'a positive integer or Infinity, not 0'], [null, TypeError, 'a positive integer or Infinity, not null']
  ]],
  [value => fields.readInteger(value, 'it', 2, 4, CODE), [2, 4], [
    [1, RangeError, 'an integer from 2 to 4, not 1'], [5, RangeError, 'an integer from 2 to 4, not 5'], [2.5, RangeError, 'an integer from 2 to 4, not 2.5'],
    ['3', TypeError, "an integer from 2 to 4, not '3'"]
  ]],
  [value => fields.readWhole(value, 'it', CODE), [-1, 0, 1], [[0.5, TypeError, 'an integer, not 0.5'], ['1', TypeError, "an integer, not '1'"]]],
  [value => fields.readDuration(value, 'it', CODE), [0, 0.5, Infinity], [[-1, RangeError, 'a time in ms, 0 or more, or Infinity, not -1'], ['1', TypeError, "a time in ms, 0 or more, or Infinity, not '1'"]]],
  [value => fields.readLimitMs(value, 'it', CODE), [0.5, Infinity], [[0, RangeError, 'above 0; use Infinity for no limit'], [NaN, RangeError, 'a time in ms, 0 or more, or Infinity, not NaN']]],
  [value => fields.readFiniteMs(value, 'it', CODE), [0, 0.5, 1e300], [[Infinity, RangeError, 'a finite time in ms, 0 or more, not Infinity'], [null, TypeError, 'a finite time in ms, 0 or more, not null']]],
  [value => fields.readNumber(value, 'it', 0, 1, CODE), [0, 0.5, 1], [[1.5, RangeError, 'a number from 0 to 1, not 1.5'], [NaN, RangeError, 'a number from 0 to 1, not NaN'], ['1', TypeError, "a number from 0 to 1, not '1'"]]]
]

describe('Readers of what callers give', () => {
  for (const [read, good, bad] of READERS) {
    it(`take what is ${bad[0][2].replace(/, not .*/, '')}`, () => {
      for (const value of good) assert.equal(read(value), value)
      for (const [value, error, what] of bad) {
        assert.throws(() => read(value), err => err instanceof error && err.code === CODE && err.message === `it must be ${what}`)
      }
    })
  }

  it('take signals, of whatever realm they are', () => {
    const like = { aborted: false, addEventListener () {}, removeEventListener () {} }
    for (const value of [signal, like]) assert.equal(fields.readSignal(value, CODE), value)
    for (const value of [null, {}, run, { ...like, aborted: 0 }]) {
      assert.throws(() => fields.readSignal(value, CODE), { name: 'TypeError', code: CODE, message: /^signal must be an AbortSignal, not / })
    }
  })

  it('take rates: a positive integer of starts, in a finite time above 0 or as a queue reads its intervals', () => {
    assert.deepEqual(readRate({ limit: 2, intervalMs: 0.5 }, 'rate', CODE), { limit: 2, intervalMs: 0.5 })
    assert.deepEqual(readRate({ limit: 2, intervalMs: 1 }, 'rate', CODE, (value, name) => [value, name]), { limit: 2, intervalMs: [1, 'rate.intervalMs'] })
    for (const [rate, message] of [
      [{ limit: 0, intervalMs: 1 }, 'rate.limit must be an integer from 1 to 9007199254740991, not 0'],
      [{ limit: 1, intervalMs: 0 }, 'rate.intervalMs must be a finite time in ms above 0, not 0'],
      [{ limit: 1, intervalMs: Infinity }, 'rate.intervalMs must be a finite time in ms above 0, not Infinity'],
      [{ limit: 1, interval: 1 }, "unknown option 'interval'; did you mean 'intervalMs'?"],
      [1, 'rate must be an object, not 1']
    ]) assert.throws(() => readRate(rate, 'rate', CODE), { code: CODE, message })
  })

  it('read by type what an object or a Map holds, with the type in the name', () => {
    const read = (value, name) => `${name}: ${value}`
    for (const value of [{ a: 1, b: 2 }, new Map([['a', 1], ['b', 2]])]) {
      assert.deepEqual([...fields.readByType(value, 'caps', CODE, read)], [['a', "caps['a']: 1"], ['b', "caps['b']: 2"]])
    }
    for (const value of [null, 1, []]) {
      assert.throws(() => fields.readByType(value, 'caps', CODE, read), { name: 'TypeError', code: CODE, message: /^caps must be an object or a Map with types as keys, not / })
    }
  })

  it('read options that are left out as if there were none in them', () => {
    const readers = { a: (value = 1) => value }
    assert.deepEqual(fields.readAll(undefined, readers, CODE), { a: 1 })
    assert.deepEqual(fields.readAll({ a: 2 }, readers, CODE), { a: 2 })
    assert.throws(() => fields.readAll(null, readers, CODE, 'close: the options'), { name: 'TypeError', code: CODE, message: 'close: the options must be an object, not null' })
  })
})
