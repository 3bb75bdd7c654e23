'use strict'

const assert = require('node:assert')
const { Sharers } = require('../../lib/job/sharers')

const isOf = shared => ({ name: shared, isKept: false, isSettled: false, sharers: undefined })

describe('those who share the result of a job', () => {
  let told, sharers

  beforeEach(() => {
    told = []
    sharers = new Sharers((signal, rejects, deserted, fault) => {
      told.push({ left: rejects.map(reject => reject()), deserted: deserted.map(({ name }) => name), fault })
    })
  })

  it('leave it by their signals, all of one signal together, and it is deserted when the last one has', () => {
    const [a, b] = [isOf('a'), isOf('b')]
    const [one, other] = [new AbortController(), new AbortController()]
    sharers.add(a, one.signal, () => 1)
    sharers.add(a, other.signal, () => 2)
    sharers.add(b, one.signal, () => 3)
    one.abort()
    assert.deepEqual(told, [{ left: [1, 3], deserted: ['b'], fault: undefined }])
    other.abort()
    assert.deepEqual(told.slice(1), [{ left: [2], deserted: ['a'], fault: undefined }])
  })

  it('do not desert what somebody keeps who has no signal', () => {
    const kept = { ...isOf('kept'), isKept: true }
    const { signal, abort } = controller()
    sharers.add(kept, signal, () => 1)
    abort()
    assert.deepEqual(told, [{ left: [1], deserted: [], fault: undefined }])
  })

  it('are told nothing by their signals once it has settled, whether they were told that or not', () => {
    const [told1, untold] = [isOf('told'), isOf('untold')]
    const { signal, abort } = controller()
    sharers.add(told1, signal, () => 1)
    sharers.add(untold, signal, () => 2)
    sharers.release(told1)
    untold.isSettled = true
    abort()
    assert.deepEqual(told, [])
    sharers.release(isOf('that nobody may leave'))
  })

  it('leave in a microtask if their signal has aborted, or cannot be listened to', async () => {
    const [a, b] = [isOf('a'), isOf('b')]
    const fault = new Error('of another make')
    sharers.add(a, AbortSignal.abort(), () => 1)
    sharers.add(b, { aborted: false, addEventListener () { throw fault }, removeEventListener () {} }, () => 2)
    assert.deepEqual(told, [])
    await undefined
    assert.deepEqual(told, [{ left: [1], deserted: ['a'], fault: undefined }, { left: [2], deserted: ['b'], fault }])
  })
})

function controller () {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
