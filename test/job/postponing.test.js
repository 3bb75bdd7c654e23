'use strict'

const assert = require('node:assert')
const { Postponed, Throttled, heldMsOf, isPostponed, isThrottled } = require('../../lib/job/postponing')
const { fakeClock } = require('../../lib/testing')

const DAY_MS = 24 * 3600 * 1000

describe('Throttled', () => {
  it('takes a time in ms, or what a Retry-After header says, however long that is', () => {
    const times = [
      [5, 5], [1.2, 2], [2 ** 31 + 1, 2 ** 31 + 1], [30 * DAY_MS, 30 * DAY_MS], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
      ['3', 3000], [' 3 ', 3000], ['1.5', 1500], ['1.1', 1100], ['.25', 250], ['2.', 2000], ['0.0015', 2], ['2592000', 30 * DAY_MS], ['99999999999', 99999999999000]
    ]
    for (const [given, ms] of times) assert.equal(new Throttled(given).retryAfterMs, ms, given)
    for (const days of [0, 30, 3650]) {
      const ms = new Throttled(new Date(Date.now() + days * DAY_MS + 60000).toUTCString()).retryAfterMs - days * DAY_MS
      assert(ms > 50000 && ms <= 60000, `${ms}`)
    }
  })

  it('takes a date in each of the forms that HTTP has, and as ISO 8601 has it', () => {
    const now = () => Date.parse('2094-11-06T08:49:07Z')
    const { TZ } = process.env
    process.env.TZ = 'America/New_York'
    try {
      const dates = ['Sat, 06 Nov 2094 08:49:37 GMT', ' Sat Nov  6 08:49:37 2094 ', '06 Nov 2094 08:49:37 GMT', '2094-11-06T08:49:37Z', '2094-11-06T10:49:37.000+02:00', 'Sat Nov 06 2094 03:49:37 GMT-0500 (EST)']
      for (const date of dates) assert.equal(heldMsOf(new Throttled(date), fakeClock(), now), 30000, date)
      assert.equal(heldMsOf(new Throttled('Sunday, 06-Nov-33 08:49:37 GMT'), fakeClock(), () => Date.parse('2033-11-06T08:49:07Z')), 30000)
      assert.equal(heldMsOf(new Throttled('2094-11-07'), fakeClock(), () => Date.parse('2094-11-06T23:00:00Z')), 3600000)
    } finally {
      if (TZ === undefined) delete process.env.TZ
      else process.env.TZ = TZ
    }
  })

  it('is one second where it is told nothing of sense', () => {
    const nonsense = [
      undefined, null, '', ' ', 'soon', '-5', '+5', '1e3', '0x10', '1,5', '1.2.3', 'in 3000', 'not before 2999', 'Infinity', '9'.repeat(400), 'Mon, 01 Jan 1990 00:00:00 GMT', 'Mon, 99 Jan 2990 00:00:00 GMT',
      '0', '0.0005', 0.5, 0, -1, NaN, Infinity, 2 ** 53, {}, new Date(), 5n
    ]
    for (const given of nonsense) assert.equal(new Throttled(given).retryAfterMs, 1000, String(given))
  })

  it('until a date is over by the clock of the queue if that counts from 1970, else by that of the machine', () => {
    const start = Date.parse('2031-05-01T00:00:00Z')
    const err = new Throttled('Sat, 31 May 2031 00:00:00 GMT')
    assert.equal(heldMsOf(err, fakeClock(start)), 30 * DAY_MS)
    const clock = fakeClock(start)
    clock.advance(30 * DAY_MS - 0.5)
    assert.equal(heldMsOf(err, clock), 1000, 'less than a ms')
    assert.equal(heldMsOf(err, fakeClock(start + 31 * DAY_MS)), 1000, 'it is over')
    assert.equal(heldMsOf(err, fakeClock(start - 0.5)), 30 * DAY_MS + 1)
    for (const time of [0, 5, 10 * 365 * DAY_MS]) assert.equal(heldMsOf(err, fakeClock(time), () => start + DAY_MS), 29 * DAY_MS)
    const before = Date.now()
    const ms = heldMsOf(err, fakeClock())
    assert(ms <= start + 30 * DAY_MS - before && ms >= start + 30 * DAY_MS - Date.now(), `${ms}`)
    for (const given of [5, '1.5', 'soon']) assert.equal(heldMsOf(new Throttled(given), fakeClock(start)), new Throttled(given).retryAfterMs)
  })

  it('is an error with a name and a cause', () => {
    const err = new Throttled(5, { cause: 'why' })
    assert(err instanceof Error)
    assert.equal(String(err), 'Throttled: throttled for 5 ms')
    assert.equal(err.cause, 'why')
  })
})

describe('Postponed', () => {
  it('takes a time in ms', () => {
    assert.equal(new Postponed(0).delayMs, 0)
    assert.equal(String(new Postponed(5)), 'Postponed: postponed for 5 ms')
    for (const wrong of [-1, NaN, 2 ** 31 + 1]) assert.throws(() => new Postponed(wrong), err => err instanceof RangeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
    for (const wrong of [undefined, '5']) assert.throws(() => new Postponed(wrong), err => err instanceof TypeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
  })
})

describe('What a runner fails with to wait', () => {
  it('says the same for good', () => {
    class Busy extends Throttled {}
    for (const [err, name] of [[new Busy(5), 'retryAfterMs'], [new Postponed(5), 'delayMs']]) {
      assert.throws(() => { err[name] = NaN }, TypeError)
      assert.throws(() => Object.defineProperty(err, name, { get () { throw new Error('expected') } }), TypeError)
      assert.deepEqual([err[name], Object.keys(err)], [5, [name]])
    }
  })

  it('is known without a look at it', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const others = [proxy, Object.create(Throttled.prototype), Object.create(Postponed.prototype), undefined, null, 5, Symbol('x')]
    for (const other of others) assert.deepEqual([isThrottled(other), isPostponed(other)], [false, false])
    assert.deepEqual([new Throttled(5), new Postponed(5)].map(err => [isThrottled(err), isPostponed(err)]), [[true, false], [false, true]])
  })
})
