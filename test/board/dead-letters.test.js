'use strict'

// How many dead letters are looked at for one answer, and what comes of what is done to many. durable.test.js has real ones.

const assert = require('node:assert/strict')
const { deadLettersOf, sweep } = require('../../lib/board/dead-letters')

/** @param {object[]} errors of the letters 1, 2, … @returns {{ queue: object, asked: any[] }} asked: behind which, for each call */
function letters (errors, type = 'a') {
  const all = errors.map((message, i) => ({ id: i + 1, type, attempts: 1, at: 5, error: new Error(message) }))
  const asked = []
  const deadLetters = async ({ limit, after }) => {
    asked.push(after)
    return all.filter(({ id }) => id > (after ?? 0)).slice(0, limit)
  }
  return { queue: { deadLetters }, asked }
}

describe('dead letters', function () {
  it('are looked at for a further page until that is full', async function () {
    const errors = Array.from({ length: 1000 }, (_, i) => i > 100 && i <= 150 ? 'yes' : 'no')
    const { queue, asked } = letters(errors)
    const page = await deadLettersOf(queue, { error: 'yes', after: 1 })
    assert.deepEqual([page.letters.length, page.matchCount, page.seenCount, page.isWhole, page.after], [50, 50, 200, false, 201])
    assert.deepEqual(asked, [1])
    assert.equal((await deadLettersOf(queue, { error: 'yes', after: 102 })).seenCount, 898) // one fewer
    asked.length = 0
    assert.equal((await deadLettersOf(queue, { error: 'yes' })).matchCount, 50) // the first page has the causes of all
    assert.deepEqual(asked, [undefined, 200, 400, 600, 800, 1000])
  })

  it('fail by the error of one if that was the only one', async function () {
    await assert.rejects(sweep(letters(['no']).queue, async () => { throw new Error('out') }, {}), { message: 'out' })
  })

  it('are counted over all calls, those too that could not be', async function () {
    const { queue, asked } = letters(Array.from({ length: 450 }, () => 'no'))
    const { before, ...swept } = await sweep(queue, async id => id % 10 > 0, {})
    assert.deepEqual(swept, { done: 405, left: 45, after: null })
    assert.deepEqual(asked, [undefined, 200, 400])
    assert(Math.abs(before - Date.now()) < 60000)
  })

  it('are retried or deleted for a second, and not after that', async function () {
    const { now } = performance
    let ms = 0
    performance.now = () => ms
    try {
      for (const [passed, done] of [[999, 400], [1000, 200]]) {
        const { queue } = letters(Array.from({ length: 1000 }, () => 'no'))
        const how = async id => {
          if (id % 200 === 0) ms += passed
          return true
        }
        const swept = await sweep(queue, how, { before: 9 })
        assert.deepEqual(swept, { done, left: 0, after: done, before: 9 })
      }
    } finally {
      performance.now = now
    }
  })
})
