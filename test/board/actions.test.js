'use strict'

// What can be done to which queue, and what an action may be given, without a server.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { act, actionsOf } = require('../../lib/board/actions')
const gates = require('../support/gates')
const { atBroker } = require('./at-broker')

const inMemory = options => fairlane(gates().runner, { scheduler: 'equal', ...options })
const SCHEDULES = ['listSchedules', 'runSchedule', 'pauseSchedule', 'resumeSchedule']
const DEAD = ['retryDead', 'deleteDead', 'retryDeadOf', 'deleteDeadOf']

/** Those that a queue cannot do without a method. */
function lostWithout (name) {
  const whole = () => atBroker(Object.fromEntries(SCHEDULES.map(name => [name, async () => []])))
  const left = actionsOf(Object.assign(whole(), { [name]: undefined }))
  return actionsOf(whole()).filter(action => !left.includes(action))
}

describe('what can be done to a queue by its page', function () {
  it('is what the queue has methods for', function () {
    for (const name of ['deadLetters', 'retryDead', 'deleteDead']) assert.deepEqual(lostWithout(name), DEAD)
    assert.deepEqual(lostWithout('listSchedules'), ['runSchedule', 'pauseSchedule', 'resumeSchedule'])
    assert.deepEqual(lostWithout('runSchedule'), ['runSchedule'])
    for (const name of ['pauseSchedule', 'resumeSchedule']) assert.deepEqual(lostWithout(name), ['pauseSchedule', 'resumeSchedule'])
    for (const [name, action] of [['hold', 'hold'], ['holdType', 'holdType'], ['setGlobalCap', 'setCap'], ['cancel', 'cancel']]) {
      assert.deepEqual(lostWithout(name), [action])
    }
  })

  it('is to types only where there are any, and where the scheduler lets them be held', function () {
    const ofTypes = queue => actionsOf(queue).filter(name => /Type$|^set/.test(name))
    assert.deepEqual(ofTypes(inMemory()), ['pauseType', 'resumeType', 'holdType', 'clearType', 'setCap', 'setWeight'])
    assert.deepEqual(ofTypes(inMemory({ scheduler: null })), [])
    assert.deepEqual(ofTypes(inMemory({ scheduler: { queued () {}, next () {}, started () {}, ended () {} } })), ['clearType'])
    // at a broker, whatever the scheduler of this process is
    for (const scheduler of [null, inMemory().scheduler]) {
      assert.deepEqual(ofTypes(atBroker({ scheduler })).filter(name => name !== 'setWeight'), ['holdType', 'clearType', 'setCap'])
    }
    const lane = { queued () {}, next () {}, started () {}, ended () {}, paused () {}, resumed () {} }
    const holding = ['pauseType', 'resumeType', 'holdType']
    const { clear, pauseType, resumeType, hold, holdType } = inMemory()
    const told = scheduler => ofTypes({ scheduler, clear, pauseType, resumeType, hold, holdType })
    assert.deepEqual(told(lane), [...holding, 'clearType'])
    for (const missing of ['next', 'paused', 'resumed']) assert.deepEqual(told({ ...lane, [missing]: undefined }), ['clearType'])
  })

  describe('refuses, and says what was wrong:', function () {
    const refusals = [
      [{ action: 'close' }, "action must be one of pause, resume, pauseType, resumeType, hold, holdType, clearType, setCap, setWeight, not 'close'"],
      [{ action: 'setWeight', type: 'a', weight: 0 }, 'setWeight: 0 is not a valid weight'],
      [{ action: 'setWeight', type: 'a', weight: Infinity }, 'setWeight: Infinity is not a valid weight'],
      [{ action: 'setCap', type: 'a', cap: -1 }, 'setCap: -1 is not a valid cap'],
      [{ action: 'hold', ms: -1 }, 'hold: -1 is not a valid ms'],
      [{ action: 'pauseType', type: 5 }, 'pauseType: 5 is not a valid type']
    ]
    for (const [asked, message] of refusals) {
      it(message, async function () {
        const told = []
        await assert.rejects(act({ name: 'mails', queue: inMemory(), onAction: fields => { told.push(fields) } }, asked), {
          name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT', message
        })
        assert.deepEqual(told, [])
      })
    }
  })

  it('takes a weight below 1, and a cap of nothing', async function () {
    const queue = inMemory()
    assert.equal(await act({ name: 'mails', queue }, { action: 'setWeight', type: 'a', weight: 0.5 }), true)
    assert.equal(await act({ name: 'mails', queue }, { action: 'setCap', type: 'a', cap: 0 }), true)
    assert.deepEqual([queue.scheduler.weightOf('a'), queue.scheduler.capOf('a')], [0.5, 0])
  })

  it('goes on with dead letters behind one whose id is a text', async function () {
    const queue = atBroker()
    const request = {}
    const told = []
    const asked = { action: 'deleteDeadOf', after: '1:a', before: 5, more: 1 }
    const swept = await act({ name: 'mails', queue, onAction: fields => { told.push(fields) } }, asked, request)
    assert.deepEqual(swept, { done: 0, left: 0, after: null, before: 5 })
    assert.deepEqual(queue.calls, [['deadLetters', { type: undefined, limit: 200, after: '1:a' }]])
    assert.deepEqual(told, [{ action: 'deleteDeadOf', queue: 'mails', type: undefined, error: undefined, after: '1:a', before: 5, request }])
  })
})
