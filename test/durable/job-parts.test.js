'use strict'

const assert = require('node:assert')
const { Intake } = require('../../lib/durable/intake')
const { Outage } = require('../../lib/durable/outage')
const { Retries } = require('../../lib/durable/retries')

const NONE = Buffer.alloc(0)

describe('the parts of a durable queue', () => {
  it('intake: refuses held pushes that the store refuses when it is their turn', async () => {
    const full = new Error('full')
    const store = {
      nextSeq: 1,
      refusal: () => full,
      push () {
        this.nextSeq++
        return { promise: Promise.resolve() }
      }
    }
    const reverted = []
    const intake = new Intake(store, 1, job => reverted.push(job))
    const first = intake.push('t', Buffer.from('a'), NONE, false)
    const second = intake.push('t', Buffer.from('b'), NONE, false)
    assert.deepEqual([first.job, intake.heldCount, intake.heldBytes], [1, 1, 2])
    intake.settled({ pushesCount: 1 })
    await assert.rejects(second.promise, full)
    assert.equal(await first.promise, 1)
    intake.cancel(second.job, new Error('again'))
    assert.deepEqual([reverted, intake.heldCount, intake.heldBytes], [[second.job], 0, 0])
  })

  it('intake: writes no more than may be under way', async () => {
    const store = {
      nextSeq: 1,
      refusal: () => undefined,
      push () {
        this.nextSeq++
        return { promise: Promise.resolve() }
      }
    }
    const intake = new Intake(store, 2, () => {})
    const pushes = ['a', 'b', 'c', 'd'].map(text => intake.push(undefined, Buffer.from(text), NONE, false))
    intake.settled({ pushesCount: 1 })
    assert.deepEqual([store.nextSeq, intake.heldCount], [4, 1])
    intake.settled({ pushesCount: 2 })
    assert.deepEqual(await Promise.all(pushes.map(({ promise }) => promise)), [1, 2, 3, 4])
  })

  it('outage: does nothing in a queue that is over before it was met', async () => {
    const outage = new Outage({}, { remove () {} }, {})
    outage.begin(new Error('EIO'))
    outage.stop(new Error('failed'))
    await null
    assert.deepEqual([outage.isDue, outage.isOn, outage.isHolding], [false, false, false])
  })

  it('outage: has nobody wait for what is not written any more', async () => {
    const outage = new Outage({ log: {}, unwritten: { size: 1 } }, { remove () {} }, {})
    const failed = new Error('failed')
    const waiting = assert.rejects(outage.safe(undefined), failed)
    outage.stop(failed)
    await waiting
    await assert.rejects(outage.safe(undefined), failed)
  })

  it('retries: places no job that was removed when it fell due together with another', () => {
    const placed = []
    const items = []
    const retries = new Retries({ addAnyway: item => items.push(item), remove () {} }, seq => {
      placed.push(seq)
      retries.remove(retries.list())
    })
    retries.add(1, 'a', 10)
    retries.add(2, 'a', 10)
    for (const item of items) item.whenDue()
    assert.deepEqual(placed, [1])
  })
})
