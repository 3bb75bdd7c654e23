'use strict'

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { History } = require('../../lib/history')
const { bytesUsed, retainedCount } = require('../support/memory')

const MB = 1024 * 1024
const BURST = 10000

/** Jobs of a queue that has a history. @param {(n: number) => string} typeOf */
async function run (queue, count, typeOf) {
  for (let n = 0; n < count; n += BURST) {
    for (let i = n; i < n + BURST; i++) queue.pushType(typeOf(i), i)
    await queue.onIdle()
  }
}

describe('memory of a history', function () {
  it('is at most 64 bytes a record at a million', async function () {
    const history = new History({ keep: 1e6 })
    const queue = fairlane((n, done) => done(n % 1000 === 0 ? new Error('no') : null), { scheduler: 'equal', observers: history })
    await run(queue, BURST, n => `type ${n % 10}`)
    const before = await bytesUsed()
    await run(queue, 1e6, n => `type ${n % 10}`)
    const perRecord = (await bytesUsed() - before) / 1e6
    assert(history.counts().done + history.counts().failed >= 1e6)
    assert(perRecord <= 64, `${perRecord} bytes`)
  })

  it('is at most 4 MB more after a million types with a job each than after 200,000', async function () {
    const history = new History()
    const queue = fairlane((n, done) => done(), { scheduler: 'equal', observers: history })
    await run(queue, 2e5, n => `type ${n}`)
    const before = await bytesUsed()
    await run(queue, 8e5, n => `later ${n}`)
    const more = await bytesUsed() - before
    assert(history.counts().done >= 1e5)
    assert(more <= 4 * MB, `${more / MB} MB`)
  })

  it('is none of payloads, results and errors', async function () {
    const history = new History()
    const refs = []
    const remember = object => {
      refs.push(new WeakRef(object))
      return object
    }
    const queue = fairlane((payload, done) => {
      if (refs.length % 2 === 0) done(remember(new Error('no')))
      else done(null, remember({ result: true }))
    }, { observers: history })
    for (let i = 0; i < 50; i++) queue.pushType(`type ${i}`, remember({ payload: i }))
    await queue.onIdle()
    assert.equal(history.counts().done + history.counts().failed, 50)
    assert.equal(await retainedCount(refs), 0)
  })
})
