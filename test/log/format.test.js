'use strict'

const assert = require('node:assert')
const { randomBytes } = require('node:crypto')
const { crc32 } = require('node:zlib')
const { finishFrame, isFrameAt, seedOf } = require('../../lib/log/format')

describe('a frame', () => {
  it('has the crc-32 of what follows it, seeded with its place, however long it is', () => {
    const [segment, offset] = [7, 4711]
    for (let length = 20; length < 300; length++) {
      const frame = randomBytes(length)
      finishFrame(frame, length, segment, offset, 1, 3, 32)
      assert.equal(frame.readUInt32LE(4), crc32(frame.subarray(8), seedOf(segment, offset)), `${length} bytes`)
      const file = Buffer.concat([Buffer.alloc(offset), frame])
      assert(isFrameAt(file, offset, segment))
      file[offset + length - 1] ^= 1
      assert(!isFrameAt(file, offset, segment))
    }
  })
})
