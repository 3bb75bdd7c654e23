'use strict'

// Numbers, reasons and names in words, where no browser is needed.

const assert = require('node:assert/strict')
const { isolated, visible } = require('../../lib/board/client/names')
const { count, finding, percent, reason, time } = require('../../lib/board/client/words')

/** As the page has a sentence. */
const textOf = parts => parts.map(part => part.name ?? part).join('')
const why = row => textOf(reason(row))
const said = one => textOf(finding(one))

describe('what the page makes words of', function () {
  it('is a number, a share or a time, or that it is not known', function () {
    for (const unknown of [undefined, null]) assert.deepEqual([count(unknown), percent(unknown), time(unknown)], ['–', '–', '–'])
    assert.deepEqual([count(0), count(1234567), percent(0), percent(0.12345), percent(1)], ['0', '1,234,567', '0.0 %', '12.3 %', '100.0 %'])
    const times = { 0: '0 ms', 1.2345: '1.23 ms', 999: '999 ms', 1000: '1 s', 1234: '1.23 s', 59999: '60 s', 60000: '1 min', 3599000: '60 min', 3600000: '1 h', 4444444: '1.23 h', 86400000: '24 h' }
    for (const [ms, text] of Object.entries(times)) assert.equal(time(Number(ms)), text)
  })

  it('is when the next job starts: in whole seconds from one on, and never too early below', function () {
    const texts = [0, 0.2, 999.2, 1000, 1499, 1500, 60499, undefined].map(untilMs => why({ because: 'rate', untilMs }).replace(/^rate: /, ''))
    assert.deepEqual(texts, [
      'next start in 0 ms', 'next start in 1 ms', 'next start in 1 s', 'next start in 1 s', 'next start in 1 s', 'next start in 2 s', 'next start in 1 min',
      'the next start is not known'
    ])
    assert.notEqual(why({ because: 'backoff', untilMs: 5000 }), why({ because: 'backoff' }))
    assert.match(why({ because: 'backoff', untilMs: 5400 }), / in 5 s$/)
    for (const because of ['delayed', 'hold', 'queue-hold', 'rate', 'queue-rate']) assert.match(why({ because, untilMs: 5400 }), /: next start in 5 s$/)
    assert.match(why({ because: 'backoff' }), / later$/)
  })

  it('is each reason, in words of its own, and none of what is not known', function () {
    const all = [
      'closed', 'paused', 'type-paused', 'outage', 'broker', 'delayed', 'backoff', 'cap', 'group-cap', 'hold', 'queue-hold', 'rate', 'queue-rate', 'slots',
      'scheduler', 'starting'
    ].map(because => why({ because, running: 2, untilMs: 5000 }))
    assert.equal(new Set(all).size, all.length)
    for (const text of all) assert(text.length > 5 && !text.includes('undefined'), text)
    for (const because of ['idle', undefined, 'another one']) assert.equal(why({ because }), '')
    assert.match(why({ because: 'cap', running: 1 }), /\b1 slot\b/)
    assert.match(why({ because: 'cap', running: 1000 }), /\b1,000 slots\b/)
    const holders = [{ type: 'a', running: 1200 }, { type: 'b', running: 1 }]
    assert.match(why({ because: 'slots', holders }), /: a 1,200, b 1$/)
    assert.deepEqual(reason({ because: 'slots', holders }).filter(part => part.name).map(({ name }) => name), ['a', 'b'])
  })

  it('is what stands out: how many, whose, and since when', function () {
    const holders = [['a', 3], ['b', 1]]
    const told = { type: 'a', waiting: 1200, untilMs: 5000, running: 4, share: 0.5, othersCount: 2, ofWaiting: 2000, ms: 65000, overdue: 3, holders }
    const kinds = [
      'paused', 'outage', 'broker', 'queue-hold', 'queue-rate', 'standstill', 'rate', 'hold', 'cap', 'group-cap', 'type-paused', 'backlog'
    ]
    for (const kind of kinds) assert.match(said({ kind, ...told }), /\b1,200\b/, kind)
    for (const kind of kinds.slice(0, -1)) assert.match(said({ kind, ...told, waiting: 1 }), /\b1 job waits\b/, kind)
    for (const kind of ['queue-hold', 'queue-rate', 'rate', 'hold']) assert.match(said({ kind, ...told }), /: next start in 5 s\.$/)
    assert.match(said({ kind: 'standstill', ...told }), / for 1\.08 min, .* a 3, b 1\.$/)
    assert.match(said({ kind: 'overdue', ...told }), /^3 of 4 slots .*: a 3, b 1\.$/)
    assert.match(said({ kind: 'overdue', ...told, overdue: 1000, running: 2000 }), /^1,000 of 2,000 /)
    for (const kind of ['flood', 'backlog', 'rate', 'hold', 'cap', 'group-cap', 'type-paused']) {
      assert.deepEqual(finding({ kind, ...told }).filter(part => part.name), [{ name: 'a' }], kind)
    }
    assert.match(said({ kind: 'flood', ...told, othersCount: 1000 }), / 1,000 other types wait\.$/)
    assert.match(said({ kind: 'flood', ...told }), /^a had 50\.0 % .* 4 slots now, while 2 other types wait\.$/)
    assert.match(said({ kind: 'flood', ...told, running: 1, othersCount: 1 }), / 1 slot now, while another type waits\.$/)
    assert.match(said({ kind: 'backlog', ...told }), /^a .*1,200 of the 2,000\b/)
    assert.match(said({ kind: 'cap', ...told }), /\b4 slots\b/)
    assert.match(said({ kind: 'closed' }), /closed/)
    const types = [['a', 30000], ['b', 5000]]
    assert.match(said({ kind: 'starving', types, count: 1200 }), /^1,200 types starve .*: a no start for 30 s, b no start for 5 s\.$/)
    assert.match(said({ kind: 'starving', types: types.slice(1), count: 1 }), /^A type starves .*: b no start for 5 s\.$/)
    const failing = { kind: 'failing', failures: 1201, attempts: 2402, types: [['a', 1000, 2000], ['b', 1, 2]] }
    assert.match(said(failing), /^1,201 of the 2,402 attempts .*: a 1,000 of 2,000, b 1 of 2\.$/)
    assert.match(said({ ...failing, types: [['a', 1, 2]] }), / have failed: a 1 of 2\.$/)
    assert.match(said({ ...failing, types: [] }), /failed\.$/)
  })

  it('is a name, of which all can be seen, and that is cut', function () {
    assert.deepEqual([visible(''), visible('a b'), visible('tenant-ä 中')], ['(none)', 'a b', 'tenant-ä 中'])
    assert.deepEqual([' a', 'a ', '  ', 'a  b', 'a   b c'].map(visible), ['␣a', 'a␣', '␣␣', 'a␣␣b', 'a␣␣␣b c'])
    assert.deepEqual(['\0', '\n', '\x1f', '\x7f', '\u202e', '\u00a0', '\u2028', '\u2029', '\u{e0041}', '\ud800'].map(visible), [
      '␀', '␊', '␟', '⟨U+007F⟩', '⟨U+202E⟩', '⟨U+00A0⟩', '⟨U+2028⟩', '⟨U+2029⟩', '⟨U+E0041⟩', '⟨U+D800⟩'
    ])
    assert.deepEqual(['x'.repeat(128), 'x'.repeat(129)].map(visible), ['x'.repeat(128), `${'x'.repeat(128)}…`])
    assert.equal(visible(`${'x'.repeat(127)}😀😀`), `${'x'.repeat(127)}…`) // no half of a character
    assert.equal(isolated('a b '), '\u2068a b␣\u2069')
  })
})
