'use strict'

// Options that all engines take, their defaults, and what is wrong of them.

const { equal, expect, reasonOf, rejects, throws } = require('./expect')

const WRONG = [
  { maxAttempts: 0 }, { maxAttempts: 1.5 }, { backoffMs: -1 }, { backoffMs: 'x' }, { timeoutMs: -1 }, { timeoutMs: 'x' }, { onTimeout: 'x' }, { maxWaitMs: 'x' },
  { maxWaitMs: 0 }, { priorityMs: -1 }, { settleBy: 'x' }, { maxTypes: 0 }, { signal: {} }, { clock: {} }, { asyncContext: 'x' },
  { maxWaitingPerType: -1 }, { rate: { limit: 0, intervalMs: 1000 } }, { rate: { limit: 1 } }, { rate: 5 }, { rate: [] },
  { ratePerType: { limit: 1, intervalMs: -1 } }, { observers: 1 },
  { maxAttempt: 1 }, { whatever: undefined }
]

const WRONG_OF_JOBS = [
  1, null, [], { type: 't', unshift: 1 }, { type: 't', signal: {} }, { type: 't', delayMs: -1 }, { type: 't', delayMs: 'x' }, { type: 't', maxAttempts: 0 },
  { type: 't', timeoutMs: 0 }, { type: 't', maxWaitMs: -5 }, { type: 't', priority: 16 }, { type: 't', priority: 1 }, { type: 't', keyUntil: 'settled' },
  { type: 't', onDuplicate: 'join' }, { type: 't', key: 'k', onDuplicate: 'x' }, { type: 't', key: 'k', keyUntil: 'x' },
  { type: 't', key: 'k', maxDelayMs: -1 }, { type: 't', delay: 5 }
]

exports.options = function ({ test }) {
  test('that are wrong or unknown are refused', [], async stage => {
    for (const options of WRONG) await stage.refuses({ scheduler: 'equal', ...options }, 'OPTION', JSON.stringify(options))
  })

  test('have a name that is nearly another one: that is said', [], async stage => {
    const { message } = await stage.refuses({ maxAttempt: 5 }, 'OPTION')
    expect(message.includes("'maxAttempts'"), message)
  })

  test('have codes of their own for runner, concurrency and scheduler', [], async stage => {
    for (const concurrency of [0, -1, 1.5, 'x', NaN]) await stage.refuses({ concurrency }, 'CONCURRENCY')
    for (const scheduler of ['unfair', {}]) await stage.refuses({ scheduler }, 'SCHEDULER')
    for (const runner of [undefined, 5, 'x', {}]) await rejects((async () => stage.open(runner, {}))(), 'RUNNER')
  })

  test('of a scheduler that is given none are refused', [], async stage => {
    const error = await reasonOf(stage.openGated({ schedulerOptions: { maxTypeCap: 2 } }))
    expect(/^FAIRLANE_ERR_(OPTION|SCHEDULER)$/.test(error?.code), `it was refused with ${error?.code}`)
  })

  test('are taken by all engines together', [], async stage => {
    const queue = await stage.open(async payload => payload, {
      concurrency: '4',
      settleBy: 'promise',
      scheduler: 'equal',
      schedulerOptions: { maxTypeCap: 3, weights: { a: 2 } },
      maxTypes: 100,
      maxAttempts: 3,
      backoffMs: 5,
      timeoutMs: 60000,
      onTimeout: 'release',
      maxWaitMs: 60000,
      maxWaitingPerType: 50,
      priorityMs: 1000,
      rate: [{ limit: 100, intervalMs: 1000 }, { limit: 1000, intervalMs: 60000 }],
      ratePerType: new Map([['a', { limit: 50, intervalMs: 1000 }]]),
      signal: new AbortController().signal,
      asyncContext: 'queue'
    })
    equal(await queue.add(5, { type: 'a', priority: 3 }), 5)
    equal(queue.concurrency, 4)
  })

  test('of jobs that are wrong or unknown throw at once', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const options of WRONG_OF_JOBS) throws(() => queue.add(1, options), 'ARGUMENT', `add(1, ${JSON.stringify(options)})`)
    for (const type of [null, Symbol('a'), {}]) throws(() => queue.add(1, { type }), 'TYPE', 'add of a wrong type')
    throws(() => queue.add(1), 'TYPE_REQUIRED', 'add without a type')
    equal(queue.stats().accepted, 0)
  })

  test('of calls that are wrong or unknown throw at once', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    const wrong = {
      close: [{ wait: 1 }, { timeoutMs: -1 }, { drain: 1 }, 5],
      clear: [{ types: 'a' }, { dead: 1 }, 5],
      counts: [null],
      types: [{ limit: 0 }, { most: 1 }, 5],
      map: [5],
      setRates: [{ rates: null }, 5]
    }
    for (const [method, values] of Object.entries(wrong)) {
      for (const value of values) throws(() => queue[method](...method === 'map' ? [[], value] : [value]), method === 'counts' ? 'TYPE' : 'ARGUMENT', method)
    }
    for (const ms of [-1, NaN, 'x', Infinity]) {
      throws(() => queue.hold(ms), 'ARGUMENT', 'hold')
      throws(() => queue.holdType('a', ms), 'ARGUMENT', 'holdType')
    }
    for (const method of ['pauseType', 'resumeType', 'isTypePaused', 'holdType']) {
      for (const type of [undefined, null, Symbol('a')]) throws(() => queue[method](type, 1), 'TYPE', method)
    }
    for (const concurrency of ['x', 1.5]) throws(() => { queue.concurrency = concurrency }, 'CONCURRENCY')
  })

  test('of calls about single jobs that are wrong throw at once', ['lookup', 'deadLetters'], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const method of ['get', 'cancel', 'retryDead', 'deleteDead', 'wait']) {
      for (const id of [undefined, null, {}, Symbol('id'), NaN]) throws(() => queue[method](id), 'ARGUMENT', method)
    }
    for (const options of [null, 5, { limit: 0 }, { limit: 1.5 }, { most: 5 }]) throws(() => queue.deadLetters(options), 'ARGUMENT', 'deadLetters')
    throws(() => queue.deadLetters({ type: {} }), 'TYPE', 'deadLetters')
  })

  test('name serializers, and wrong ones are refused', 'serialize', async stage => {
    for (const serialize of [{}, null, 'xml']) await stage.refuses({ serialize }, 'OPTION', `serialize: ${JSON.stringify(serialize)}`)
  })
}
