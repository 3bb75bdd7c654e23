'use strict'

// The program as it is installed: a process of its own.

const assert = require('node:assert/strict')
const { execFile, execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { join } = require('node:path')
const { durable } = require('../../lib/durable')
const { root, node } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startProgram } = require('../support/programs')
const { version } = require('../../package.json')

const PROGRAM = join(root, 'lib/cli/index.js')

describe('the program fairlane', function () {
  let base, path

  before(async () => {
    base = temporaryFolder()
    path = join(base, 'mails')
    const queue = await durable(async () => { throw new Error('no') }, { path, ack: 'os', maxAttempts: 1 })
    await queue.pushType('a', { to: 'ada' })
    await queue.onIdle()
    queue.pause()
    await queue.pushAll(Array.from({ length: 20000 }, (_, i) => ({ type: 'a', payload: i })))
    await queue.close()
  })
  after(() => fs.rmSync(base, { recursive: true }))

  it('is executable by itself, and ends with the exit code', async () => {
    assert.equal(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }), `${version}\n`)
    const { code, stderr } = await node([PROGRAM, 'statsu'])
    assert.deepEqual([code, stderr], [2, "fairlane: there is no command 'statsu'; did you mean 'status'?\n"])
  })

  it('is what npx runs in a project that has the package', async () => {
    const { bin } = require('../../package.json')
    assert.deepEqual(bin, { fairlane: 'lib/cli/index.js' })
  })

  it('ends without a word, and well, when its reader has enough', async () => {
    const result = await new Promise(resolve => {
      execFile('bash', ['-c', 'set -o pipefail; "$0" "$1" export "$2" | head -n 1; echo "$PIPESTATUS"', process.execPath, PROGRAM, path],
        { env: { ...process.env, NODE_OPTIONS: '' } }, (err, stdout, stderr) => resolve({ err, stdout, stderr }))
    })
    const [first, code] = result.stdout.split('\n')
    assert.equal(JSON.parse(first).id, 1)
    assert.deepEqual([code, result.stderr], ['0', ''])
  })

  it('loads nothing for brokers where there is a folder', async () => {
    const { stdout } = await node(['--eval', `
      const { run } = require('./lib/cli/program')
      run(['status', ${JSON.stringify(path)}, '--json'], process).then(() => {
        console.error(Object.keys(require.cache).filter(file => /node_modules.(bullmq|ioredis|croner)/.test(file)).length)
      })
    `])
    assert.equal(JSON.parse(stdout).dead, 1)
  })

  it('shows the page until it is told to end, and then gives the folder back', async () => {
    const program = startProgram([PROGRAM, 'board', path, '--json', '--read-only'])
    try {
      const { url } = JSON.parse(await program.line())
      const { queue: state } = await (await fetch(`${url}state`)).json()
      assert.deepEqual([state.name, state.waiting, state.dead, state.actions], ['mails', 20000, 1, []])
      assert.match(await (await fetch(url)).text(), /<!doctype html>/)
      program.child.kill('SIGTERM')
      assert.deepEqual(await program.exit, [0, null])
    } finally {
      await program.end()
    }
    assert(fs.existsSync(join(path, 'closed')))
  })

  it('says who has a folder open, in another process', async () => {
    const other = spawn(process.execPath, ['--eval', `
      require('./lib/durable').durable(() => {}, { path: ${JSON.stringify(join(base, 'open'))} }).then(() => { console.log('open'); setInterval(() => {}, 1000) })
    `], { cwd: root, env: { ...process.env, NODE_OPTIONS: '' } })
    try {
      await once(other.stdout, 'data')
      const { code, stderr } = await node([PROGRAM, 'dead', 'delete', '--all', join(base, 'open'), '--json'])
      assert.deepEqual([code, JSON.parse(stderr).error.pid], [1, other.pid])
      assert.equal(JSON.parse((await node([PROGRAM, 'status', join(base, 'open'), '--json'])).stdout).openIn, other.pid)
    } finally {
      other.kill('SIGKILL')
      await once(other, 'exit')
    }
  })

  it('is read where one may not write', async () => {
    fs.chmodSync(path, 0o555)
    try {
      const { code } = await node([PROGRAM, 'verify', path])
      assert.equal(code, 0)
    } finally {
      fs.chmodSync(path, 0o755)
    }
  })
})
