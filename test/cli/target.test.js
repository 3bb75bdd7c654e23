'use strict'

const assert = require('node:assert/strict')
const { pagesOf } = require('../../lib/cli/target')

describe('the dead letters that the command line goes through', function () {
  /** One whose jobs fail again as soon as they are queued again. */
  function endlessQueue () {
    const asked = []
    return {
      asked,
      async deadLetters ({ type, after = 0, limit }) {
        asked.push([type, after, limit])
        return Array.from({ length: limit }, (_, i) => ({ id: after + 1 + i }))
      }
    }
  }

  it('are no more than there were at the beginning, though jobs become dead letters again', async () => {
    const queue = endlessQueue()
    const ids = []
    for await (const { id } of pagesOf(queue, 'a', 2500)) ids.push(id)
    assert.deepEqual([ids.length, ids.at(-1)], [2500, 2500])
    assert.deepEqual(queue.asked, [['a', 0, 1000], ['a', 1000, 1000], ['a', 2000, 500]])
  })

  it('are none where there were none', async () => {
    const queue = endlessQueue()
    assert.equal((await pagesOf(queue, undefined, 0).next()).done, true)
    assert.deepEqual(queue.asked, [])
  })
})
