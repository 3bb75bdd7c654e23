'use strict'

const assert = require('node:assert')
const { spawn, execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { lock } = require('../../lib/durable/lock')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')

const LOCKED = { code: 'FAIRLANE_ERR_LOCKED' }

describe('the lock of a folder', () => {
  let folder

  beforeEach(() => { folder = temporaryFolder() })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  for (const platform of ['linux', 'darwin']) {
    it(`is had by one, in one process too (as on ${platform})`, async () => {
      const held = await lock(folder, platform)
      await assert.rejects(lock(folder, platform), LOCKED)
      await held.release()
      assert.deepEqual(fs.readdirSync(folder), [])
      await (await lock(folder, platform)).release()
    })
  }

  it('of what is no folder fails, and leaves nothing open', async function () {
    if (!fs.existsSync('/proc/self/fd')) this.skip()
    const file = join(folder, 'file')
    fs.writeFileSync(file, '')
    const count = fs.readdirSync('/proc/self/fd').length
    for (let i = 0; i < 5; i++) await assert.rejects(lock(file), { code: 'ENOTDIR' })
    assert.equal(fs.readdirSync('/proc/self/fd').length, count)
    fs.rmSync(file)
  })

  it('is had by exactly one of many who come at the same time', async () => {
    for (let i = 0; i < 10; i++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lock(folder)))
      const held = results.filter(({ status }) => status === 'fulfilled')
      assert.equal(held.length, 1)
      for (const { reason } of results.filter(({ status }) => status === 'rejected')) assert.equal(reason.code, 'FAIRLANE_ERR_LOCKED')
      await held[0].value.release()
    }
  })

  it('is released also while somebody asks and does not listen to the answer', async () => {
    const held = await lock(folder)
    const [name] = fs.readdirSync(folder)
    const asking = net.connect({ path: join(folder, name), allowHalfOpen: true })
    await once(asking, 'connect')
    asking.resume().on('error', () => {})
    await once(asking, 'end')
    await held.release()
    assert.deepEqual(fs.readdirSync(folder), [])
    asking.destroy()
  })

  it('is respected by other processes, even while its holder is stopped, and taken over when its holder was killed', async () => {
    const holder = await startHolder()
    await assert.rejects(lock(folder), LOCKED)
    holder.kill('SIGSTOP')
    await assert.rejects(lock(folder), LOCKED)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    assert.equal(fs.readdirSync(folder).length, 1)
    const held = await lock(folder)
    assert.equal(fs.readdirSync(folder).length, 1)
    await held.release()
  })

  it('is respected by a process in another container of the machine', async function () {
    const unshare = ['--net', '--pid', '--ipc', '--uts', '--mount', '--fork', '--mount-proc', process.execPath, '-e', tryToLock()]
    if (!canUnshare()) this.skip()
    const held = await lock(folder)
    assert.equal(execFileSync('unshare', unshare, { encoding: 'utf8' }).trim(), 'FAIRLANE_ERR_LOCKED')
    await held.release()
    assert.equal(execFileSync('unshare', unshare, { encoding: 'utf8' }).trim(), 'locked')
  })

  it('is had by a process in a container, which has the folder as a volume under another path, until that is killed', async function () {
    if (!canUnshare()) this.skip()
    const script = `require(${JSON.stringify(join(root, 'lib/durable/lock'))}).lock('/mnt').then(() => { console.log('held'); setInterval(() => {}, 1000) })`
    const holder = spawn('unshare', ['--net', '--pid', '--ipc', '--uts', '--mount', '--fork', '--kill-child', 'sh', '-c',
      'mount --bind "$0" /mnt && exec "$@"', folder, process.execPath, '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await assert.rejects(lock(folder), LOCKED)
    holder.kill('SIGKILL')
    await once(holder.stdout, 'close')
    const held = await lock(folder)
    await held.release()
    assert.deepEqual(fs.readdirSync(folder), [])
  })

  it('takes a folder whose path is longer than the name of a socket may be', async () => {
    const deep = join(folder, 'x'.repeat(100), 'y'.repeat(100))
    fs.mkdirSync(deep, { recursive: true })
    const held = await lock(deep)
    await assert.rejects(lock(deep), LOCKED)
    await held.release()
  })

  it('waits for one who is opening too and has to give up, and gives up for one who says nothing', async () => {
    const opening = await listen(`lock-${'f'.repeat(16)}`, socket => socket.end('opening'))
    const locking = lock(folder)
    await once(opening, 'connection')
    await once(opening, 'connection')
    await close(opening)
    const held = await locking
    await held.release()
    const silent = await listen(`lock-${'f'.repeat(16)}`, socket => socket.on('error', () => {}))
    await assert.rejects(lock(folder), LOCKED)
    await close(silent)
  })

  it('gives up for one who is opening and came first by name', async () => {
    const opening = await listen(`lock-${'0'.repeat(16)}`, socket => socket.end('opening'))
    await assert.rejects(lock(folder), LOCKED)
    await close(opening)
  })

  it('leaves what is new alone, and removes it when it is old', async () => {
    const young = join(folder, `lock-${'1'.repeat(16)}-new`)
    const alive = await listen(`lock-${'2'.repeat(16)}-new`, socket => socket.end('opening'))
    fs.writeFileSync(young, '')
    await (await lock(folder)).release()
    assert(fs.existsSync(young))
    const { now } = Date
    Date.now = () => now() + 60000
    try {
      await (await lock(folder)).release()
    } finally {
      Date.now = now
    }
    assert.deepEqual(fs.readdirSync(folder), [`lock-${'2'.repeat(16)}-new`])
    await close(alive)
  })

  it('fails where there can be no sockets', async () => {
    await assert.rejects(lock(join(folder, 'none')), { code: 'ENOENT' })
    await assert.rejects(lock(join(folder, 'x'.repeat(200)), 'darwin'))
  })

  it('is a pipe with the name of the folder on Windows', async () => {
    // what Linux has that is given to one process by name, too
    const { createServer } = net
    net.createServer = (...args) => {
      const server = createServer(...args)
      const listen = server.listen
      server.listen = ({ path, ...options }, callback) => {
        assert.match(path, /^\\\\\.\\pipe\\fairlane-[0-9a-f]{64}$/)
        return listen.call(server, { path: `\0${path.slice(-40)}`, ...options }, callback)
      }
      return server
    }
    try {
      const held = await lock(folder, 'win32')
      await assert.rejects(lock(folder, 'win32'), LOCKED)
      await held.release()
      await (await lock(folder, 'win32')).release()
    } finally {
      net.createServer = createServer
    }
  })

  async function startHolder () {
    const script = `require(${JSON.stringify(join(root, 'lib/durable/lock'))}).lock(${JSON.stringify(folder)})
      .then(() => { console.log('held'); setInterval(() => {}, 1000) })`
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    return holder
  }

  function tryToLock () {
    return `require(${JSON.stringify(join(root, 'lib/durable/lock'))}).lock(${JSON.stringify(folder)})
      .then(held => held.release().then(() => console.log('locked')), err => console.log(err.code))`
  }

  async function listen (name, onConnection) {
    const server = net.createServer(onConnection)
    server.listen(join(folder, name))
    await once(server, 'listening')
    return server
  }
})

function close (server) {
  return new Promise(resolve => server.close(resolve))
}

function canUnshare () {
  try {
    execFileSync('unshare', ['--net', '--pid', '--mount', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
