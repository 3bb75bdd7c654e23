'use strict'

// What is read of messages and records, whatever they are.

const assert = require('node:assert')
const { Wakes } = require('../../lib/distributed/worker/wakes')
const { countOf, faultOf, jsonOf, readNotice, readWake } = require('../../lib/distributed/broker/received')
const { Answer } = require('../../lib/distributed/broker/takes')
const { FIELDS_TAKEN } = require('../../lib/distributed/broker/scripts/take')
const { Results } = require('../../lib/distributed/calls/results')
const { Troubles } = require('../../lib/distributed/broker/troubles')
const { errorText } = require('../../lib/job/error-text')
const { seeded, seedFromEnvironment } = require('../support/random')

describe('what comes from the broker', () => {
  it('is a word of types, of a job, or of a limit, or nothing', () => {
    assert.deepEqual(readWake([3, ['a', 'b']]), { workersCount: 3, names: ['a', 'b'] })
    assert.deepEqual(readWake([0, []]), { workersCount: 0, names: [] })
    assert.deepEqual(readWake({ cancelled: ['a', 'j'] }), { cancelled: ['a', 'j'] })
    assert.deepEqual(readWake({ changed: 'a', by: 'p' }), { changed: 'a', by: 'p' })
    assert.deepEqual(readWake({ freed: 'a' }), { freed: 'a' })
    for (const nothing of [
      undefined, null, 5, 'a', [], [1], [1, ['a', 5]], [-1, []], [0.5, []], [2 ** 48, []], {}, { changed: 5, by: 'p' }, { changed: 'a' }, { freed: [] },
      { cancelled: ['a'] }, { cancelled: ['a', 5] }, { cancelled: 'ab' }
    ]) {
      assert.equal(readWake(nothing), undefined)
    }
  })

  it('is a notice of a result, or of an error, or nothing', () => {
    assert.deepEqual(readNotice(['a:j', '[1]']), { id: 'a:j', result: [1] })
    assert.deepEqual(readNotice(['a:j', 'null', null]), { id: 'a:j', result: null })
    const { id, error } = readNotice(['a:j', null, errorText(Object.assign(new RangeError('no'), { code: 'E_OWN' }))])
    assert.deepEqual([id, error.name, error.message, error.code], ['a:j', 'RangeError', 'no', 'E_OWN'])
    for (const nothing of [
      undefined, null, 5, {}, [], [5, '1'], ['a:j'], ['a:j', 5], ['a:j', '{'], ['a:j', null, 5], ['a:j', '1', {}]
    ]) assert.equal(readNotice(nothing), undefined)
  })

  it('is an error even if nobody can read which', () => {
    for (const text of [
      '', '{', 'null', '5', '{}', '{"name":"a"}', '{"name":5,"message":"a"}', '{"name":"a","message":"b","code":{}}'
    ]) assert.match(faultOf(text).message, /cannot be read/)
    assert.equal(faultOf(errorText(new Error('own'))).message, 'own')
  })

  it('is a count or none', () => {
    assert.deepEqual([5, 0, -1, 0.5, NaN, Infinity, '5', undefined].map(countOf), [5, 0, 0, 0, 0, 0, 0, 0])
  })

  it('is a job, whatever its record says', () => {
    const fields = record => FIELDS_TAKEN.map(name => record[name] ?? null)
    const read = (record, takenAt) => new Answer([fields(record), 'j', 0, 0, 'g', 0, 0, 0, '', takenAt], 5).job
    const rest = read({ atm: 'a', stc: '-1', ats: '2', timestamp: 'a', opts: '{"delay":"a"}' })
    assert.deepEqual(rest, {
      data: '{}', opts: { delay: 'a' }, dueAt: Infinity, takenAt: 0, attemptsMade: 0, attemptsStarted: 2, stalledCounter: 0, hasKey: false, cost: undefined
    })
    assert.deepEqual(read({ data: '{"payload":1}', atm: '1', stc: '2', ats: '3', timestamp: '4', opts: '{"delay":7}', key: 'k.a' }, '20'), {
      data: '{"payload":1}', opts: { delay: 7 }, dueAt: 11, takenAt: 20, attemptsMade: 1, attemptsStarted: 3, stalledCounter: 2, hasKey: true, cost: undefined
    })
    for (const opts of ['{', 'null', '5', '[]']) assert.equal(read({ opts, timestamp: '4' }).dueAt, 4)
    assert.equal(read({ timestamp: '4', due: '9' }).dueAt, 9)
  })

  it('never throws, and changes nothing but what it says, whatever it is', () => {
    const scalars = [null, true, -1, 0, 1, 2 ** 47, 1e300, '', 'a', '%zz', 'a:j', '{', '1', '__proto__', 'x'.repeat(2000)]
    const seed = seedFromEnvironment()
    const { below, chance, pick } = seeded(seed)
    const valueOf = depth => {
      if (depth === 0 || chance(0.4)) return pick(scalars)
      const values = Array.from({ length: below(4) }, () => valueOf(depth - 1))
      return chance(0.6)
        ? values
        : Object.fromEntries(
          values.map(value => [pick(['__proto__', 'changed', 'by', 'cancelled', 'freed', 'length', 'constructor']), value])
        )
    }
    const heard = []
    const broker = { partitions: [], placeOf: name => heard.push(name) && undefined }
    const crew = { cancelled: (place, name) => heard.push(name), changed: () => {}, freed: () => {} }
    const wakes = new Wakes({ broker, crew, scouts: { tell: () => {} } })
    const results = new Results({ broker: {}, records: {} }, { token: 'me' })
    const settled = []
    results.add({ idOf: () => 'a:j' }, 'j', (...args) => settled.push(args))
    for (let times = 0; times < 20000; times++) {
      const message = jsonOf(JSON.stringify(valueOf(4)))
      assert.equal(typeof wakes.hear({}, message), 'boolean', `SEED=${seed}`)
      assert.equal(typeof results.told(message), 'boolean', `SEED=${seed}`)
    }
    clearTimeout(wakes.lookTimer)
    results.close()
    assert(wakes.early.length > 0, 'some of them make sense')
    for (const name of [...wakes.early, ...heard]) assert.equal(typeof name, 'string')
    assert.equal(settled.length, 1)
    assert.deepEqual([{}.changed, {}.cancelled], [undefined, undefined])
  })
})

describe('troubles at the broker', () => {
  it('are told each time, and warned of once of each kind', async () => {
    const told = []
    const troubles = new Troubles('mails', error => told.push(error))
    const warnings = []
    const heard = ({ code, message }) => warnings.push([code, message])
    process.on('warning', heard)
    const cause = new Error('NOPERM no')
    troubles.refused('a look', cause)
    troubles.refused('jobs', cause, 'a')
    for (const what of ['a', 'b']) troubles.unreadable(what)
    await new Promise(resolve => setImmediate(resolve))
    process.off('warning', heard)
    assert.deepEqual(told.map(({ code, cause, message, type }) => [code, cause, message, type]), [
      ['FAIRLANE_ERR_BROKER', cause, 'The broker refused a look: NOPERM no', undefined],
      ['FAIRLANE_ERR_BROKER', cause, 'The broker refused jobs: NOPERM no', 'a']
    ])
    assert.equal(Object.hasOwn(told[0], 'type'), false)
    assert.deepEqual(warnings, [
      ['FAIRLANE_WARN_BROKER', 'The queue mails: The broker refused a look: NOPERM no'],
      ['FAIRLANE_WARN_BROKER', 'The queue mails: Ignored what cannot be read at the broker: a.']
    ])
  })
})
