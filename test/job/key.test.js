'use strict'

const assert = require('node:assert')
const { TakenKey, keyIdOf } = require('../../lib/job/key')

describe('a key that is taken', () => {
  for (const keyUntil of ['started', 'settled']) {
    it(`until its job has ${keyUntil} is free at no time that is known`, () => {
      const key = new TakenKey('k', { keyUntil }, 100)
      assert.equal(key.freeAt, Infinity)
      key.hasStarted = true
      assert.equal(key.freeAt, Infinity)
    })
  }

  it('for a time is free when that is over, counted from when it was taken, and its job has started', () => {
    const key = new TakenKey('k', { keyUntil: 50 }, 100)
    assert.equal(key.freeAt, Infinity)
    key.hasStarted = true
    assert.equal(key.freeAt, 150)
  })

  it('has its job put off by as long as each add says, or as the first one did, and no longer than maxDelayMs from the first one on', () => {
    const key = new TakenKey('k', { keyUntil: 'started', delayMs: 30 }, 100)
    assert.equal(key.delayAfter({ delayMs: 20, maxDelayMs: Infinity }, 110), 20)
    assert.equal(key.delayAfter({ maxDelayMs: Infinity }, 110), 30)
    assert.equal(key.delayAfter({ maxDelayMs: 25 }, 110), 15)
    assert.equal(key.delayAfter({ maxDelayMs: 25 }, 200), 0)
    assert.equal(new TakenKey('k', { keyUntil: 'started' }, 100).delayAfter({ maxDelayMs: Infinity }, 110), 0)
  })

  it('is of its type: no two pairs of a type and a key, or of no type and a key, are the same', () => {
    const types = [undefined, '', 'a', 'a1', '1', '1:', '\u0000', '\u0001']
    const keys = ['', 'a', '1', ':a', '1:a', '\u00001:aa', '\u0001', '\u0001a', '\u0000']
    const ids = types.flatMap(type => keys.map(key => keyIdOf(type, key)))
    assert.equal(new Set(ids).size, ids.length)
  })

  it('is its own id without a type, mostly: a text that is made has to be hashed', () => {
    assert.equal(keyIdOf(undefined, 'key'), 'key')
  })
})
