'use strict'

// Records as jobs of bull-board, without bull-board. bull-board.test.js has it.

const assert = require('node:assert/strict')
const { RecordedJobs } = require('../../lib/board/recorded-jobs')

const STATES = ['running', 'waiting', 'delayed', 'failed', 'done', 'cancelled']
const RECORDS = STATES.map((state, i) => ({ id: i + 1, state, type: i % 2 ? 'b' : 'a', attempts: i, acceptedAt: 1, startedAt: 2, endedAt: 3 }))

/** Jobs of a queue that has the methods that are named. @returns {object} `jobs`, and `calls` */
function recorded ({ methods = ['get', 'cancel', 'retryDead', 'deleteDead'], type } = {}) {
  const calls = []
  const note = name => async id => {
    calls.push(`${name} ${id}`)
    return name === 'get' ? { payload: `of ${id}` } : true
  }
  const queue = Object.fromEntries(methods.map(name => [name, note(name)]))
  const history = {
    get: id => RECORDS.find(record => record.id === id),
    list: ({ state }) => RECORDS.filter(record => record.state === state),
    remove: id => { calls.push(`forget ${id}`) }
  }
  return { jobs: new RecordedJobs(queue, history, { name: 'mails', type }), calls }
}

const refused = message => ({ code: 'FAIRLANE_ERR_ARGUMENT', message })

describe('records as jobs of bull-board', function () {
  it('have what a job of it has, and no error if there was none', async function () {
    const { jobs } = recorded()
    assert.deepEqual((await jobs.get('4')).toJSON(), {
      id: '4',
      name: 'b',
      timestamp: 1,
      processedOn: 2,
      finishedOn: 3,
      attemptsMade: 3,
      failedReason: '',
      stacktrace: [],
      data: 'of 4',
      returnvalue: undefined,
      progress: 0,
      opts: {}
    })
  })

  it('have a payload as long as the queue has the job, and are not asked for it later', async function () {
    const { jobs, calls } = recorded()
    const data = await Promise.all(RECORDS.map(async ({ id }) => (await jobs.get(String(id))).toJSON().data))
    assert.deepEqual(data, ['of 1', 'of 2', 'of 3', 'of 4', {}, {}])
    assert.deepEqual(calls, ['get 1', 'get 2', 'get 3', 'get 4'])
  })

  it('are those of one type, if that is named', async function () {
    const { jobs } = recorded({ type: 'b' })
    assert.equal(jobs.get('1'), undefined)
    assert.equal((await jobs.get('2')).id, '2')
    assert.deepEqual(jobs.logs('1'), [])
  })

  it('are taken away as their states allow it', async function () {
    const { jobs, calls } = recorded()
    await assert.rejects(jobs.remove(1), refused('Job 1 is running, so it cannot be removed.'))
    for (const id of [2, 3, 4, 5]) await jobs.remove(id)
    assert.deepEqual(calls, ['cancel 2', 'cancel 3', 'deleteDead 4', 'forget 4', 'deleteDead 5', 'forget 5'])
  })

  it('are not cleaned while they run, nor by a status that there is not', async function () {
    const { jobs, calls } = recorded()
    for (const status of ['active', 'paused']) await assert.rejects(jobs.clean(status, 0), refused(`Jobs that are ${status} cannot be cleaned.`))
    await jobs.clean('failed', 0)
    assert.deepEqual(calls, ['deleteDead 4', 'forget 4'])
  })

  it('can be read, cancelled and retried only in a queue that can do all of that', async function () {
    const methods = ['get', 'cancel', 'retryDead', 'deleteDead']
    for (const missing of methods) {
      const { jobs, calls } = recorded({ methods: methods.filter(name => name !== missing) })
      await assert.rejects(jobs.retry(4), refused('Job 4 is not a dead letter, so it cannot be retried.'))
      await assert.rejects(jobs.remove(2), refused('Job 2 waits in memory, where waiting jobs can be removed only all together.'))
      assert.deepEqual((await jobs.get('4')).toJSON().data, {})
      await jobs.remove(4)
      assert.deepEqual(calls, ['forget 4'])
    }
    const { jobs, calls } = recorded()
    await jobs.retry(4)
    assert.deepEqual(calls, ['retryDead 4'])
  })
})
