'use strict'

// How runners are called, by each `settleBy`; what they are told of their job; how they settle it.

const { equal, expect, reasonOf } = require('./expect')

exports.runners = function ({ test, has }) {
  test("settle by 'promise': they get the payload and the context, and nothing else", [], async stage => {
    const calls = []
    const queue = await stage.open(async (...args) => {
      calls.push(args)
      return args[0] + 1
    }, { settleBy: 'promise' })
    equal(await queue.add(1), 2)
    const [[payload, context, ...rest]] = calls
    equal([payload, context.attempt, rest.length], [1, 1, 0])
  })

  test("settle by 'promise': a value that is none is the result", [], async stage => {
    const queue = await stage.open(payload => payload * 2, { settleBy: 'promise' })
    equal(await queue.add(4), 8)
  })

  test("settle by 'either': they get done, too, and the first end counts", [], async stage => {
    const ends = {
      called: (payload, done) => { done(null, payload) },
      later: (payload, done) => { setTimeout(done, 0, null, payload) },
      promised: async payload => payload,
      thenable: payload => ({ then: resolve => resolve(payload) }),
      twice: (payload, done) => { done(null, payload); done(null, 'twice') },
      both: async (payload, done) => { done(null, payload); return 'both ways' }
    }
    const queue = await stage.open((payload, done, context) => {
      expect(context.attempt === 1 && typeof done === 'function', 'a runner must get (payload, done, context)')
      return ends[payload](payload, done)
    }, { settleBy: 'either' })
    for (const name of Object.keys(ends)) equal(await queue.add(name), name)
  })

  test("settle by 'callback': what they return is ignored", [], async stage => {
    const queue = await stage.open((payload, done, { attempt }) => {
      setTimeout(done, 0, null, [payload, attempt])
      return Promise.resolve('ignored')
    }, { settleBy: 'callback' })
    equal(await queue.add('a'), ['a', 1])
  })

  test('fail by a throw, a rejection, or done: the caller gets name, message and code of the error', [], async stage => {
    const own = () => Object.assign(new RangeError('expected'), { code: 'E_OWN' })
    const fails = {
      throws () { throw own() },
      rejects: async () => { throw own() },
      calls: (payload, done) => { done(own()) }
    }
    const queue = await stage.open((payload, done) => fails[payload](payload, done), { settleBy: 'either', maxAttempts: 1 })
    for (const name of Object.keys(fails)) {
      const error = await reasonOf(queue.add(name))
      equal([error instanceof Error, error?.name, error?.message, error?.code], [true, 'RangeError', 'expected', 'E_OWN'], name)
    }
  })

  test('give results, and fail, with what the caller gets as it is', 'valuesAsTheyAre', async stage => {
    const values = [undefined, new Map([[1, 2]]), Object.assign(new RangeError('expected'), { more: 1 }), 'text']
    const queue = await stage.open((n, done) => n < 2 ? done(null, values[n]) : done(values[n]), { settleBy: 'callback', maxAttempts: 1 })
    const told = [await queue.add(0), await queue.add(1), await reasonOf(queue.add(2)), await reasonOf(queue.add(3))]
    expect(told.every((value, n) => value === values[n]), 'the caller must get the value itself')
  })

  test('give results that become JSON, and fail with what becomes an error', [], async stage => {
    if (has('valuesAsTheyAre')) return
    const values = [undefined, { at: new Date(0) }, Object.assign(new RangeError('expected'), { code: 'E', more: 1 }), 'text']
    const queue = await stage.open((n, done) => n < 2 ? done(null, values[n]) : done(values[n]), { settleBy: 'callback', maxAttempts: 1 })
    equal([await queue.add(0), await queue.add(1)], [null, { at: '1970-01-01T00:00:00.000Z' }])
    const shown = ({ name, message, code, more }) => [name, message, code, more]
    equal(shown(await reasonOf(queue.add(2))), ['RangeError', 'expected', 'E', undefined])
    equal(shown(await reasonOf(queue.add(3))), ['Error', 'text', undefined, undefined])
  })

  test('are told of their job', [], async stage => {
    const { gate, queue } = await stage.openGated({ scheduler: 'equal' })
    stage.add(queue, 1, { type: 't', timeoutMs: 60000 })
    await gate.until(1)
    const [{ context: { type, attempt, signal, progress } }] = gate.started
    equal([type, attempt, signal.aborted, typeof progress], ['t', 1, false, 'function'])
    gate.release()
  })

  test('have no id and no schedule to be told of', [], async stage => {
    if (has('ids')) return
    const { gate, queue } = await stage.openGated()
    queue.push(1)
    await gate.until(1)
    const [{ context: { id, schedule } }] = gate.started
    equal([id, schedule], [undefined, undefined])
    gate.release()
  })

  test('are told the id that push gave', 'ids', async stage => {
    const { gate, queue } = await stage.openGated()
    const ids = [await queue.push(1), await queue.push(2)]
    await gate.until(2)
    equal(gate.started.map(({ context }) => context.id), ids)
    equal(gate.started[0].context.schedule, undefined)
    gate.release(2)
  })

  test('have a type without a scheduler', 'typesWithoutScheduler', async stage => {
    const { gate, queue } = await stage.openGated()
    await queue.pushType('t', 1)
    await gate.until(1)
    equal(gate.started[0].context.type, 't')
    gate.release()
  })

  test('may say how far they are, whoever listens', [], async stage => {
    const queue = await stage.open((payload, done, { progress }) => {
      progress(50)
      done(null, payload)
    }, { settleBy: 'callback', scheduler: 'equal' })
    equal(await queue.add(1, { type: 't' }), 1)
    const told = stage.listen(queue, 'progress')
    equal(await queue.add(2, { type: 't' }), 2)
    const [[, { type, payload, attempt, value }], ...more] = told
    equal([type, payload, attempt, value, more.length], ['t', 2, 1, 50, 0])
  })
}
