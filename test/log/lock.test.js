'use strict'

const assert = require('node:assert')
const { spawn, execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { lock } = require('../../lib/log/lock')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')

const LOCKED = { code: 'FAIRLANE_ERR_LOCKED' }
const IMPATIENT = { answerMs: 20, patienceMs: 50 }

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
    for (let i = 0; i < 20; i++) {
      let isHeld = false
      const opening = Array.from({ length: 2 + i % 8 }, () => lock(folder).then(held => {
        assert(!isHeld, 'two have it')
        isHeld = true
        return held
      }, err => {
        assert.equal(err.code, 'FAIRLANE_ERR_LOCKED', err.stack)
        assert(isHeld, 'nobody has it')
        assert.match(err.message, /in this process/)
        assert.equal(err.pid, process.pid)
      }))
      const [held, ...others] = (await Promise.all(opening)).filter(held => held !== undefined)
      assert.equal(others.length, 0)
      await held.release()
    }
  })

  it('is had by one at a time of many who come and go, each of whom is told the truth', async () => {
    let bufferedCount = 0
    let most = 0
    let had = 0
    const comeAndGo = async () => {
      for (let i = 0; i < 25; i++) {
        try {
          const held = await lock(folder)
          most = Math.max(most, ++bufferedCount)
          had++
          await new Promise(setImmediate)
          bufferedCount--
          await held.release()
        } catch (err) {
          assert.equal(err.code, 'FAIRLANE_ERR_LOCKED', err.stack)
        }
      }
    }
    await Promise.all(Array.from({ length: 5 }, comeAndGo))
    assert.equal(most, 1)
    assert(had >= 5, `${had}`)
    assert.deepEqual(fs.readdirSync(folder), [])
  })

  it('is had by exactly one of many processes that find what a killed one has left, and the others name that one', async () => {
    const holder = await startHolder()
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    const script = `const { lock } = require(${JSON.stringify(join(root, 'lib/log/lock'))})
      process.stdin.once('data', () => lock(${JSON.stringify(folder)}).then(
        () => { console.log('held', process.pid); setInterval(() => {}, 1000) },
        err => { console.log(err.code, err.pid); process.exit() }))
      console.log('ready')`
    const openers = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }))
    try {
      await Promise.all(openers.map(({ stdout }) => once(stdout, 'data')))
      const answers = openers.map(({ stdout }) => once(stdout, 'data'))
      for (const { stdin } of openers) stdin.write('go')
      const said = (await Promise.all(answers)).map(([data]) => String(data).trim()).sort()
      const [, pid] = said.at(-1).split(' ')
      assert.deepEqual(said, [...Array(3).fill(`FAIRLANE_ERR_LOCKED ${pid}`), `held ${pid}`])
    } finally {
      for (const opener of openers) opener.kill('SIGKILL')
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
    await assert.rejects(lock(folder), { ...LOCKED, pid: holder.pid, message: new RegExp(`in process ${holder.pid} `) })
    holder.kill('SIGSTOP')
    await assert.rejects(lock(folder, undefined, IMPATIENT), {
      ...LOCKED, pid: holder.pid, message: new RegExp(`process ${holder.pid}, which does not answer`)
    })
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
    const module = JSON.stringify(join(root, 'lib/log/lock'))
    const script = `require(${module}).lock('/mnt').then(() => { console.log('held'); setInterval(() => {}, 1000) })`
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

  for (const digit of ['0', 'f']) {
    it(`waits for one who is opening too, whoever comes first by name, and has it when that gives up (${digit})`, async () => {
      const opening = await listen(nameOf(digit), socket => socket.end('opening 1 0'))
      const locking = lock(folder)
      await once(opening, 'connection')
      await once(opening, 'connection')
      await close(opening)
      await (await locking).release()
    })

    it(`gives up when one who was opening too has it (${digit})`, async () => {
      let state = 'opening 1 0'
      const opening = await listen(nameOf(digit), socket => socket.end(state))
      const locking = lock(folder)
      await once(opening, 'connection')
      state = 'held 1'
      await assert.rejects(locking, { ...LOCKED, pid: 1 })
      await close(opening)
    })

    it(`gives up for one who says nothing, not at once (${digit})`, async () => {
      let count = 0
      const silent = await listen(nameOf(digit), socket => {
        count++
        socket.on('error', () => {})
      })
      await assert.rejects(lock(folder, undefined, IMPATIENT), {
        ...LOCKED, pid: 0xabcdef, message: /process 11259375, which does not answer/
      })
      assert(count > 1)
      await close(silent)
    })
  }

  it('goes before one who comes later by name, once that has looked again', async () => {
    let looks = 0
    const opening = await listen(nameOf('f'), socket => socket.end(`opening 1 ${looks++ >> 1}`))
    const held = await lock(folder)
    assert(looks > 2, `${looks}`)
    await held.release()
    await close(opening)
  })

  it('gives up for one who is opening for too long', async () => {
    const opening = await listen(nameOf('0'), socket => socket.end('opening 1 0'))
    await assert.rejects(lock(folder, undefined, IMPATIENT), { ...LOCKED, pid: 1, message: /is being opened in process 1 / })
    await close(opening)
  })

  it('gives up for one of the version before, which names no process', async () => {
    const holder = await listen(nameOf('0'), socket => socket.end('held'))
    await assert.rejects(lock(folder), { ...LOCKED, pid: undefined, message: /is already open, here or in another process/ })
    await close(holder)
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
    const { createServer, connect } = net
    net.connect = path => connect(`\0${path.slice(-40)}`)
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
      await assert.rejects(lock(folder, 'win32'), { ...LOCKED, pid: process.pid })
      await held.release()
      await (await lock(folder, 'win32')).release()
      const opening = await Promise.all(
        Array.from({ length: 5 }, () => lock(folder, 'win32').catch(err => { assert.equal(err.pid, process.pid) }))
      )
      assert.equal(opening.filter(held => held !== undefined).length, 1)
      await opening.find(held => held !== undefined).release()
    } finally {
      net.createServer = createServer
      net.connect = connect
    }
  })

  /** The name of a lock of process 11259375 that comes before all others, or behind them. */
  function nameOf (digit) {
    return `lock-${digit.repeat(10)}abcdef`
  }

  async function startHolder () {
    const script = `require(${JSON.stringify(join(root, 'lib/log/lock'))}).lock(${JSON.stringify(folder)})
      .then(() => { console.log('held'); setInterval(() => {}, 1000) })`
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    return holder
  }

  function tryToLock () {
    const times = { answerMs: 500, patienceMs: 0 }
    const [module, path, given] = [join(root, 'lib/log/lock'), folder, times].map(value => JSON.stringify(value))
    return `require(${module}).lock(${path}, undefined, ${given})
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
