'use strict'

const assert = require('node:assert')
const { nameOf, typeOf, keyNameOf, scheduledName, partitionOf, prefixesOf, publicId, parseId, JobNames } = require('../../lib/distributed/names')
const { expectThrow } = require('./expectations')

const TYPES = [
  '', ':', '{}', '{a}:b', '%', '%25', '__proto__', 'constructor', '.ready', 'a b', 'ä', '漢字', '😀', 'x'.repeat(300), 'ü'.repeat(1024),
  '\0', '\n'
]

describe('names at the broker', () => {
  it('are those of types, without what has a meaning in keys', () => {
    for (const type of TYPES) {
      assert.match(nameOf(type), /^[^:{}\s\0]+$/)
      assert.equal(typeOf(nameOf(type)), type)
    }
    assert.equal(new Set(TYPES.map(nameOf)).size, TYPES.length)
  })

  it('are not made of types that are too long, or no text', () => {
    expectThrow(() => nameOf('x'.repeat(1025)), 'FAIRLANE_ERR_TOO_LARGE', RangeError)
    expectThrow(() => nameOf('\ud800'), 'FAIRLANE_ERR_TYPE', TypeError)
  })

  it('of keys are the same for the same key, and short', () => {
    for (const key of [...TYPES, 'x'.repeat(10000)]) {
      assert.equal(keyNameOf(key), keyNameOf(key))
      assert.match(keyNameOf(key), /^[kh]\.[^]{0,200}$/)
    }
    assert.notEqual(keyNameOf('x'.repeat(1000)), keyNameOf('x'.repeat(1001)))
    expectThrow(() => keyNameOf('\udc00'), 'FAIRLANE_ERR_ARGUMENT', TypeError)
  })

  it('of the jobs of a schedule are the same for the same time, and short', () => {
    assert.equal(scheduledName('every day', 5), 's.every%20day.5')
    const [long, other] = [scheduledName('x'.repeat(1000), 5), scheduledName('x'.repeat(1001), 5)]
    assert.equal(long, scheduledName('x'.repeat(1000), 5))
    assert.notEqual(long, other)
    assert.match(long, /^s\.[\w-]{1,200}\.5$/)
  })

  it('of jobs are all different, in all processes', () => {
    const names = ['a', 'b'].map(process => new JobNames(process))
    const all = Array.from({ length: 100 }, (_, n) => names[n % 2].next())
    assert.equal(new Set(all).size, 100)
  })

  it('are found in the ids that callers have', () => {
    for (const type of TYPES) assert.deepEqual(parseId(publicId(nameOf(type), 'k.1')), { type, jobName: 'k.1' })
    for (const id of ['', 'a', ':a', '%E0:1', '%41:1', `${'x'.repeat(2000)}:1`]) assert.equal(parseId(id), undefined, id)
  })

  it('are spread over partitions, each always in the same one', () => {
    assert.deepEqual(prefixesOf('q', 1), ['{fairlane:q}'])
    assert.deepEqual(prefixesOf('q', 2), ['{fairlane:q:0}', '{fairlane:q:1}'])
    assert.equal(partitionOf('tenant', 1), 0)
    assert.equal(partitionOf('123456789', 2 ** 32), 0xcbf43926) // the check value of CRC-32
    const used = new Set(Array.from({ length: 1000 }, (_, n) => partitionOf(`tenant-${n}`, 16)))
    assert.equal(used.size, 16)
  })
})
