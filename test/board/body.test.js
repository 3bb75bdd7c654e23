'use strict'

const assert = require('node:assert/strict')
const { Readable } = require('node:stream')
const { MOST_BYTES, readBody, Refusal } = require('../../lib/board/body')

/** @param {string[]} parts in which the body comes */
function requestOf (parts, headers = {}) {
  return Object.assign(Readable.from(parts.map(part => Buffer.from(part))), { headers })
}

const refusal = (status, message) => err => {
  assert(err instanceof Refusal)
  assert.deepEqual([err.status, err.message], [status, message])
  return true
}
const tooLarge = refusal(413, 'The body must not be larger than 65536 bytes.')
const noObject = refusal(400, 'The body must be a JSON object.')

describe('the body of a request', function () {
  const ofSize = bytes => `{"a":"${'x'.repeat(bytes - 8)}"}`

  it('is an object of JSON, of 64 KiB at most, whether or not it says before how large it is', async function () {
    for (const headers of [{}, { 'content-length': String(MOST_BYTES) }]) {
      assert.equal((await readBody(requestOf([ofSize(MOST_BYTES)], headers))).a.length, MOST_BYTES - 8)
    }
    assert.deepEqual(await readBody(requestOf(['{"a":', '[1]}'])), { a: [1] })
    for (const parts of [[ofSize(MOST_BYTES + 1)], ['x'.repeat(MOST_BYTES), 'x']]) await assert.rejects(readBody(requestOf(parts)), tooLarge)
    for (const text of ['null', '[1]', '5', '"a"', '', '{']) await assert.rejects(readBody(requestOf([text])), noObject)
  })

  it('is not read where it says that it is too large, but thrown away', async function () {
    const request = requestOf([ofSize(MOST_BYTES + 1)], { 'content-length': String(MOST_BYTES + 1) })
    await assert.rejects(readBody(request), tooLarge)
    assert.equal(request.readableFlowing, true)
  })

  it('is what somebody has read before, if only in part, or to the end of nothing', async function () {
    const body = { action: 'pause' }
    for (const read of [{ readableDidRead: true, readableEnded: false }, { readableDidRead: false, readableEnded: true }]) {
      assert.equal(await readBody({ headers: {}, body, ...read }), body)
      for (const none of [undefined, null, [body], 'text']) await assert.rejects(readBody({ headers: {}, body: none, ...read }), noObject)
    }
  })

  it('is refused if it breaks off', async function () {
    const request = new Readable({ read () {} })
    request.headers = {}
    const reading = readBody(request)
    request.push('{"a":')
    request.destroy()
    await assert.rejects(reading, refusal(400, 'The body is incomplete.'))
  })
})
