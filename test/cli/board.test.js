'use strict'

// fairlane board of a folder, in this process.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { join } = require('node:path')
const { durable } = require('../../lib/durable')
const { holderOf } = require('../../lib/log/lock')
const { temporaryFolder } = require('../support/folders')
const { start } = require('./cli')

describe('the page that the command line shows', function () {
  let base, path

  beforeEach(async () => {
    base = temporaryFolder()
    path = join(base, 'mails')
    const queue = await durable(async () => { throw new Error('no') }, { path, ack: 'os', maxAttempts: 1 })
    await queue.pushType('a', 1)
    await queue.onIdle()
    queue.pause()
    await queue.pushType('b', 2)
    await queue.close()
  })
  afterEach(() => fs.rmSync(base, { recursive: true }))

  async function show (use, ...args) {
    const { world, code } = start(['board', path, ...args])
    let url
    while (!(url = world.stdout.text.trim())) await new Promise(setImmediate)
    if (args.includes('--json')) url = JSON.parse(url).url
    try {
      await use(url, async asked => {
        const headers = { 'content-type': 'application/json', origin: new URL(url).origin }
        const response = await fetch(`${url}act`, { method: 'POST', headers, body: JSON.stringify(asked) })
        return { status: response.status, ...await response.json() }
      }, world)
    } finally {
      world.emit('SIGINT')
      assert.equal(await code, 0)
    }
    assert.equal(await holderOf(path), undefined)
    assert.deepEqual(['SIGINT', 'SIGTERM'].map(name => world.listenerCount(name)), [0, 0])
  }

  it('has what is in the folder, deletes dead letters, and starts nothing', async () => {
    await show(async (url, act, world) => {
      const { queue: state } = await (await fetch(`${url}state`)).json()
      const { letters } = await (await fetch(`${url}dead`)).json()
      assert.deepEqual([state.waiting, state.running, state.dead, letters[0].id], [1, 0, 1, 1])
      assert.match(world.stderr.text, /^No jobs run while the page is open/)
      assert.deepEqual(await act({ action: 'deleteDead', id: 1 }), { status: 200, result: true })
      const { status, error } = await act({ action: 'resume' })
      assert.deepEqual([status, error.code], [400, 'FAIRLANE_ERR_RUNNER'])
      const { queue: after } = await (await fetch(`${url}state`)).json()
      assert.deepEqual([after.waiting, after.running, after.dead], [1, 0, 0])
    })
  })

  it('listens where it is told, and has no buttons if it is to have none', async () => {
    await show(async (url, act) => {
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/$/)
      assert.equal((await act({ action: 'deleteDead', id: 1 })).status, 403)
    }, '--read-only', '--port', '0', '--json')
  })
})
