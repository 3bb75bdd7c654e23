'use strict'

// What stands out, by what a queue says of itself and of its types.

const assert = require('node:assert/strict')
const { findingsOf } = require('../../lib/board/findings')

/** @param {object[]} rows of types, each with why it waits as `because` and `untilMs` */
function found (rows, { counts, snapshot, reason = null, slots = 4, closed = false } = {}) {
  const sum = name => rows.reduce((all, row) => all + (row[name] ?? 0), 0)
  const reading = {
    rows: rows.map(row => ({ waiting: 0, running: 0, overdue: 0, ...row })),
    counts: { paused: false, waiting: sum('waiting'), running: sum('running'), overdue: sum('overdue'), ...counts },
    snapshot: { standstillMs: 0, starving: [], totals: {}, ...snapshot },
    reason,
    detail: async ({ because, untilMs, ...row }) => ({ ...row, reason: because === undefined ? null : { because, untilMs } })
  }
  return findingsOf({ queue: { closed, concurrency: slots } }, reading)
}

const kinds = async (...args) => (await found(...args)).map(({ kind }) => kind)

describe('what stands out in a queue', function () {
  it('is nothing where all is as it should be', async function () {
    assert.deepEqual(await found([]), [])
    assert.deepEqual(await found([{ type: 'a', share: 0.3, running: 1 }, { type: 'b', share: 0.7, running: 3, waiting: 5, because: 'slots' }]), [])
    assert.deepEqual(await found([{ type: 'a', waiting: 1, because: 'starting', untilMs: 0 }, { type: 'b', waiting: 1, because: 'delayed' }]), [])
  })

  it('is that it is closed, or else paused', async function () {
    const counts = { paused: true, waiting: 3 }
    assert.deepEqual(await found([], { counts }), [{ kind: 'paused', waiting: 3 }])
    assert.deepEqual(await found([], { counts, closed: true }), [{ kind: 'closed' }])
  })

  it('is what holds back all types, once', async function () {
    for (const kind of ['outage', 'broker', 'queue-hold', 'queue-rate']) {
      const rows = ['a', 'b'].map(type => ({ type, waiting: 2, because: kind, untilMs: 7 }))
      assert.deepEqual(await found(rows), [{ kind, untilMs: 7, waiting: 4 }])
    }
    // of a queue without types
    assert.deepEqual(await found([], { counts: { waiting: 2 }, reason: { because: 'queue-hold', untilMs: 5 } }), [{ kind: 'queue-hold', untilMs: 5, waiting: 2 }])
    // nothing waits for it
    for (const because of ['outage', 'queue-hold', 'rate']) assert.deepEqual(await found([], { reason: { because, untilMs: 5 } }), [])
  })

  it('is a type that has half of the slots and more, while all are taken and others wait', async function () {
    const others = [{ type: 'b', share: 0.1, running: 1, waiting: 1 }, { type: 'c', waiting: 2 }, { type: 'd', running: 0 }]
    const flood = { type: 'a', share: 0.5, running: 3, waiting: 1 }
    assert.deepEqual(await found([...others, flood]), [{ kind: 'flood', type: 'a', share: 0.5, running: 3, slots: 4, othersCount: 2 }])
    assert.deepEqual(await kinds([...others, { ...flood, share: 0.49 }]), [])
    assert.deepEqual(await kinds([...others, { ...flood, running: 2 }]), []) // a slot is free
    assert.deepEqual(await kinds([flood, { type: 'b', share: 0.5, running: 1 }]), []) // nobody waits for it
    assert.deepEqual(await kinds([{ ...flood, running: 0 }, { type: 'b', share: 0.1, running: 4, waiting: 1 }]), []) // it has none now
    for (const running of [0, 3]) assert.deepEqual(await kinds([...others, { ...flood, running }], { slots: -1 }), []) // it is paused
    assert.deepEqual(await kinds([...others, flood], { slots: 0 }), []) // this process runs nothing
    assert.deepEqual(await kinds([], { counts: { running: 4, waiting: 1 } }), []) // nobody knows whose they are
    assert.deepEqual(await found([{ type: 'a', share: 0.5, running: 1 }, { type: 'b', waiting: 1 }], { slots: 1 }), [
      { kind: 'flood', type: 'a', share: 0.5, running: 1, slots: 1, othersCount: 1 }
    ])
  })

  it('is a type that has half of what waits and more, if that is much', async function () {
    const rows = waiting => [{ type: 'a', waiting }, { type: 'b', waiting: 100 }]
    assert.deepEqual(await found(rows(150)), [{ kind: 'backlog', type: 'a', waiting: 150, ofWaiting: 250 }])
    assert.deepEqual(await kinds(rows(50)), ['backlog']) // that of b
    assert.deepEqual(await kinds([...rows(60), { type: 'c', waiting: 40 }]), ['backlog']) // just half
    assert.deepEqual(await kinds([...rows(60), { type: 'c', waiting: 41 }]), [])
    assert.deepEqual(await kinds([{ type: 'a', waiting: 99 }, { type: 'b', waiting: 1 }]), [])
    assert.deepEqual(await kinds([{ type: 'a', waiting: 1000 }]), []) // there is no other one
  })

  it('is that nothing moves, and who holds the slots', async function () {
    const rows = ['a', 'b', 'c', 'd'].map((type, i) => ({ type, running: i + 1, waiting: 1 }))
    const holders = [['d', 4], ['c', 3], ['b', 2]]
    assert.deepEqual(await found(rows, { slots: 10, snapshot: { standstillMs: 10000 } }), [{ kind: 'standstill', ms: 10000, waiting: 4, running: 10, holders }])
    assert.deepEqual(await kinds(rows, { slots: 10, snapshot: { standstillMs: 9999 } }), [])
    assert.deepEqual(await kinds([{ type: 'a', running: 1, waiting: 1 }], { snapshot: { standstillMs: 10000 } }), ['standstill'])
    assert.deepEqual(await kinds([{ type: 'a', waiting: 1 }], { snapshot: { standstillMs: 60000 } }), []) // nobody runs
  })

  it('is who goes on although the time of the job is over', async function () {
    const rows = [{ type: 'a'.repeat(200), running: 2, overdue: 1 }, { type: 'x'.repeat(201), running: 2, overdue: 2 }]
    assert.deepEqual(await found(rows), [{ kind: 'overdue', overdue: 3, running: 4, holders: [[`${'x'.repeat(200)}…`, 2], ['a'.repeat(200), 1]] }])
  })

  it('is that most attempts fail, of all or of a type, and whose they are', async function () {
    const outcomes = (rows, totals) => found(rows, { snapshot: { totals } })
    const a = { type: 'a', done: 0, failed: 6, retried: 6 }
    const b = { type: 'b', done: 10, failed: 1, retried: 0 }
    assert.deepEqual(await outcomes([b, a], { done: 10, failed: 7, retried: 6 }), [
      { kind: 'failing', failures: 13, attempts: 23, types: [['a', 12, 12], ['b', 1, 11]] }
    ])
    assert.deepEqual(await outcomes([b, a], { done: 1000, failed: 7, retried: 6 }), [
      { kind: 'failing', failures: 13, attempts: 1013, types: [['a', 12, 12]] }
    ])
    // not whose attempts have all been done, nor who has made none
    const [{ types: blamed }] = await outcomes([{ type: 'c', done: 2, failed: 0, retried: 0 }, { type: 'z', dead: 50 }, a], { done: 2, failed: 6, retried: 6 })
    assert.deepEqual(blamed, [['a', 12, 12]])
    // just half, and just ten
    assert.equal((await outcomes([{ type: 'a', done: 10, failed: 4, retried: 6 }], { done: 10, failed: 4, retried: 6 })).length, 1)
    assert.deepEqual(await outcomes([{ type: 'a', done: 11, failed: 4, retried: 6 }], { done: 11, failed: 4, retried: 6 }), [])
    assert.deepEqual(await outcomes([{ type: 'a', done: 0, failed: 9, retried: 0 }], { done: 0, failed: 9, retried: 0 }), [])
    // spread over many types
    const few = Array.from({ length: 5 }, (_, i) => ({ type: `t${i}`, done: 0, failed: i, retried: 0 }))
    const [{ types }] = await outcomes(few, { done: 3, failed: 10, retried: 0 })
    assert.deepEqual(types, [['t4', 4, 4], ['t3', 3, 3], ['t2', 2, 2]])
    // of types that are not told
    assert.deepEqual(await outcomes([], { done: 0, failed: 10, retried: 0 }), [{ kind: 'failing', failures: 10, attempts: 10, types: [] }])
    // at a broker, of types that this process has nothing to do with
    assert.deepEqual(await outcomes([{ type: 'z', dead: 50 }], { done: 0, failed: 0, retried: 0 }), [])
  })

  it('is each of the types that something holds back alone, those with most jobs first, three of each', async function () {
    for (const kind of ['rate', 'hold', 'cap', 'group-cap', 'type-paused']) {
      const rows = [1, 4, 2, 3].map(waiting => ({ type: `t${waiting}`, waiting, running: 1, because: kind, untilMs: 10 * waiting }))
      assert.deepEqual(await found(rows, { slots: 10 }), [4, 3, 2].map(waiting => ({ kind, type: `t${waiting}`, waiting, running: 1, untilMs: 10 * waiting })))
    }
    // whoever has the larger share
    const shares = [1, 3, 2].map(waiting => ({ type: `t${waiting}`, waiting, share: 0.4 - waiting / 10, because: 'rate' }))
    assert.deepEqual((await found(shares)).map(({ type }) => type), ['t3', 't2', 't1'])
    // of a queue without types
    assert.deepEqual(await found([], { counts: { waiting: 1 }, reason: { because: 'hold', untilMs: 1 } }), [
      { kind: 'hold', type: '', waiting: 1, running: 0, untilMs: 1 }
    ])
  })

  it('is who starves, three of them by name', async function () {
    const starving = ['a', undefined, 'c', 'd'].map((type, i) => ({ type, sinceMs: i }))
    assert.deepEqual(await found([], { snapshot: { starving } }), [{ kind: 'starving', types: [['a', 0], ['', 1], ['c', 2]], count: 4 }])
  })

  it('has long names cut', async function () {
    const long = { type: 'x'.repeat(201), share: 0.9, running: 4, waiting: 100, done: 0, failed: 10, retried: 0, because: 'cap' }
    const snapshot = { starving: [{ type: long.type, sinceMs: 1 }], totals: { done: 0, failed: 10, retried: 0 } }
    const findings = await found([long, { type: 'b', waiting: 1 }], { snapshot })
    assert.deepEqual(findings.map(({ kind, type, types }) => [kind, type ?? types[0][0]]), ['failing', 'flood', 'backlog', 'cap', 'starving'].map(kind => [kind, `${'x'.repeat(200)}…`]))
  })

  it('is told by fifty types and no more, of which one may have a share, and the others only jobs', async function () {
    const others = Array.from({ length: 50 }, (_, i) => ({ type: `t${i}`, waiting: 1 }))
    for (const more of [{ share: 0.1 }, { running: 1 }, { waiting: 2 }]) {
      const last = { type: 'last', waiting: 1, because: 'rate', ...more }
      assert.deepEqual(await kinds([...others, last]), ['rate'])
      const rest = more.share === undefined ? others : others.map(row => ({ ...row, running: 1 }))
      assert.deepEqual(await kinds([last, ...rest], { slots: 99 }), ['rate'])
      assert.deepEqual(await kinds([...rest, last], { slots: 99 }), ['rate'])
    }
    const rows = Array.from({ length: 51 }, (_, i) => ({ type: `t${i}`, waiting: 51 - i, because: { 49: 'rate', 50: 'hold' }[i] }))
    assert.deepEqual(await kinds(rows), ['rate'])
  })

  it('is told by the fifty types that have most of the slots, or wait most', async function () {
    const rows = Array.from({ length: 60 }, (_, i) => ({ type: `t${i}`, waiting: i, because: i < 10 ? 'rate' : 'hold' }))
    assert.deepEqual(await kinds(rows), ['hold', 'hold', 'hold'])
    assert.deepEqual(await kinds(rows.map(row => ({ ...row, running: row.because === 'rate' ? 1 : 0 })), { slots: 99 }), ['rate', 'rate', 'rate', 'hold', 'hold', 'hold'])
    assert.deepEqual(await kinds(rows.map(row => ({ ...row, share: row.because === 'rate' ? 0.01 : 0 }))), ['rate', 'rate', 'rate', 'hold', 'hold', 'hold'])
  })
})
