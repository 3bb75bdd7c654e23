'use strict'

// One lane by itself: how its blocks grow, and what it keeps. Each job takes three places of a block, and the last place links to the next.

const assert = require('node:assert/strict')
const { Lane } = require('../../../lib/core/lists/lane')

const noCallback = () => {}

function laneOf (count) {
  const lane = new Lane('a', undefined, false)
  for (let i = 0; i < count; i++) lane.append(i, noCallback, i)
  return lane
}

function blocksOf (lane) {
  const blocks = [lane.head]
  while (blocks.at(-1) !== lane.tail) blocks.push(blocks.at(-1).at(-1))
  return blocks
}

/** How many jobs there is room for in each block. */
function sizesOf (lane) {
  return blocksOf(lane).map(block => (block.length - 1) / 3)
}

function payloadsOf (lane) {
  const payloads = []
  lane.scan((block, at) => payloads.push(block[at]))
  return payloads
}

describe('a lane', function () {
  it('has blocks of one job, of four, and then of twice as many each, up to 512', function () {
    assert.deepEqual(sizesOf(laneOf(1)), [1])
    assert.deepEqual(sizesOf(laneOf(2)), [1, 4])
    assert.deepEqual(sizesOf(laneOf(2000)), [1, 4, 8, 16, 32, 64, 128, 256, 512, 512, 512])
  })

  it('has blocks of the same sizes before the first job', function () {
    const lane = laneOf(0)
    for (let i = 0; i < 300; i++) lane.prepend(i, noCallback, -i)
    assert.deepEqual(sizesOf(lane), [256, 128, 64, 32, 16, 8, 4, 1])
    assert.deepEqual(payloadsOf(lane), Array.from({ length: 300 }, (_, i) => 299 - i))
  })

  it('takes its one block from the front again when a job is put before none', function () {
    const lane = laneOf(0)
    lane.prepend('job', noCallback, 1)
    assert.deepEqual([sizesOf(lane), lane.headAt, lane.tailAt], [[1], 0, 3])
  })

  it('holds nothing of a job that it has given out', function () {
    const lane = laneOf(3)
    lane.shift() // which lets go of its block
    const { head } = lane
    lane.shift()
    assert.deepEqual([head[0], head[1]], [undefined, undefined])
    assert.deepEqual(payloadsOf(lane), [2])
  })

  it('keeps a block for up to eight jobs when it is empty, and no larger one', function () {
    const kept = [1, 5, 13, 14, 100].map(count => {
      const lane = laneOf(count)
      while (lane.size > 0) lane.shift()
      return sizesOf(lane)
    })
    assert.deepEqual(kept, [[1], [4], [8], [1], [1]])
  })

  it('keeps no block of several when the last of its jobs is removed', function () {
    const lane = laneOf(3)
    const places = []
    lane.scan((block, at) => places.unshift([block, at]))
    for (const [block, at] of places) lane.removeAt(block, at)
    assert.deepEqual([sizesOf(lane), lane.headAt, lane.tailAt, lane.removedCount], [[1], 0, 0, 0])
  })

  it('moves its jobs together when sixteen are removed, and more than are left', function () {
    const left = [[30, 15], [32, 16], [33, 17], [31, 16]].map(([count, removedCount]) => {
      const lane = laneOf(count)
      const places = []
      lane.scan((block, at) => places.push([block, at]))
      for (const [block, at] of places.slice(1, removedCount + 1)) lane.removeAt(block, at)
      lane.compactIfSparse()
      assert.deepEqual(payloadsOf(lane), [0, ...Array.from({ length: count - removedCount - 1 }, (_, i) => i + removedCount + 1)])
      return lane.removedCount
    })
    assert.deepEqual(left, [15, 16, 0, 0])
  })

  it('has no counts by type, unless types share it', function () {
    assert.equal(Object.hasOwn(laneOf(0), 'typeCounts') || Object.hasOwn(laneOf(0), 'typeStarts'), false)
  })
})
