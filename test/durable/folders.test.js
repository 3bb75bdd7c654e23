'use strict'

// Folders that earlier versions have written: folders/write.js says what is in them.

const assert = require('node:assert/strict')
const { cpSync, readdirSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { durable } = require('../../lib/durable')
const { PersistentQueue } = require('../../lib/log')
const { temporaryFolder } = require('../support/folders')
const { until } = require('../distributed/until')

const FOLDERS = join(__dirname, 'folders')

for (const version of readdirSync(FOLDERS).filter(name => /^\d/.test(name))) {
  describe(`a folder of version ${version}`, () => {
    let path
    beforeEach(() => {
      path = temporaryFolder()
      cpSync(join(FOLDERS, version), path, { recursive: true })
    })
    afterEach(() => rmSync(path, { recursive: true }))

    it('has all jobs, dead letters, schedules and keys that it had', async () => {
      const queue = await durable(async payload => payload, {
        path: join(path, 'jobs'), scheduler: 'equal', priorityMs: 60000, maxAttempts: 2, backoffMs: 1, settleBy: 'promise'
      })
      queue.pause()
      const jobs = [...queue.jobs()].map(({ id, type, payload }) => ({ id, type, payload }))
      assert.deepEqual(jobs.map(({ type, payload }) => [type, payload]), [
        ['a', { is: new Map([['structured', 1n]]) }], ['a', 'costs'], ['b', 'first'], ['__proto__', 'waits for so long'], ['', 'with a key'],
        ['a', 'again'], ['b', 'later']
      ])
      const { state, attempts, dueAt, error } = await queue.get(jobs[5].id)
      assert.deepEqual([state, attempts, dueAt > 2e12, error.message], ['delayed', 1, true, 'it is tried again'])
      const [dead, ...others] = await queue.deadLetters()
      assert.deepEqual([dead.payload, dead.type, dead.attempts, dead.error.message, others], ['dead', 'a', 1, 'it is dead', []])
      assert.deepEqual(await queue.listSchedules(), [{ name: 'daily', nextAt: undefined, lastAt: undefined, paused: true }])
      assert.equal(await queue.pushType('', 'another', { key: 'waits' }), jobs[4].id)
      queue.resume()
      const done = []
      queue.on('done', ({ payload }) => done.push(payload))
      await until(() => done.length === 5)
      const { waiting, spent } = queue.stats()
      assert.deepEqual([waiting, spent], [2, 9])
      await queue.close()
    })

    it('has all payloads of a queue of bytes', async () => {
      const queue = await PersistentQueue.open(join(path, 'bytes'))
      assert.deepEqual((await queue.pop(5)).map(String), ['second', 'third'])
      await queue.close()
    })
  })
}
