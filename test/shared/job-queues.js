'use strict'

// What queues on disk and at a broker have in common: one suite, for durable() and distributed().

const assert = require('node:assert')
const { once } = require('node:events')
const { Postponed, Throttled } = require('../../lib/job/postponing')
const { once: measured } = require('../support/attempts')
const gates = require('../support/gates')
const { revoked } = require('../support/proxies')
const { quiet, nextMs, turn } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')

const coded = (code, message = 'no') => Object.assign(new RangeError(message), { code })
const code = name => ({ code: `FAIRLANE_ERR_${name}` })

module.exports = { behaveAsJobQueues }

/**
 * To be called in describe().
 * @param {object} engine
 *   open(runner, options)   opens a queue at the place of this test, which is empty at first; closed after it
 *   unknownIds              ids of jobs that never were
 */
function behaveAsJobQueues ({ open, unknownIds }) {
  let gate

  beforeEach(() => { gate = gates() })

  /** A queue whose runner has gates. */
  const openGated = options => open(gate.runner, { settleBy: 'callback', backoffMs: 1, ...options })

  /** What listeners are told, by event. */
  const listen = (queue, ...names) => {
    const told = []
    for (const name of names) queue.on(name, about => told.push([name, about]))
    return told
  }

  describe('attempts', () => {
    it('are told which one they are, and are made after backoffMs until one is well', async () => {
      const asked = []
      const backoffMs = (attempt, error) => {
        asked.push([attempt, error.message])
        return attempt
      }
      const seen = []
      const queue = await open(async (payload, { id, type, attempt, signal }) => {
        seen.push([payload, id, type, attempt, signal.aborted])
        if (attempt < 3) throw new Error(`failed ${attempt}`)
        return payload.n
      }, { backoffMs })
      const told = listen(queue, 'retry', 'done', 'failed')
      const id = await queue.pushType('t', { n: 5 })
      await once(queue, 'done')
      assert.deepEqual(seen, [1, 2, 3].map(attempt => [{ n: 5 }, id, 't', attempt, false]))
      assert.deepEqual(asked, [[1, 'failed 1'], [2, 'failed 2']])
      assert.deepEqual(told.map(([event, { error, payload, ...about }]) => [event, error?.message, about]), [
        ['retry', 'failed 1', { id, type: 't', attempt: 1, delayMs: 1 }],
        ['retry', 'failed 2', { id, type: 't', attempt: 2, delayMs: 2 }],
        ['done', undefined, { id, type: 't', attempt: 3, result: 5 }]
      ])
      assert.equal(queue.stats().retried, 2)
      assert.equal(queue.stats().done, 1)
    })

    it('wait a second after the first one by default, and if backoffMs throws or gives no time', async () => {
      const uncaught = captureUncaught()
      try {
        for (const backoffMs of [undefined, () => { throw new Error('mine') }, () => NaN]) {
          const queue = await open(async () => { throw new Error('no') }, { backoffMs })
          await queue.pushType('t', 1)
          const [{ delayMs }] = await once(queue, 'retry')
          assert.equal(delayMs, 1000)
          await queue.clear()
          await queue.close()
        }
        await uncaught.until(2)
        assert.deepEqual(uncaught.seen.map(({ code, message }) => code ?? message), ['mine', 'FAIRLANE_ERR_OPTION'])
      } finally {
        uncaught.release()
      }
    })

    it('are not made again if backoffMs says Infinity', async () => {
      const queue = await open(async (payload, { attempt }) => { throw new Error(attempt === 1 ? 'once' : 'for good') }, {
        backoffMs: (attempt, { message }) => message === 'for good' ? Infinity : 1
      })
      const told = listen(queue, 'retry', 'failed')
      const id = await queue.pushType('t', 1)
      await once(queue, 'failed')
      assert.deepEqual(told.map(([event, { id, attempt, error }]) => [event, id, attempt, error.message]), [['retry', id, 1, 'once'], ['failed', id, 2, 'for good']])
      const [{ attempts, error }] = await queue.deadLetters()
      assert.deepEqual([attempts, error.message, queue.stats().retried], [2, 'for good', 1])
    })

    it('fail by the time that they take, and their runners are told', async () => {
      const queue = await openGated({ timeoutMs: 20, maxAttempts: 2 })
      const failed = once(queue, 'failed')
      await queue.pushType('t', 1)
      await gate.until(2)
      const [{ attempt, error }] = await failed
      assert.deepEqual([attempt, error.code], [2, 'FAIRLANE_ERR_TIMEOUT'])
      assert.deepEqual(gate.started.map(({ context }) => context.signal.reason.code), ['FAIRLANE_ERR_TIMEOUT', 'FAIRLANE_ERR_TIMEOUT'])
      gate.release(2)
      await queue.onIdle()
      assert.equal(queue.stats().misuse, 0)
    })

    it('end as a runner does: by a call, a promise, or a throw', async () => {
      const ends = {
        called: (payload, done) => done(null, payload),
        both: async (payload, done) => done(null, payload),
        later: (payload, done) => { setImmediate(done, null, payload) },
        promised: async payload => payload,
        thenable: payload => ({ then: resolve => resolve(payload) }),
        twice: (payload, done) => { done(null, payload); done(null, payload) },
        thrown: () => { throw new Error('no') },
        rejected: async () => { throw undefined } // eslint-disable-line no-throw-literal
      }
      const queue = await open((name, done) => ends[name](name, done), { settleBy: 'either', maxAttempts: 1 })
      const told = listen(queue, 'done', 'failed')
      for (const name of Object.keys(ends)) await queue.pushType('t', name)
      await queue.onIdle()
      assert.deepEqual(told.map(([event, { result, error }]) => `${event} ${result ?? error.message}`).sort(), [
        'done both', 'done called', 'done later', 'done promised', 'done thenable', 'done twice',
        'failed The runner threw or rejected with undefined: use an Error', 'failed no'
      ])
      assert.equal(queue.stats().misuse, 1)
    })

    for (const [push, unshift, ...type] of [['pushType', 'unshiftType', 't'], ['push', 'unshift']]) {
      it(`start in the order of ${push}(), jobs of ${unshift}() before them`, async () => {
        const queue = await openGated({ concurrency: 1 })
        queue.pause()
        for (const payload of [1, 2]) await queue[push](...type, payload)
        for (const payload of [3, 4]) await queue[unshift](...type, payload)
        queue.resume()
        for (let count = 1; count <= 4; count++) {
          await gate.until(count)
          gate.release(1)
        }
        await queue.onIdle()
        assert.deepEqual(gate.payloads, [4, 3, 1, 2])
      })
    }

    it('are not made of a job that waited too long', async () => {
      const queue = await openGated({ maxWaitMs: 20 })
      queue.pause()
      const cancelled = once(queue, 'cancelled')
      const id = await queue.pushType('t', 1)
      const begin = Date.now()
      while (Date.now() - begin < 40) await quiet()
      queue.resume()
      const [{ error, id: itsId, type }] = await cancelled
      assert.deepEqual([itsId, type, error.code], [id, 't', 'FAIRLANE_ERR_MAX_WAIT'])
      assert.deepEqual([queue.stats().cancelled, gate.payloads], [1, []])
    })
  })

  describe('an attempt that does not count', () => {
    /** Jobs of which the first fails so, once, while others of its type and of another one wait for its slot. */
    async function failFirst (error) {
      const queue = await openGated({ scheduler: 'equal', concurrency: 1, maxAttempts: 1 })
      const told = listen(queue, 'retry', 'failed')
      const first = await queue.pushType('a', 'first')
      await gate.until(1)
      await queue.pushType('a', 'second')
      await queue.pushType('b', 'other')
      gate.open.shift().done(error)
      return { queue, told, first }
    }

    /**
     * Lets the jobs of failFirst() end one after the other.
     * @returns {Promise<boolean[]>} which starts of the type 'a' were those of the first job
     */
    async function firstsOf (error) {
      const { queue, told, first } = await failFirst(error)
      for (let count = 2; count <= 4; count++) {
        await gate.until(count)
        gate.release(1)
      }
      await queue.onIdle()
      const starts = gate.started.map(({ context }) => context)
      assert.deepEqual(starts.map(({ attempt }) => attempt), [1, 1, 1, 1])
      assert.deepEqual([told, queue.stats().retried], [[], 0])
      await queue.close()
      gate = gates()
      return starts.filter(({ type }) => type === 'a').map(({ id }) => id === first)
    }

    it('is one that fails with Throttled: its type is held, and it is the first of that', () => measured(async () => {
      // on a machine that is slow in that moment the hold may be over before the job is back
      assert.deepEqual(await firstsOf(new Throttled(50)), [true, true, false])
    }))

    it('is one that fails with Postponed: it comes again', async () => {
      assert.deepEqual((await firstsOf(new Postponed(50))).filter(Boolean), [true, true])
    })

    it('is one that fails with Postponed: others of its type go on meanwhile', async () => {
      const { queue, told, first } = await failFirst(new Postponed(600000))
      for (let count = 2; count <= 3; count++) {
        await gate.until(count)
        gate.release(1)
      }
      while ((await queue.get(first)).state === 'running') await turn()
      assert.equal(await queue.cancel(first), true)
      await queue.onIdle()
      assert.deepEqual(gate.payloads.sort(), ['first', 'other', 'second'])
      assert.deepEqual(told, [])
    })

    it('leaves the job there, which get() finds and cancel() ends', async () => {
      const queue = await openGated({ scheduler: 'equal', maxAttempts: 1 })
      const ids = await Promise.all(['a', 'b'].map(type => queue.pushType(type, type)))
      await gate.until(2)
      for (const { done, context } of gate.open.splice(0)) done(context.type === 'a' ? new Throttled(600000) : new Postponed(600000))
      for (const [i, state] of ['waiting', 'delayed'].entries()) {
        let found = await queue.get(ids[i])
        while (found.state === 'running') found = await queue.get(ids[i])
        assert.deepEqual([found.state, found.attempts, found.payload], [state, 0, 'ab'[i]])
        assert.equal(await queue.cancel(ids[i]), true)
        assert.equal(await queue.get(ids[i]), undefined)
      }
      await queue.onIdle()
      assert.equal(gate.started.length, 2)
    })

    it('comes of holdType() too, for as long as that says', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      const heldAt = Date.now()
      await queue.holdType('a', 50)
      await queue.pushType('a', 1)
      await gate.until(1)
      assert(Date.now() - heldAt >= 45, `after ${Date.now() - heldAt} ms`) // a broker has a clock of its own
      gate.release(1)
      await queue.onIdle()
    })

    it('ends by holdType() of 0 ms, and where nothing is held that is no mistake', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      await queue.holdType('a', 600000)
      await queue.pushType('a', 1)
      await queue.pushType('b', 2)
      await gate.until(1)
      await queue.holdType('a', 0)
      await gate.until(2)
      await queue.holdType('a', 0)
      gate.release(2)
      await queue.onIdle()
      assert.deepEqual(gate.payloads, [2, 1])
    })

    it('comes of holdType() too, while others go on', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      await queue.holdType('a', 600000)
      const held = await queue.pushType('a', 1)
      await queue.pushType('b', 2)
      await gate.until(1)
      gate.release(1)
      assert.equal(await queue.cancel(held), true)
      await queue.onIdle()
      assert.deepEqual(gate.payloads, [2])
    })
  })

  describe('dead letters', () => {
    it('are jobs that have failed maxAttempts times, with what the last attempt failed with', async () => {
      const queue = await open(async (payload, { attempt }) => { throw coded('E_OWN', `${payload} ${attempt}`) }, { maxAttempts: 2, backoffMs: 1 })
      const ids = [await queue.pushType('a', 'first')]
      const [{ error, payload, ...about }] = await once(queue, 'failed')
      assert.deepEqual([about, error.message], [{ id: ids[0], type: 'a', attempt: 2 }, 'first 2'])
      ids.push(await queue.pushType('b', 'second'))
      await queue.onIdle()
      const dead = await queue.deadLetters()
      assert.deepEqual(dead.map(({ id, type, payload, attempts }) => ({ id, type, payload, attempts })), [
        { id: ids[0], type: 'a', payload: 'first', attempts: 2 }, { id: ids[1], type: 'b', payload: 'second', attempts: 2 }
      ])
      const [{ error: kept }] = dead
      assert.deepEqual([kept instanceof Error, kept.name, kept.message, kept.code], [true, 'RangeError', 'first 2', 'E_OWN'])
      const { accepted, done, failed, cancelled, retried, rejected } = queue.stats()
      const expected = { accepted: 2, done: 0, failed: 2, cancelled: 0, retried: 2, rejected: 0 }
      assert.deepEqual({ accepted, done, failed, cancelled, retried, rejected }, expected)
    })

    it('keep of an error what can be kept', async () => {
      const hostile = { get message () { throw new Error('no') } }
      const errors = ['text', Symbol('s'), hostile, Object.assign(new Error('m'), { code: 7 }), { message: 'm', code: {} }, {}]
      const queue = await open((index, done) => done(errors[index]), { settleBy: 'callback', maxAttempts: 1, concurrency: 1 })
      for (const index of errors.keys()) await queue.pushType('t', index)
      await queue.onIdle()
      const dead = await queue.deadLetters()
      assert.deepEqual(dead.map(({ payload, error }) => [payload, error.message, error.code]).sort(), [
        [0, 'text', undefined], [1, 'Symbol(s)', undefined], [2, 'an error that cannot be shown', undefined], [3, 'm', '7'], [4, 'm', undefined],
        [5, '[object Object]', undefined]
      ])
    })

    it('have all their attempts when they are retried, and are gone when they are deleted', async () => {
      let isDown = true
      const queue = await open(async (payload, { attempt }) => {
        if (isDown || attempt === 1) throw new Error('down')
        return payload
      }, { maxAttempts: 2, backoffMs: 1 })
      const ids = [await queue.pushType('t', 1), await queue.pushType('t', 2)]
      await queue.onIdle()
      isDown = false
      const done = once(queue, 'done')
      assert.equal(await queue.retryDead(ids[0]), true)
      const [{ id, attempt, result }] = await done
      assert.deepEqual([id, attempt, result], [ids[0], 2, 1])
      assert.equal(await queue.deleteDead(ids[1]), true)
      await queue.onIdle()
      assert.deepEqual(await queue.deadLetters(), [])
      for (const id of [...ids, ...unknownIds]) assert.deepEqual([await queue.retryDead(id), await queue.deleteDead(id)], [false, false])
    })

    it('are told in order: all, those of a type, or the oldest', async () => {
      const queue = await open(async () => { throw new Error('no') }, { settleBy: 'promise', maxAttempts: 1, concurrency: 1 })
      for (const type of ['a', 'b', 'a', 'b', 'a']) {
        const failed = once(queue, 'failed')
        await queue.pushType(type, type)
        await failed
        await nextMs() // a broker has no order within one
      }
      const typesOf = async options => (await queue.deadLetters(options)).map(({ type }) => type).join('')
      assert.deepEqual(await Promise.all([
        undefined, {}, { limit: 2 }, { limit: 9 }, { type: 'b' }, { type: 'a', limit: 2 }, { type: 'c' }
      ].map(typesOf)), ['ababa', 'ababa', 'ab', 'ababa', 'bb', 'aa', ''])
      for (const wrong of [null, 5, { limit: 0 }, { limit: 1.5 }, { limit: 'many' }, { most: 5 }]) {
        assert.throws(() => queue.deadLetters(wrong), { code: 'FAIRLANE_ERR_ARGUMENT' })
      }
      assert.throws(() => queue.deadLetters({ type: {} }), { code: 'FAIRLANE_ERR_TYPE' })
    })

    it('are jobs at once that cannot be decoded', async () => {
      const serialize = { encode: text => Buffer.from(text), decode: bytes => JSON.parse(bytes) }
      const queue = await open(gate.runner, { settleBy: 'callback', serialize })
      const failed = once(queue, 'failed')
      await queue.pushType('t', '{')
      await queue.pushType('t', '{"a":1}')
      const [{ attempt, error }] = await failed
      assert.deepEqual([attempt, error.name], [1, 'SyntaxError'])
      await gate.until(1)
      assert.deepEqual(gate.payloads, [{ a: 1 }])
      const [dead] = await queue.deadLetters()
      assert.throws(() => dead.payload, SyntaxError)
      gate.release(1)
    })

    it('are still there when the queue is opened again', async () => {
      const first = await open(async () => { throw coded('E') }, { maxAttempts: 1 })
      const id = await first.pushType('t', 1)
      await first.onIdle()
      await first.close()
      const [dead] = await (await openGated()).deadLetters()
      assert.deepEqual([dead.id, dead.type, dead.payload, dead.attempts, dead.error.code], [id, 't', 1, 1, 'E'])
    })
  })

  describe('get', () => {
    it('gives a job that waits, runs, is delayed, or is dead', async () => {
      const queue = await openGated({ concurrency: 1, maxAttempts: 2, backoffMs: 60000 })
      const ids = { first: await queue.pushType('t', { n: 1 }) }
      await gate.until(1)
      ids.second = await queue.pushType('t', 2)
      const common = { type: 't', attempts: 0, dueAt: undefined, error: undefined }
      const about = ({ progress, ...found }) => found // a broker has it
      assert.deepEqual(about(await queue.get(ids.first)), { id: ids.first, state: 'running', payload: { n: 1 }, ...common })
      assert.deepEqual(about(await queue.get(ids.second)), { id: ids.second, state: 'waiting', payload: 2, ...common })
      const retry = once(queue, 'retry')
      gate.open.shift().done(coded('E_OWN'))
      await retry
      const delayed = await queue.get(ids.first)
      assert.deepEqual([delayed.state, delayed.attempts, delayed.error.name, delayed.error.code, delayed.payload], ['delayed', 1, 'RangeError', 'E_OWN', { n: 1 }])
      assert(Math.abs(delayed.dueAt - Date.now() - 60000) < 30000, `due at ${delayed.dueAt}`)
    })

    it('counts the attempts that have ended, not the one that is made', async () => {
      const queue = await openGated({ maxAttempts: 2 })
      const id = await queue.pushType('t', 1)
      await gate.until(1)
      gate.open.shift().done(coded('E_FIRST'))
      await gate.until(2)
      const running = await queue.get(id)
      assert.deepEqual([running.state, running.attempts, running.error.code, running.dueAt], ['running', 1, 'E_FIRST', undefined])
      const failed = once(queue, 'failed')
      gate.open.shift().done(coded('E_LAST'))
      await failed
      const dead = await queue.get(id)
      assert.deepEqual([dead.state, dead.attempts, dead.error.code, dead.dueAt], ['dead', 2, 'E_LAST', undefined])
    })

    it('gives undefined for a job that has ended, or never was', async () => {
      const queue = await openGated()
      const id = await queue.pushType('t', 1)
      const done = once(queue, 'done')
      await gate.until(1)
      gate.release(1)
      await done
      for (const asked of [id, ...unknownIds]) assert.equal(await queue.get(asked), undefined)
    })
  })

  describe('cancel', () => {
    it('takes a job away that waits, or is delayed, for good', async () => {
      const queue = await openGated({ concurrency: 1, backoffMs: 60000 })
      const ids = [await queue.pushType('t', 'delayed')]
      await gate.until(1)
      const retry = once(queue, 'retry')
      gate.open.shift().done(coded('E'))
      await retry
      for (const payload of ['running', 'waiting']) ids.push(await queue.pushType('t', payload))
      await gate.until(2)
      assert.deepEqual([await queue.cancel(ids[0]), await queue.cancel(ids[2])], [true, true])
      for (const id of [ids[0], ids[2]]) assert.deepEqual([await queue.get(id), await queue.cancel(id)], [undefined, false])
      gate.release(1)
      await queue.onIdle()
      await queue.close()
      await (await openGated()).onIdle()
      assert.deepEqual(gate.payloads, ['delayed', 'running'])
    })

    it('tells the runner of a job that runs by its signal, and has it not tried again', async () => {
      const queue = await openGated({ concurrency: 1 })
      const told = listen(queue, 'retry', 'failed', 'done', 'cancelled')
      const id = await queue.pushType('t', 1)
      await queue.pushType('t', 2)
      await gate.until(1)
      const { signal } = gate.started[0].context
      const cancelled = once(queue, 'cancelled')
      const aborted = once(signal, 'abort')
      assert.equal(await queue.cancel(id), true)
      await Promise.all([aborted, cancelled])
      assert.equal(signal.reason.code, 'FAIRLANE_ERR_ABORTED')
      assert.deepEqual(told.map(([event, { id, type, error }]) => [event, id, type, error.code]), [['cancelled', id, 't', 'FAIRLANE_ERR_ABORTED']])
      assert.deepEqual([await queue.get(id), await queue.cancel(id)], [undefined, false])
      await quiet()
      assert.equal(gate.started.length, 1) // the slot is its runner's
      gate.open.shift().done(signal.reason)
      await gate.until(2)
      gate.release(1)
      await queue.onIdle()
      assert.deepEqual(told.map(([event]) => event), ['cancelled', 'done'])
      const { done, failed, cancelled: count, retried } = queue.stats()
      assert.deepEqual({ done, failed, count, retried }, { done: 1, failed: 0, count: 1, retried: 0 })
    })

    it('leaves dead letters alone, and says that there was no job that has ended, or never was', async () => {
      const queue = await open(async payload => { if (payload === 'bad') throw new Error('no') }, { maxAttempts: 1 })
      const ids = [await queue.pushType('t', 'bad'), await queue.pushType('t', 'good')]
      await queue.onIdle()
      for (const id of [...ids, ...unknownIds]) assert.equal(await queue.cancel(id), false)
      assert.equal((await queue.deadLetters()).length, 1)
    })
  })

  describe('serialize', () => {
    const date = new Date(0)
    const payloads = { date, map: new Map([[1, 2]]), list: [1, undefined], text: 'ä' }

    for (const [how, serialize, expected] of [
      ["'json' gives what JSON makes of a payload", 'json', { date: date.toJSON(), map: {}, list: [1, null], text: 'ä' }],
      ["'structured' gives what structuredClone gives", 'structured', payloads],
      ['an object gives what its methods give', { encode: ({ text }) => Buffer.from(text), decode: bytes => `${bytes}!` }, 'ä!']
    ]) {
      it(how, async () => {
        const queue = await openGated({ serialize, concurrency: 1 })
        const id = await queue.pushType('t', payloads)
        await gate.until(1)
        assert.deepStrictEqual(gate.payloads, [expected])
        assert.deepStrictEqual((await queue.get(id)).payload, expected)
        gate.release(1)
      })
    }

    for (const serialize of ['json', 'structured']) {
      it(`'${serialize}' takes undefined, null and ''`, async () => {
        const queue = await openGated({ serialize, concurrency: 1 })
        for (const payload of [undefined, null, '']) await queue.pushType('t', payload)
        for (let count = 1; count <= 3; count++) {
          await gate.until(count)
          gate.release(1)
        }
        await queue.onIdle()
        assert.deepEqual(gate.payloads, [undefined, null, ''])
      })

      it(`'${serialize}' refuses what it cannot hold, and the queue takes nothing`, async () => {
        const queue = await openGated({ serialize })
        for (const payload of [() => {}, Symbol('s'), revoked()]) {
          assert.throws(() => queue.pushType('t', payload), ({ code, cause }) => code === 'FAIRLANE_ERR_ARGUMENT' && cause instanceof Error)
        }
        assert.equal(queue.stats().accepted, 0)
      })
    }

    it('refuses what its methods do not make bytes of', async () => {
      for (const encoded of ['text', revoked()]) {
        const queue = await openGated({ serialize: { encode: () => encoded, decode: () => {} } })
        assert.throws(() => queue.pushType('t', 1), code('ARGUMENT'))
        await queue.close()
      }
    })
  })

  describe('what is said of single jobs', () => {
    it('delays them: none starts earlier, and each is found and cancelled until then', async () => {
      const queue = await openGated()
      const pushedAt = Date.now()
      await queue.pushType('t', 'soon', { delayMs: 40 })
      const id = await queue.pushType('t', 'late', { delayMs: 600000 })
      const { state, dueAt, attempts, payload } = await queue.get(id)
      assert.deepEqual([state, attempts, payload], ['delayed', 0, 'late'])
      assert(dueAt >= pushedAt + 600000 && dueAt <= Date.now() + 600000)
      assert.equal(await queue.cancel(id), true)
      assert.equal(await queue.get(id), undefined)
      await gate.until(1)
      assert(Date.now() >= pushedAt + 40)
      gate.release()
      await queue.onIdle()
      assert.deepEqual(gate.payloads, ['soon'])
    })

    it('shares them by their keys, until they have settled', async () => {
      const queue = await openGated()
      const key = { key: 'k', keyUntil: 'settled', onDuplicate: 'join' }
      const id = await queue.pushType('t', 1, key)
      assert.equal(await queue.pushType('t', 2, key), id)
      assert.notEqual(await queue.pushType('u', 3, key), id)
      await gate.until(2)
      assert.equal(await queue.pushType('t', 4, key), id)
      gate.release(2)
      await queue.onIdle()
      await queue.pushType('t', 5, key)
      await gate.until(3)
      assert.deepEqual(gate.payloads.slice(0, 2).sort(), [1, 3])
      assert.equal(gate.payloads[2], 5)
      gate.release()
      await queue.onIdle()
    })

    it('holds when the queue is opened again', async () => {
      const before = await openGated()
      before.pause()
      const key = { key: 'k', keyUntil: 'settled' }
      const [id, delayed] = await Promise.all([before.pushType('t', 1, key), before.pushType('t', 'late', { ...key, key: 'l', delayMs: 600000 })])
      const { dueAt } = await before.get(delayed)
      await before.close({ drain: false })
      const queue = await openGated()
      queue.pause()
      assert.deepEqual([await queue.pushType('t', 2, key), await queue.pushType('t', 'later', { ...key, key: 'l' })], [id, delayed])
      const found = await queue.get(delayed)
      assert.deepEqual([found.state, found.dueAt, found.payload, found.attempts], ['delayed', dueAt, 'late', 0])
      assert.deepEqual([await queue.cancel(delayed), await queue.cancel(delayed)], [true, false])
      await queue.pushType('t', 'free', { ...key, key: 'l' })
      queue.resume()
      await gate.until(2)
      assert.deepEqual(gate.payloads.sort(), [1, 'free'])
      gate.release(2)
      await queue.onIdle()
    })

    it('goes with several of it at once: a delayed job has its key meanwhile', async () => {
      const queue = await openGated()
      const said = { key: 'k', keyUntil: 'settled', delayMs: 20 }
      const ids = await Promise.all([1, 2, 3].map(payload => queue.pushType('t', payload, said)))
      assert.equal(new Set(ids).size, 1)
      await gate.until(1)
      gate.release()
      await queue.onIdle()
      assert.equal(gate.started.length, 1)
    })

    it('is refused if it is wrong', async () => {
      const queue = await openGated()
      for (const options of [1, null, [], { priority: 1 }, { priority: 16 }, { delayMs: -1 }, { delayMs: 'x' }, { keyUntil: 'settled' }, { key: Symbol('k'), keyUntil: 'settled' }, { delay: 5 }]) {
        for (const push of [() => queue.push(1, options), () => queue.pushType('t', 1, options)]) assert.throws(push, code('ARGUMENT'))
      }
    })
  })

  describe('add', () => {
    it('gives the result, or what the last attempt failed with', async () => {
      const queue = await open(async (payload, { attempt }) => {
        if (payload === 'fails') throw new Error(`attempt ${attempt}`)
        return [payload, attempt]
      }, { maxAttempts: 2, backoffMs: 1 })
      const failed = assert.rejects(queue.add('fails', { type: 't' }), /attempt 2/)
      assert.deepEqual(await queue.add('a', { type: 't' }), ['a', 1])
      assert.deepEqual(await queue.add('b', { delayMs: 1, unshift: true }), ['b', 1])
      await failed
    })

    it('rejects when its signal aborts, or the queue closes', async () => {
      const queue = await openGated({ concurrency: 1 })
      const controller = new AbortController()
      const ends = [assert.rejects(queue.add(1, { type: 't', signal: controller.signal }), code('ABORTED'))]
      await gate.until(1)
      ends.push(assert.rejects(queue.add(2, { type: 't', delayMs: 600000 }), code('CLOSED')))
      controller.abort()
      await ends[0]
      gate.release()
      await quiet()
      await queue.close({ drain: false })
      await Promise.all(ends)
      await assert.rejects(queue.add(3, { type: 't' }), code('CLOSED'))
    })

    it('is refused if it is wrong', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      for (const options of [1, null, [], { type: 't', unshift: 1 }, { type: 't', signal: {} }, { type: 't', delayMs: -1 }]) {
        assert.throws(() => queue.add(1, options), code('ARGUMENT'))
      }
      assert.throws(() => queue.add(1), code('TYPE_REQUIRED'))
    })
  })

  describe('codes', () => {
    const rejected = options => (async () => open(gate.runner, options))()

    it('are those of options', async () => {
      const wrong = [
        { maxAttempts: 0 }, { maxAttempts: 1.5 }, { backoffMs: -1 }, { backoffMs: 'x' }, { serialize: {} }, { serialize: null }, { serialize: 'xml' },
        { maxWaitMs: 'x' }, { timeoutMs: -1 }, { clock: {} }, { signal: {} }, { settleBy: 'x' }, { observers: 1 }, { maxAttempt: 1 }
      ]
      for (const options of wrong) await assert.rejects(rejected(options), code('OPTION'), Object.keys(options)[0])
      await assert.rejects(rejected({ maxAttempt: 5 }), /did you mean 'maxAttempts'/)
      await assert.rejects(rejected({ concurrency: 'x' }), code('CONCURRENCY'))
      await assert.rejects(rejected({ scheduler: 'unfair' }), code('SCHEDULER'))
      await assert.rejects((async () => open('x', {}))(), code('RUNNER'))
    })

    it('are those of arguments', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      for (const call of [() => queue.push(1), () => queue.unshift(1)]) assert.throws(call, code('TYPE_REQUIRED'))
      for (const type of [undefined, null, Symbol('a'), {}, '\ud800']) {
        for (const method of ['pushType', 'unshiftType']) assert.throws(() => queue[method](type, 1), code('TYPE'), method)
      }
      for (const type of [null, Symbol('a'), {}, '\ud800']) assert.throws(() => queue.add(1, { type }), code('TYPE'))
      for (const method of ['pauseType', 'resumeType', 'holdType']) for (const type of [undefined, null]) assert.throws(() => queue[method](type, 1), code('TYPE'), method)
      for (const method of ['get', 'cancel', 'retryDead', 'deleteDead']) {
        for (const id of [undefined, null, {}, Symbol('id'), NaN]) assert.throws(() => queue[method](id), code('ARGUMENT'), method)
      }
      for (const call of [() => queue.close({ wait: 1 }), () => queue.close({ timeoutMs: -1 }), () => queue.clear({ types: 'a' })]) assert.throws(call, code('ARGUMENT'))
      assert.throws(() => new queue.constructor(), code('ARGUMENT'))
    })

    it('are those of pushes that are refused', async () => {
      const queue = await openGated({ scheduler: 'equal', maxWaitingPerType: 1 })
      queue.pause()
      await queue.pushType('t', 1)
      await assert.rejects(queue.pushType('t', 2), { ...code('TYPE_FULL'), type: 't', waiting: 1, limit: 1 })
      await queue.pushType('u', 2)
      assert.equal(queue.stats().rejected, 1)
      queue.close({ drain: false })
      await assert.rejects(queue.pushType('v', 3), code('CLOSED'))
    })
  })

  describe('events', () => {
    it('come to listeners whose throws are uncaught exceptions, and the queue goes on', async () => {
      const uncaught = captureUncaught()
      try {
        const queue = await open(async payload => payload)
        const told = listen(queue, 'done')
        queue.on('done', ({ result }) => { if (result === 1) throw new Error('mine') })
        for (const payload of [1, 2]) await queue.pushType('t', payload)
        await queue.onIdle()
        await uncaught.until(1)
        assert.deepEqual([uncaught.seen.map(({ message }) => message), told.map(([, { result }]) => result)], [['mine'], [1, 2]])
      } finally {
        uncaught.release()
      }
    })

    it('come to listeners that push', async () => {
      const queue = await open(async payload => payload)
      queue.on('done', ({ result }) => { if (result < 5) queue.pushType('t', result + 1) })
      queue.pushType('t', 1)
      while ((await once(queue, 'done'))[0].result < 5);
      assert.equal(queue.stats().done, 5)
    })
  })

  describe('pauses', () => {
    it('hold all jobs, or those of a type', async () => {
      const queue = await openGated({ scheduler: 'equal' })
      queue.pauseType('a')
      for (const type of ['a', 'b']) await queue.pushType(type, type)
      await gate.until(1)
      assert.deepEqual(gate.payloads, ['b'])
      queue.pause()
      queue.resumeType('a')
      await quiet()
      assert.deepEqual([queue.paused, gate.payloads], [true, ['b']])
      queue.resume()
      await gate.until(2)
      gate.release(2)
      await queue.onIdle()
    })
  })

  describe('clear', () => {
    it('takes away what waits or is delayed, of a type or of all', async () => {
      const queue = await openGated({ scheduler: 'equal', backoffMs: 60000 })
      const retry = once(queue, 'retry')
      await queue.pushType('a', 1)
      await gate.until(1)
      gate.open.shift().done(new Error('later'))
      await retry
      queue.pause()
      for (const type of ['a', 'b', 'b']) await queue.pushType(type, 2)
      assert.equal(await queue.clear({ type: 'a' }), 2)
      assert.equal(await queue.clear(), 2)
      assert.equal(await queue.clear(), 0)
      queue.resume()
      await queue.onIdle()
      assert.equal(gate.started.length, 1)
    })
  })

  describe('close', () => {
    it('waits for what runs, refuses pushes, and tells when it is over', async () => {
      const queue = await openGated({ maxAttempts: 1 })
      await queue.pushType('t', 1)
      await gate.until(1)
      const told = once(queue, 'close')
      const closing = queue.close()
      assert.equal(queue.closed, true)
      await assert.rejects(queue.pushType('t', 2), code('CLOSED'))
      await quiet()
      gate.release(1)
      assert.equal(await closing, 0)
      assert.equal((await told)[0], 0)
      const { done, failed } = queue.stats()
      assert.deepEqual({ done, failed }, { done: 1, failed: 0 })
      const [id] = unknownIds
      for (const call of [queue.get(id), queue.cancel(id), queue.retryDead(id), queue.deleteDead(id)]) {
        await assert.rejects(call, code('CLOSED'))
      }
      assert.equal(await queue.close(), 0)
      assert.equal(await queue[Symbol.asyncDispose](), 0)
    })

    it('tells runners after timeoutMs, counts no attempt of theirs, and leaves their jobs to the next one', async () => {
      const queue = await openGated({ maxAttempts: 1, concurrency: 1 })
      for (const payload of ['running', 'waiting']) await queue.pushType('t', payload)
      await gate.until(1)
      const { signal } = gate.started[0].context
      assert.equal(await queue.close({ timeoutMs: 0 }), 1)
      assert.equal(signal.reason.code, 'FAIRLANE_ERR_CLOSED')
      const next = await open(async (payload, { attempt }) => [payload, attempt], { maxAttempts: 1, concurrency: 1 })
      const told = listen(next, 'done', 'failed')
      await next.onIdle()
      assert.deepEqual(told.map(([event, { result }]) => [event, ...result]).sort(), [['done', 'running', 1], ['done', 'waiting', 1]])
      gate.release(1)
    })

    it('takes a good end of a runner that is told, and no bad one', async () => {
      const queue = await openGated()
      const told = listen(queue, 'done', 'retry', 'failed')
      for (const payload of ['well', 'badly']) await queue.pushType('t', payload)
      await gate.until(2)
      for (const { payload, done, context } of gate.open) {
        context.signal.addEventListener('abort', () => payload === 'well' ? done(null, payload) : done(new Error('no')))
      }
      assert.equal(await queue.close({ timeoutMs: 0 }), 0)
      assert.deepEqual(told.map(([event, { result }]) => [event, result]), [['done', 'well']])
      const next = await open(async (payload, { attempt }) => [payload, attempt])
      const [{ result }] = await once(next, 'done')
      assert.deepEqual(result, ['badly', 1])
    })

    it('comes by the signal of the queue, and lets what runs end', async () => {
      const controller = new AbortController()
      const queue = await openGated({ signal: controller.signal })
      await queue.pushType('t', 1)
      await gate.until(1)
      const { signal } = gate.started[0].context
      const closed = once(queue, 'close')
      controller.abort('why')
      assert.deepEqual([queue.closed, signal.aborted], [true, false])
      gate.release(1)
      assert.equal((await closed)[0], 0)
    })
  })
}
