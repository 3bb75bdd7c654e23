'use strict'

const assert = require('node:assert/strict')
const { fairFetch } = require('../../lib/fetch')
const { holdMsOf } = require('../../lib/fetch/limits')
const { fakeClock } = require('../../lib/testing')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')
const { answer, imitation } = require('./imitation')

const NOW = Date.UTC(2026, 10, 24, 3, 0, 0)

/** At a time that stands still. */
function holdOf (status, headers, now = NOW) {
  const { now: systems } = Date
  Date.now = () => now
  try {
    return holdMsOf(answer(status, headers))
  } finally {
    Date.now = systems
  }
}

describe('what a response says of how long nothing more is to be asked', () => {
  it('is Retry-After, of 429 and 503, and of 403 as GitHub has it', () => {
    for (const status of [429, 503, 403]) assert.equal(holdOf(status, { 'Retry-After': '30' }), 30000, status)
    for (const status of [200, 301, 404, 413, 500]) assert.equal(holdOf(status, { 'Retry-After': '30' }), 0, status)
    assert.equal(holdOf(429, { 'Retry-After': '1.5' }), 1500)
    assert.equal(holdOf(429, { 'Retry-After': '0' }), 1000)
    for (const date of ['Tue, 24 Nov 2026 03:00:30 GMT', 'Tuesday, 24-Nov-26 03:00:30 GMT', 'Tue Nov 24 03:00:30 2026']) {
      assert.equal(holdOf(503, { 'Retry-After': date }), 30000, date)
    }
  })

  it('is nothing of 429 without any of it', () => {
    assert.equal(holdOf(429, {}), 0)
    assert.equal(holdOf(429, { 'RateLimit-Reset': '30', 'X-RateLimit-Reset': '30' }), 0)
  })

  it('is RateLimit, as lists of the drafts from 08 on have it', () => {
    const cases = {
      '"default";r=0;t=30': 30000,
      'default;r=0;t=30': 30000,
      '"default"; r=0; t=30; pk=:cHsdsRa894==:': 30000,
      '"default";r=1;t=30': 0,
      '"default";r=0': 0,
      '"default";r=0;t=0': 0,
      '"default";t=30': 0,
      '"burst";r=0;t=5, "day";r=12;t=40000': 5000,
      '"burst";r=0;t=5,"day";r=0;t=40000': 40000000,
      '"a, b; r=0;t=9";r=1;t=30, "quo\\"te";r=0;t=7': 7000,
      '"open;r=0;t=5': 5000,
      '': 0,
      ',;,': 0
    }
    for (const [field, ms] of Object.entries(cases)) {
      for (const status of [200, 429]) assert.equal(holdOf(status, { RateLimit: field }), ms, field)
    }
  })

  it('is RateLimit, as the dictionary of draft 07 has it', () => {
    assert.equal(holdOf(200, { RateLimit: 'limit=100, remaining=0, reset=5' }), 5000)
    assert.equal(holdOf(200, { RateLimit: 'limit=100,remaining=0,reset=5' }), 5000)
    assert.equal(holdOf(200, { RateLimit: 'limit=100, remaining=5, reset=5' }), 0)
    assert.equal(holdOf(200, { RateLimit: 'limit=100, remaining=0' }), 0)
  })

  it('is RateLimit-Remaining and RateLimit-Reset, as older drafts have them', () => {
    assert.equal(holdOf(200, { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '5' }), 5000)
    assert.equal(holdOf(200, { 'RateLimit-Remaining': '3', 'RateLimit-Reset': '5' }), 0)
    assert.equal(holdOf(200, { 'RateLimit-Remaining': '0' }), 0)
    assert.equal(holdOf(200, { 'X-RateLimit-Remaining': '0', 'RateLimit-Reset': '5' }), 5000)
  })

  it('is X-RateLimit-Remaining and X-RateLimit-Reset, with a time since 1970 as GitHub has it, or seconds', () => {
    const seconds = NOW / 1000
    const cases = [
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${seconds + 60}` }, 60000],
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${NOW + 1500}` }, 1500],
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${seconds - 60}` }, 0],
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '60' }, 60000],
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '2026-11-24T03:01:00Z' }, 60000],
      [{ 'X-RateLimit-Remaining': '0.0', 'X-RateLimit-Reset': '341' }, 341000],
      [{ 'X-RateLimit-Remaining': '-1', 'X-RateLimit-Reset': '60' }, 60000],
      [{ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': `${seconds + 2}.75`, 'X-RateLimit-Reset-After': '2.5' }, 2500],
      [{ 'X-Rate-Limit-Remaining': '0', 'X-Rate-Limit-Reset': `${seconds + 900}` }, 900000],
      [{ 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '60' }, 0]
    ]
    for (const [headers, ms] of cases) assert.equal(holdOf(200, headers), ms, JSON.stringify(headers))
  })

  it('is nothing where it cannot be read', () => {
    for (const text of ['', 'none', 'soon', '-5', 'Infinity', '9'.repeat(400), '0x10']) {
      assert.equal(holdOf(200, { 'RateLimit-Remaining': '0', 'RateLimit-Reset': text }), 0, text)
      if (text !== '-5') assert.equal(holdOf(200, { 'RateLimit-Remaining': text, 'RateLimit-Reset': '5' }), 0, text)
    }
  })

  it('is read in a moment, also from a field that is made to take long', () => {
    const hostile = ['"\\'.repeat(40000), '"'.repeat(79999), '"a\\"'.repeat(20000), `${'a;'.repeat(20000)}"${'\\"'.repeat(20000)}`]
    const before = performance.now()
    for (const text of hostile) assert.equal(holdOf(200, { RateLimit: text }), 0)
    assert(performance.now() - before < 1000)
    const long = Array.from({ length: 60 }, (_, i) => `"policy-${i}";r=1;t=${i}`).join(', ')
    assert.equal(holdOf(200, { RateLimit: `${long}, "last";r=0;t=7` }), 7000)
  })

  it('is the longest of what is said', () => {
    const headers = { RateLimit: '"default";r=0;t=7', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '9', 'RateLimit-Reset': '5' }
    assert.equal(holdOf(200, headers), 9000)
    assert.equal(holdOf(429, { ...headers, 'Retry-After': '2' }), 9000)
    assert.equal(holdOf(429, { ...headers, 'Retry-After': '20' }), 20000)
    assert.equal(holdOf(200, { ...headers, 'Retry-After': '20' }), 9000)
  })

  it('is not hidden by what says nothing', async () => {
    const warnings = captureWarnings() // of a Retry-After that cannot be read
    try {
      for (const text of ['0', 'soon', '', '-5', new Date(NOW - 5000).toUTCString()]) {
        assert.equal(holdOf(429, { 'Retry-After': text }), 1000, text)
        assert.equal(holdOf(429, { 'Retry-After': text, 'RateLimit-Remaining': '0', 'RateLimit-Reset': '9' }), 9000, text)
        assert.equal(holdOf(429, { 'Retry-After': text, RateLimit: '"default";r=0;t=9' }), 9000, text)
      }
      await quiet()
    } finally {
      warnings.release()
    }
    const usedUp = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '9' }
    assert.equal(holdOf(200, { ...usedUp, 'X-RateLimit-Reset-After': 'soon' }), 9000)
    assert.equal(holdOf(200, { ...usedUp, 'X-RateLimit-Reset-After': '0' }), 0)
    assert.equal(holdOf(200, { ...usedUp, 'X-RateLimit-Reset': 'soon', 'RateLimit-Reset': '5' }), 5000)
  })
})

