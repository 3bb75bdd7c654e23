'use strict'

// add, push and its like, pushAll and map: what they give, and how they refuse.

const { equal, expect, reasonOf, rejects, throws } = require('./expect')

exports.intake = function ({ test, has }) {
  test('add gives the result', [], async stage => {
    const queue = await stage.open(async payload => [payload], { settleBy: 'promise' })
    equal(await queue.add('a'), ['a'])
    equal(await queue.add({ n: [1] }, { delayMs: 1, unshift: true }), [{ n: [1] }])
  })

  test('push and its like take a callback, and give the queue', 'callbacks', async stage => {
    const queue = await stage.open(async payload => payload, { settleBy: 'promise', scheduler: 'equal' })
    const told = await new Promise(resolve => {
      const results = []
      const note = (err, result) => { if (results.push([err, result]) === 2) resolve(results) }
      expect(queue.pushType('t', 1, note) === queue, 'pushType must return the queue')
      expect(queue.unshiftType('t', 2, note) === queue, 'unshiftType must return the queue')
    })
    equal(told.map(([err, result]) => [err ?? null, result]), [[null, 2], [null, 1]])
  })

  test('push and its like give ids', 'ids', async stage => {
    const { gate, queue } = await stage.openGated()
    const pushes = [queue.push(1), queue.unshift(2), queue.pushType('t', 3), queue.unshiftType('t', 4, { delayMs: 1 })]
    const ids = await Promise.all(pushes)
    equal(new Set(ids).size, 4)
    equal(ids.map(id => typeof id), ids.map(() => has('risingIds') ? 'number' : 'string'))
    if (has('risingIds')) expect(ids.every((id, n) => n === 0 || id > ids[n - 1]), `the ids do not rise: ${ids}`)
    await gate.until(4)
    gate.release(4)
  })

  for (const [name, ...args] of [['push', 1], ['unshift', 1], ['pushType', 't', 1], ['unshiftType', 't', 1]]) {
    test(`${name} refuses a callback, and names add`, 'ids', async stage => {
      const { queue } = await stage.openGated()
      const { message } = throws(() => queue[name](...args, throws), 'ARGUMENT')
      expect(/\badd\b/.test(message), message)
    })
  }

  test('push and its like want a type where there is a scheduler', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    for (const name of ['push', 'unshift']) throws(() => queue[name](1), 'TYPE_REQUIRED', name)
    for (const type of [undefined, null, Symbol('a'), {}]) for (const name of ['pushType', 'unshiftType']) throws(() => queue[name](type, 1), 'TYPE', name)
  })

  test('types are made into strings', [], async stage => {
    const queue = await stage.open((payload, done, { type }) => done(null, type), { settleBy: 'callback', scheduler: 'equal' })
    const types = [5, '', '__proto__', 'constructor', '{a}:b', ' ', '😀', true]
    equal(await Promise.all(types.map(type => queue.add(1, { type }))), types.map(String))
  })

  test('a job that was given no type has none', [], async stage => {
    const queue = await stage.open((payload, done, { type }) => done(null, typeof type), { settleBy: 'callback' })
    equal(await queue.add(1), has('noTypeAtAll') ? 'undefined' : 'string')
    equal(await queue.add(1, { delayMs: 1 }), has('noTypeAtAll') ? 'undefined' : 'string')
  })

  test('types and keys that cannot be written are refused', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal' })
    queue.pause()
    const calls = [['TYPE', { type: '\ud800' }], ['ARGUMENT', { type: 't', key: '\ud800' }]]
    for (const [code, options] of calls) {
      if (has('anyText')) stage.add(queue, 1, options)
      else throws(() => queue.add(1, options), code)
    }
    if (!has('anyText')) equal((await reasonOf((async () => queue.add(1, { type: 'x'.repeat(70000) }))()))?.code, 'FAIRLANE_ERR_TOO_LARGE')
    equal(queue.stats().accepted, has('anyText') ? 2 : 0)
  })

  test('a type that has as much waiting as it may gets no more, and is told when to come back', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', maxWaitingPerType: 1 })
    queue.pause()
    stage.add(queue, 1, { type: 't' })
    await queue.flush()
    const { type, waiting, limit, retryAfterMs } = await rejects(queue.add(2, { type: 't' }), 'TYPE_FULL')
    equal([type, waiting, limit, retryAfterMs > 0], ['t', 1, 1, true])
    stage.add(queue, 3, { type: 'u' })
    await queue.flush()
    equal([queue.stats().accepted, queue.stats().rejected], [2, 1])
  })

  test('a type that has as many delayed as may wait gets no more', [], async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', maxWaitingPerType: 2 })
    for (let n = 0; n < 2; n++) {
      stage.add(queue, n, { type: 't', delayMs: 600000 })
      await queue.flush()
    }
    const { waiting } = await rejects(queue.add(2, { type: 't' }), 'TYPE_FULL')
    equal(waiting, 2)
  })

  test('a queue that has as much waiting as it may refuses jobs', 'maxWaiting', async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 1, maxWaiting: 1 })
    stage.add(queue, 1)
    await gate.until(1)
    stage.add(queue, 2)
    const { waiting, limit } = await rejects(queue.add(3), 'QUEUE_FULL')
    equal([waiting, limit], [1, 1])
  })

  test('a queue that is closed refuses jobs', [], async stage => {
    const { queue } = await stage.openGated()
    await queue.close({ timeoutMs: 0 })
    await rejects(queue.add(1), 'CLOSED')
    equal(queue.closed, true)
  })

  test('pushAll gives the ids of all, in their order', 'pushAll', async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    queue.pause()
    const ids = await queue.pushAll([{ type: 'a', payload: 1 }, { type: 'b', payload: 2, delayMs: 600000 }, { type: 'a', payload: 3, key: 'k' }, { type: 'a', payload: 4, key: 'k' }])
    equal([ids.length, new Set(ids).size, ids[2] === ids[3]], [4, 3, true])
    equal(await queue.pushAll([]), [])
    const found = await Promise.all(ids.map(id => queue.get(id)))
    equal(found.map(({ type, payload, state }) => [type, payload, state]), [['a', 1, 'waiting'], ['b', 2, 'delayed'], ['a', 3, 'waiting'], ['a', 3, 'waiting']])
    equal(gate.started.length, 0)
  })

  test('pushAll takes nothing in if one is refused', 'pushAll', async stage => {
    const { queue } = await stage.openGated({ scheduler: 'equal', maxWaitingPerType: 2 })
    queue.pause()
    const error = await rejects(queue.pushAll([1, 2, 3].map(payload => ({ type: 't', payload }))), 'TYPE_FULL')
    equal([error.type, error.limit], ['t', 2])
    equal([(await queue.counts()).waiting, queue.stats().accepted, queue.stats().rejected], [0, 0, 3])
    for (const jobs of [5, [5], [{ type: 't', payload: 1, delay: 1 }]]) throws(() => queue.pushAll(jobs), 'ARGUMENT')
    throws(() => queue.pushAll([{ payload: 1 }]), 'TYPE_REQUIRED')
  })

  test('map gives the results in the order of the source, and takes of it only what it needs', [], async stage => {
    const queue = await stage.open(async n => n * n, { settleBy: 'promise', scheduler: 'equal', concurrency: 2 })
    let taken = 0
    function * source () { for (let n = 1; n <= 100; n++) { taken++; yield n } }
    const squares = []
    for await (const square of queue.map(source(), { type: 't', maxPending: 3 })) {
      squares.push(square)
      expect(taken <= squares.length + 4, `${taken} values were taken for ${squares.length} results`)
      if (squares.length === 10) break
    }
    equal(squares, Array.from({ length: 10 }, (_, n) => (n + 1) ** 2))
  })

  test('map gives failures, too, if it is to, or ends with the first', [], async stage => {
    const runner = async n => {
      if (n === 2) throw new Error('expected')
      return n
    }
    const queue = await stage.open(runner, { settleBy: 'promise', maxAttempts: 1, concurrency: 1 })
    const all = []
    for await (const { status, value, reason } of queue.map([1, 2, 3], { settled: true })) all.push([status, value ?? reason.message])
    equal(all, [['fulfilled', 1], ['rejected', 'expected'], ['fulfilled', 3]])
    const some = []
    const error = await reasonOf((async () => { for await (const n of queue.map([1, 2, 3])) some.push(n) })())
    equal([some, error?.message], [[1], 'expected'])
  })

  test('map gives results as jobs end, if the order is no matter', [], async stage => {
    const { gate, queue } = await stage.openGated({ concurrency: 2 })
    const results = queue.map([1, 2], { ordered: false, maxPending: 2 })
    const first = results.next()
    await gate.until(2)
    const [one, two] = gate.started
    two.done(null, 2)
    equal((await first).value, 2)
    one.done(null, 1)
    equal((await results.next()).value, 1)
    equal((await results.next()).done, true)
  })

  test('any payload arrives as it is', 'anyPayload', async stage => {
    const seen = []
    const queue = await stage.open(async payload => { seen.push(payload) }, { settleBy: 'promise' })
    const payloads = [undefined, null, equal, Symbol('s'), new Map()]
    for (const payload of payloads) await queue.add(payload)
    expect(payloads.every((payload, n) => seen[n] === payload), 'a runner must get the payload itself')
  })

  test('payloads are those that the serializer gives, and what it refuses is not taken in', 'serialize', async stage => {
    const seen = []
    const open = async serialize => stage.open(async payload => { seen.push(payload) }, { settleBy: 'promise', ...serialize })
    const asDefault = await open({})
    await asDefault.add({ at: new Date(0) })
    equal(typeof seen[0].at, has('structuredByDefault') ? 'object' : 'string')
    throws(() => asDefault.add(equal), 'ARGUMENT')
    equal(asDefault.stats().accepted, 1)
    const structured = await open({ serialize: 'structured' })
    await structured.add({ set: new Set([1]) })
    equal(seen[1].set?.has(1), true)
    const json = await open({ serialize: 'json' })
    await json.add([undefined, 'ä'])
    equal(seen[2], [null, 'ä'])
    for (const payload of [undefined, null, '']) await json.add(payload)
    equal(seen.slice(3), [undefined, null, ''])
  })
}
