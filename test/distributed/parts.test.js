'use strict'

// Parts of a queue by themselves, where what they meet comes about by chance otherwise.

const assert = require('node:assert')
const { Results } = require('../../lib/distributed/results')
const { Supply } = require('../../lib/distributed/supply')

const place = { idOf: name => `a:${name}`, partition: {} }

describe('who waits for results', () => {
  it('is told once, whoever else tells of it, and nobody of jobs that he does not wait for', () => {
    const results = new Results({}, {}, 'me')
    const told = []
    const waiter = results.add(place, 'j', (err, result) => told.push([err, result]))
    results.told([['a:other', '1'], ['a:j', '2'], ['a:j', '3']])
    results.settle(waiter, new Error('late'))
    assert.deepEqual(told, [[null, 2]])
    assert.equal(results.size, 0)
    const others = [1, 2].map(n => results.add(place, 'k', (err, result) => told.push([n, err, result])))
    results.settle(others[0], null, 5)
    results.settle(others[0], null, 6)
    assert.deepEqual(told.slice(1), [[1, null, 5]])
    results.close()
    assert.equal(told[2][1].code, 'FAIRLANE_ERR_CLOSED')
  })
})

describe('what a process has of a type', () => {
  it('lets go of a job once, and not of the one that has taken its place', () => {
    const supply = new Supply({ heldCount: 1 }, place)
    const [first, second] = [{ name: 'j' }, { name: 'j' }]
    supply.jobs.set('j', second)
    supply.held.push(second)
    supply.drop(first)
    assert.deepEqual([...supply.jobs.values()], [second])
    supply.drop(second)
    supply.drop(second)
    assert.equal(supply.jobs.size + supply.held.length + supply.crew.heldCount, 0)
  })
})
