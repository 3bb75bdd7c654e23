'use strict'

const assert = require('node:assert')
const { Postponed, Throttled, isPostponed, isThrottled } = require('../../lib/job/postponing')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')

const DAY_MS = 24 * 3600 * 1000

describe('Throttled', () => {
  it('takes a time in ms, however long that is', () => {
    const times = [[5, 5], [1.2, 2], [0, 1], [0.5, 1], ...[2 ** 31 + 1, 30 * DAY_MS, Number.MAX_SAFE_INTEGER].map(ms => [ms, ms])]
    for (const [given, ms] of times) assert.equal(new Throttled(given).retryAfterMs, ms, given)
    for (const wrong of [-1, NaN, Infinity, 2 ** 53]) assert.throws(() => new Throttled(wrong), err => err instanceof RangeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
    for (const wrong of [undefined, null, '5', {}, 5n]) assert.throws(() => new Throttled(wrong), err => err instanceof TypeError && err.code === 'FAIRLANE_ERR_ARGUMENT')
  })

  it('is an error with a name and a cause', () => {
    const err = new Throttled(5, { cause: 'why' })
    assert(err instanceof Error)
    assert.equal(String(err), 'Throttled: throttled for 5 ms')
    assert.equal(err.cause, 'why')
  })
})

describe('Throttled.after()', () => {
  const { now } = Date
  let warnings
  beforeEach(() => { warnings = captureWarnings() })
  afterEach(() => {
    Date.now = now
    warnings.release()
  })

  it('reads seconds, also with a fraction, however many', () => {
    const times = [['3', 3000], [' 3 ', 3000], ['1.5', 1500], ['1.1', 1100], ['.25', 250], ['2.', 2000], ['0.0015', 2], ['2592000', 30 * DAY_MS], ['99999999999', 99999999999000]]
    for (const [given, ms] of times) assert.equal(Throttled.after(given).retryAfterMs, ms, given)
  })

  it('reads a date in each of the forms that HTTP has, and as ISO 8601 has it, by the clock of the process', () => {
    const isAt = date => { Date.now = () => Date.parse(date) }
    const { TZ } = process.env
    process.env.TZ = 'America/New_York'
    try {
      isAt('2094-11-06T08:49:07Z')
      const dates = ['Sat, 06 Nov 2094 08:49:37 GMT', ' Sat Nov  6 08:49:37 2094 ', '06 Nov 2094 08:49:37 GMT', '2094-11-06T08:49:37Z', '2094-11-06T10:49:37.000+02:00', 'Sat Nov 06 2094 03:49:37 GMT-0500 (EST)']
      for (const date of dates) assert.equal(Throttled.after(date).retryAfterMs, 30000, date)
      isAt('2033-11-06T08:49:07Z')
      assert.equal(Throttled.after('Sunday, 06-Nov-33 08:49:37 GMT').retryAfterMs, 30000)
      isAt('2094-11-06T23:00:00Z')
      assert.equal(Throttled.after('2094-11-07').retryAfterMs, 3600000)
      assert.equal(Throttled.after('Mon, 06 Dec 2094 23:00:00 GMT').retryAfterMs, 30 * DAY_MS)
    } finally {
      if (TZ === undefined) delete process.env.TZ
      else process.env.TZ = TZ
    }
  })

  it('is one second where there is no header, or its time is over', async () => {
    for (const given of [undefined, null, '0', '0.0005', 'Mon, 01 Jan 1990 00:00:00 GMT']) assert.equal(Throttled.after(given).retryAfterMs, 1000, String(given))
    await quiet()
    assert.deepEqual(warnings.seen, [])
  })

  it('is one second where it cannot be read, and says so once', async () => {
    delete require.cache[require.resolve('../../lib/job/retry-after')] // which may have said so
    const nonsense = [
      'soon', '', ' ', '-5', '+5', '1e3', '0x10', '1,5', '1.2.3', 'in 3000', 'not before 2999', 'Infinity', '9'.repeat(400), 'Mon, 99 Jan 2990 00:00:00 GMT', 5, NaN, {}, ['3'], new Date()
    ]
    for (const given of nonsense) assert.equal(Throttled.after(given).retryAfterMs, 1000, String(given))
    await quiet()
    assert.deepEqual(warnings.seen.map(({ code }) => code), ['FAIRLANE_WARN_RETRY_AFTER'])
    assert.match(warnings.seen[0].message, /'soon'/)
  })

  it('makes an error of the class that it is called on, with a cause', () => {
    class Busy extends Throttled {}
    const err = Busy.after('2', { cause: 'why' })
    assert(err instanceof Busy)
    assert.deepEqual([err.retryAfterMs, err.cause, isThrottled(err)], [2000, 'why', true])
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
