'use strict'

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { join } = require('node:path')
const { node } = require('./child')
const { BASE } = require('./folders')

const SCRIPT = `console.log(require(${JSON.stringify(join(__dirname, 'folders'))}).temporaryFolder())`

describe('temporary folders', () => {
  it('of a run that was killed are removed by the next one, and those of one that goes on are not', async () => {
    const running = spawn(process.execPath, ['-e', `${SCRIPT}; setInterval(() => {}, 1000)`], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [data] = await once(running.stdout, 'data')
    const path = String(data).trim()
    assert.equal(join(path, '..'), BASE)
    const next = await node(['-e', SCRIPT])
    assert(fs.existsSync(path))
    running.kill('SIGKILL')
    await once(running, 'exit')
    const last = (await node(['-e', SCRIPT])).stdout.trim()
    assert(!fs.existsSync(path))
    assert(!fs.existsSync(next.stdout.trim()))
    fs.rmSync(last, { recursive: true })
  })
})
