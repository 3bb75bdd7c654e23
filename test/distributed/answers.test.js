'use strict'

// Answers of the broker that are late, lost, or errors: calls are made as they are, on a real server, and the test decides what comes
// of them.

const assert = require('node:assert')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const gates = require('../support/gates')
const { describeWithRedis } = require('../support/redis')
const { stoppedTime } = require('../support/time')
const { expectReject } = require('./expectations')
const { atLaterTimes } = require('./later')
const { atServer } = require('./opened')
const { latch, openRigged } = require('./rigged')
const { until } = require('./until')

const GONE = 'Connection is closed.'

describeWithRedis('answers of the broker', function () {
  const at = atServer()
  const later = atLaterTimes()

  const open = openRigged(at)

  const key = what => `{fairlane:${at.name}}:${what}`

  describe('to a push', () => {
    it('that are lost have it made again, with the same ids', async () => {
      const { queue, rig } = await open(null)
      const lost = [rig.loseAnswer('fairlaneAnnounce')]
      const id = await queue.pushType('a', 1)
      lost.push(rig.loseAnswer('fairlanePush'))
      await queue.pushType('b', 1)
      await Promise.all(lost)
      assert.deepEqual((await queue.types()).map(({ type, waiting }) => [type, waiting]).sort(), [['a', 1], ['b', 1]])
      assert.equal((await queue.get(id)).state, 'waiting')
    })

    it('that are lost while the jobs run: they are run once', async () => {
      const ran = []
      const worker = await at.open(async n => { ran.push(n) })
      const { queue, rig } = await open(null)
      rig.once('fairlanePush', async call => {
        await call()
        await worker.announce('a')
        await worker.onIdle()
        assert.deepEqual(ran, [1, 2])
        throw new Error(GONE)
      })
      const ids = await Promise.all([queue.pushType('a', 1), queue.pushType('a', 2, { key: 'k' })])
      assert.equal(new Set(ids).size, 2)
      await worker.onIdle()
      assert.deepEqual(ran, [1, 2])
    })

    it('that are lost say the same when the push is made again: which jobs are shared', async () => {
      const { queue, rig } = await open(null)
      const id = await queue.pushType('a', 1, { key: 'k', keyUntil: 'settled' })
      rig.once('fairlanePush', async call => {
        await call()
        at.server.cli('del', key(id), key('a:.keys'))
        throw new Error(GONE)
      })
      assert.equal(await queue.pushType('a', 2, { key: 'k', keyUntil: 'settled' }), id)
      assert.equal(queue.stats().joined, 1)
    })

    it('are not believed if the broker was away between the jobs and their announcement', async () => {
      const { queue, rig } = await open(null)
      let count = 0
      rig.once('fairlaneAnnounce', async call => {
        // it comes back without what it had answered
        await rig.calls.flushall()
        const ready = once(rig.calls, 'ready')
        rig.calls.disconnect(true)
        await ready
        count++
        return call()
      })
      const id = await queue.pushType('a', 1)
      assert.equal(count, 1)
      assert.equal((await queue.get(id)).state, 'waiting')
      assert.equal((await queue.counts('a')).waiting, 1)
    })

    it('that come when it closes are waited for', async () => {
      const { queue, rig } = await open(null)
      const { reached, open: letGo } = rig.delay('fairlaneAnnounce')
      const pushed = queue.push(1)
      await reached
      const closing = queue.close()
      for (let n = 0; n < 20; n++) await rig.calls.ping()
      letGo()
      const other = await at.open(null)
      assert.equal((await other.get(await pushed)).state, 'waiting')
      assert.equal(await closing, 0)
    })

    it('that refuse one of many jobs do not keep the others from being stored', async () => {
      const { queue, rig } = await open(null)
      const refused = rig.refuse('fairlaneAnnounce', Object.assign(new Error('ERR no'), { code: 5 }))
      const ids = await Promise.all([1, 2, 3].map(n => queue.pushType('a', n)))
      await refused
      assert.equal(new Set(ids).size, 3)
      assert.equal((await queue.counts('a')).waiting, 3)
    })

    it('that never come are waited for until its time is up, and those behind it have theirs', async () => {
      const { queue, rig } = await open(null, { pushTimeoutMs: 3000 })
      await queue.pushType('a', 0)
      const { reached, open: letGo } = rig.delay('fairlanePush')
      const pushes = [queue.pushType('a', 1)]
      await reached
      rig.once('fairlanePush', () => new Promise(() => {})) // of the others together
      pushes.push(queue.pushType('a', 2))
      await sleep(1500)
      pushes.push(queue.pushType('a', 3))
      const flushed = queue.flush()
      letGo()
      const rejected = expectReject(pushes[1], 'FAIRLANE_ERR_BROKER')
      await Promise.all([pushes[0], rejected, pushes[2], flushed])
    })

    it('that never come are waited for no longer, though the timer of the first push is early', async () => {
      const { queue, rig } = await open(null, { pushTimeoutMs: 1000 })
      const { reached, open: letGo } = rig.delay('fairlanePush')
      const first = queue.pushType('a', 1)
      await reached
      rig.once('fairlanePush', () => new Promise(() => {}))
      const time = stoppedTime() // of all deadlines, and of no timer
      try {
        const second = queue.pushType('a', 2)
        time.pass(900)
        const third = queue.pushType('a', 3)
        letGo()
        await Promise.all([first, expectReject(second, 'FAIRLANE_ERR_BROKER'), third])
      } finally {
        time.release()
      }
    })
  })

  describe('to a push that fails until its time is up', () => {
    it('are what its error names, with what was given up after how long, whatever other calls fail with', async () => {
      const { queue, rig } = await open(null, { pushTimeoutMs: 1000 })
      const own = new Error('TRYAGAIN Multiple keys request during rehashing of slot')
      rig.rig('fairlaneAnnounce', () => Promise.reject(own))
      rig.rig('smembers', () => Promise.reject(new Error('LOADING Redis is loading the dataset in memory')))
      const [pushed, asked] = await Promise.all(
        [queue.pushType('a', 1), queue.counts()].map(promise => expectReject(promise, 'FAIRLANE_ERR_BROKER'))
      )
      assert.equal(pushed.cause, own)
      assert.equal(pushed.message, `A push of the type 'a' was given up after 1000 ms: ${own.message}`)
      assert.match(asked.message, /^A call to the broker was given up after 1000 ms: LOADING /)
    })

    it('say so if there were none', async () => {
      const { queue, rig } = await open(null, { pushTimeoutMs: 1000 })
      rig.rig('fairlaneAnnounce', () => new Promise(() => {}))
      const { cause, message } = await expectReject(queue.pushType('a', 1), 'FAIRLANE_ERR_BROKER')
      assert(cause instanceof Error)
      assert.equal(message, "A push of the type 'a' was given up after 1000 ms: there was no answer")
    })
  })

  describe('to a worker that asks for a job', () => {
    it('that come late: a job whose lease may be over is not started', async () => {
      const started = []
      const { queue, rig } = await open(async (n, { attempt }) => { started.push(attempt) }, { settleBy: 'promise', leaseMs: 1000 })
      rig.once('fairlaneTake', async call => {
        const answer = await call()
        await later(950)
        return answer
      })
      await queue.push(1)
      await until(() => started.length > 0)
      await queue.onIdle()
      assert.deepEqual(started, [2]) // when the lease was over
      assert.equal(queue.stats().lost, 0)
    })

    it('that come when it closes: the job goes back', async () => {
      const { queue, rig } = await open(async () => {})
      const { reached, open: letGo } = rig.delay('fairlaneTake')
      const id = await queue.push(1)
      await reached
      rig.refuse('fairlaneAnnounce')
      const closing = queue.close()
      letGo()
      assert.equal(await closing, 0)
      const other = await at.open(null)
      assert.equal((await other.get(id)).state, 'waiting')
    })

    it('that are errors as it closes end nothing but that', async () => {
      const { queue, rig } = await open(async () => {})
      let fail
      const reached = new Promise(resolve => rig.once('fairlaneTake', () => new Promise((_resolve, reject) => {
        fail = reject
        resolve()
      })))
      await queue.push(1)
      await reached
      const closing = queue.close()
      fail(new Error('ERR no'))
      assert.equal(await closing, 0)
    })
  })

  describe('to the end of a job', () => {
    it('that are lost: it has ended once, for whoever waits and for listeners', async () => {
      for (const inbox of [true, false]) {
        const { queue, rig } = await open(async n => n)
        const lost = rig.loseAnswer('fairlaneEnd')
        const done = once(queue, 'done')
        if (inbox) assert.equal(await queue.add(1), 1)
        else await queue.push(1)
        await lost
        await done
        await queue.onIdle()
        const { done: count, lost: lostCount } = queue.stats()
        assert.deepEqual([count, lostCount], [1, 0])
        await queue.close()
      }
    })

    it('that are lost, and it cannot be found out what it is: the job is lost', async () => {
      const { queue, rig } = await open(async n => n)
      let times = 0
      for (const name of ['getState', 'getStateV2']) rig.rig(name, async () => { throw new Error('ERR no') })
      rig.rig('fairlaneEnd', async () => { throw new Error(times++ === 0 ? GONE : 'ERR no') })
      const lost = once(queue, 'lost')
      await queue.push(1)
      assert.equal((await lost)[0].error.code, 'FAIRLANE_ERR_LEASE')
    })

    it('that are lost when it is to be tried again: it is tried once', async () => {
      const attempts = []
      const { queue, rig } = await open(async n => {
        attempts.push(n)
        if (attempts.length === 1) throw new Error('down')
      }, { backoffMs: 1 })
      const lost = rig.loseAnswer('fairlaneEnd')
      await queue.push(1)
      await lost
      await queue.onIdle()
      assert.deepEqual(attempts, [1, 1])
    })

    it('that are lost, and the job has begun again by then: that attempt is not ended, and the first one was', async () => {
      const attempts = []
      const { queue, rig } = await open(async (...[, { attempt }]) => {
        attempts.push(attempt)
        if (attempt === 1) throw new Error('down')
      }, { backoffMs: 60000, settleBy: 'promise' })
      const retried = once(queue, 'retry')
      queue.pause()
      const id = await queue.pushType('a', 1)
      rig.once('fairlaneEnd', async call => {
        await call()
        at.server.cli('hincrby', key(id), 'ats', '1')
        throw new Error(GONE)
      })
      queue.resume()
      await retried
      const { retried: count, lost } = queue.stats()
      assert.deepEqual([attempts, count, lost, (await queue.get(id)).attempts], [[1], 1, 0, 1])
    })

    it('of an earlier start than the last one are refused: the job is lost', async () => {
      const gate = gates()
      const { queue } = await open(gate.runner, { settleBy: 'callback' })
      const id = await queue.pushType('a', 1)
      await gate.until(1)
      at.server.cli('hincrby', key(id), 'ats', '1')
      const lost = once(queue, 'lost')
      gate.release(1)
      assert.equal((await lost)[0].id, id)
    })

    it('of an earlier start, which was told again: the job is lost, though a later start may have ended by then', async () => {
      const gate = gates()
      const { queue, rig } = await open(gate.runner, { settleBy: 'callback' })
      for (const name of ['getState', 'getStateV2']) rig.rig(name, async () => 'completed')
      const id = await queue.pushType('a', 1)
      await gate.until(1)
      rig.once('fairlaneEnd', async () => {
        at.server.cli('hincrby', key(id), 'ats', '1')
        throw new Error(GONE)
      })
      const lost = once(queue, 'lost')
      gate.release(1)
      assert.equal((await lost)[0].id, id)
      assert.equal(queue.stats().done, 0)
    })

    it('that come after the job was taken again by the same process: it was tried again, and is not lost', async () => {
      const attempts = []
      const { queue, rig } = await open(async (n, { attempt }) => {
        if (n !== 'fails') return
        attempts.push(attempt)
        if (attempt === 1) throw new Error('down')
      }, { maxAttempts: 2, backoffMs: 1, settleBy: 'promise' })
      const retried = once(queue, 'retry')
      const gate = latch()
      let callsCount = 0
      rig.rig('fairlaneEnd', async (call, ...args) => {
        const answer = await call()
        if (!args.includes('retried')) return answer
        if (++callsCount === 1) throw new Error('Connection is closed.') // the broker has it, and is told again
        await gate.opened
        return answer
      })
      await queue.push('fails')
      await until(() => callsCount > 0) // so the answer that is lost brings no other job
      await until(async () => {
        await queue.push('has the type looked at')
        return attempts.length === 2
      })
      gate.open()
      assert.equal((await retried)[0].attempt, 1)
      await queue.onIdle()
      const { retried: retriedCount, lost } = queue.stats()
      assert.deepEqual([attempts, callsCount, retriedCount, lost], [[1, 2], 2, 1, 0])
    })

    it('are asked for as long as it takes while the broker is away', async () => {
      const { queue, rig } = await open(async n => n)
      let times = 0
      rig.rig('fairlaneEnd', call => ++times < 4 ? Promise.reject(new Error('LOADING Redis is loading the dataset in memory')) : call())
      assert.equal(await queue.add(1), 1)
      assert.equal(times, 4)
    })
  })

  describe('that say nothing of scripts', () => {
    it('which the broker has come back without, have the scripts sent again', async () => {
      const { queue } = await open(async n => n)
      assert.equal(await queue.add(1), 1)
      at.server.cli('script', 'flush')
      assert.deepEqual(await Promise.all([2, 3, 4].map(n => queue.add(n, { type: `type-${n}` }))), [2, 3, 4])
      at.server.cli('script', 'flush')
      await queue.setGlobalCap('type-2', 1)
      await queue.holdType('type-2', 1)
      await queue.onIdle()
    })

    it('which jobs that are pushed together need, has them stored once', async () => {
      const { queue, rig } = await open(null)
      const pushAll = () => Promise.all([1, 2, 3].map(n => queue.pushType('a', n)))
      await pushAll()
      at.server.cli('script', 'flush')
      await pushAll()
      // and if the client does not send them by itself
      const refused = latch()
      rig.once('fairlanePush', async () => {
        refused.open()
        throw new Error('NOSCRIPT No matching script. Please use EVAL.')
      })
      await pushAll()
      await refused.opened
      assert.equal((await queue.counts('a')).waiting, 9)
    })
  })

  describe('about the past of a job', () => {
    /** A queue that has not begun with a job that has such fields, and stays so until resume(). */
    async function openAt (fields, options) {
      const { queue, rig } = await open(async () => 'it ran', { maxAttempts: 3, ...options })
      queue.pause()
      const id = await queue.pushType('a', 1)
      at.server.cli('hset', key(id), ...Object.entries(fields).flat().map(String))
      return { queue, rig, id }
    }

    const CALLS = { hmget: { stc: 1 }, hset: { stc: 2 } }

    for (const [call, fields] of Object.entries(CALLS)) {
      it(`that are errors: the job goes back, and is looked at again (${call})`, async () => {
        const { queue, rig } = await openAt(fields)
        const refused = rig.refuse(call)
        queue.resume()
        await refused
        await queue.onIdle()
        assert.equal(queue.stats().done, 1)
      })

      for (const isRefused of [false, true]) {
        it(`that come when the queue has closed: it is not run (${call}, ${isRefused ? 'an error' : 'an answer'})`, async () => {
          const { queue, rig, id } = await openAt(fields)
          const reached = latch()
          const gate = latch()
          rig.once(call, async made => {
            reached.open()
            await gate.opened
            if (isRefused) throw new Error('ERR no')
            return made()
          })
          queue.resume()
          await reached.opened
          const closing = queue.close({ timeoutMs: 0 })
          gate.open()
          await closing
          assert.equal(queue.stats().done, 0)
          const other = await at.open(null)
          assert.equal((await other.get(id)).state, 'waiting')
        })
      }
    }

    it('that say it was taken and never started: it has waited too long', async () => {
      const { queue, id } = await openAt({ ats: 2, timestamp: Date.now() - 60000 }, { maxWaitMs: 50000 })
      const cancelled = once(queue, 'cancelled')
      queue.resume()
      const [{ id: cancelledId, error }] = await cancelled
      assert.deepEqual([cancelledId, error.code], [id, 'FAIRLANE_ERR_MAX_WAIT'])
    })
  })
})