describe('a type that is held', () => {
  const A = 'http://a.example/'
  const B = 'http://b.example/'
  let peer, clock
  beforeEach(() => {
    peer = imitation()
    clock = fakeClock()
  })

  /** A call that gets an answer, and another one behind it. */
  async function afterAnswer (options, ...about) {
    const fetch = fairFetch(peer.fetch, { concurrency: 1, clock, ...options })
    const first = fetch(A)
    const call = await peer.until(1)
    const second = fetch(A)
    call.answer(...about)
    return { fetch, second, response: await first }
  }

  for (const [title, status, headers] of [
    ['after 429 with Retry-After', 429, { 'Retry-After': '30' }],
    ['after 503 with Retry-After', 503, { 'Retry-After': '30' }],
    ['after 429 with RateLimit', 429, { RateLimit: '"default";r=0;t=30' }],
    ['after 200 with nothing remaining', 200, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '30' }]
  ]) {
    it(`has no call go out before its time ${title}, while others do`, async () => {
      const { fetch, second, response } = await afterAnswer({}, status, headers)
      assert.equal(response.status, status)
      assert.equal(fetch.queue.heldMs(new URL(A).origin), 30000)
      const other = fetch(B)
      ;(await peer.until(2)).answer()
      await other
      clock.advance(29999)
      await quiet()
      assert.deepEqual(peer.calls.map(({ input }) => input), [A, B])
      clock.advance(1)
      ;(await peer.until(3)).answer()
      assert.equal((await second).status, 200)
    })
  }

  it('is the type of the call, whatever that is', async () => {
    const fetch = fairFetch(peer.fetch, { clock, type: () => 5 })
    const first = fetch(A)
    ;(await peer.until(1)).answer(429, { 'Retry-After': '30' })
    await first
    assert.deepEqual([fetch.queue.heldMs('5'), fetch.queue.heldMs('other')], [30000, 0])
  })

  it('is all of the queue where it has no types that can be held', async () => {
    for (const scheduler of [null, { waiting () {}, start () {}, done () {}, select: () => 0 }]) {
      peer = imitation()
      const { fetch, second } = await afterAnswer({ scheduler }, 429, { 'Retry-After': '30' })
      assert.equal(fetch.queue.heldMs(), 30000)
      clock.advance(30000)
      ;(await peer.until(2)).answer()
      await second
    }
  })

  it('is not held for a shorter time by a later answer, but for a longer one', async () => {
    const fetch = fairFetch(peer.fetch, { clock })
    const origin = new URL(A).origin
    const all = [1, 2, 3].map(() => fetch(A))
    await peer.until(3)
    peer.calls[0].answer(429, { 'Retry-After': '30' })
    await all[0]
    clock.advance(10000)
    peer.calls[1].answer(429, { 'Retry-After': '5' })
    await all[1]
    assert.equal(fetch.queue.heldMs(origin), 20000)
    peer.calls[2].answer(200, { 'RateLimit-Remaining': '0', 'RateLimit-Reset': '60' })
    await all[2]
    assert.equal(fetch.queue.heldMs(origin), 60000)
  })

  it('is held for longer by an answer though a rate, or all of the queue, is out for longer yet', async () => {
    const fetch = fairFetch(peer.fetch, { clock, ratePerType: { limit: 1, intervalMs: 60000 } })
    const origin = new URL(A).origin
    const first = fetch(A)
    const call = await peer.until(1)
    fetch.queue.hold(90000)
    call.answer(429, { 'Retry-After': '30' })
    await first
    fetch.queue.hold(0).setRates({ ratePerType: null })
    assert.equal(fetch.queue.heldMs(origin), 30000)
  })

  it('may be let go', async () => {
    const { fetch, second } = await afterAnswer({}, 429, { 'Retry-After': '3000000' })
    fetch.queue.holdType(new URL(A).origin, 0)
    ;(await peer.until(2)).answer()
    await second
  })
})
