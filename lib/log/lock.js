'use strict'

// One process per folder. The process that has it open listens on a Unix socket in the folder: the kernel knows whether that is so,
// whatever became of the process, and in whichever container it is. A socket without a listener is left over.
// docs/decisions/0033-lock.md says what else there is, and where this does not hold; 0100-who-opens-first.md, what happens when
// several open at once.

const { randomBytes, createHash } = require('node:crypto')
const fs = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { FairlaneError } = require('../arguments/errors')

const LOCK_NAME = /^lock-[0-9a-f]{16}$/
const NEW_NAME = /^lock-[0-9a-f]{16}-new$/
const RANDOM_BYTES = 5
const PID_BYTES = 3 // the kernel's limit is 2^22
const HELD = 'held'
const OPENING = 'opening'
const GOING = '' // closed the connection without a word: gives up just now
const SILENT = 'silent' // is there, and does not answer: stopped, or busy; or not to be asked
// How long to wait for an answer, and for one who is opening or does not answer.
const TIMES = { answerMs: 2000, patienceMs: 10000 }
const PAUSE_MS = 5
// How long a name may be there before it has a listener.
const NEW_MS = 2000

/**
 * @param {string} folder which is there
 * @param {string} [platform]
 * @param {{ answerMs: number, patienceMs: number }} [times]
 * @returns {Promise<{ release: () => Promise<void> }>}
 * @throws FAIRLANE_ERR_LOCKED, with the `pid` of the process that has it, if that is known
 */
function lock (folder, platform = process.platform, times = TIMES) {
  return platform === 'win32' ? lockByName(pipeName(folder), folder, times) : lockBySocket(folder, platform, times)
}

/**
 * Who has a folder open, or is opening it. Nothing is changed by that: what is left over stays.
 * @param {string} folder which is there
 * @returns {Promise<{ state: string, pid: number | undefined } | undefined>} undefined if nobody has
 */
async function holderOf (folder, platform = process.platform, { answerMs } = TIMES) {
  if (platform === 'win32') return ask(pipeName(folder), answerMs)
  const place = new Place(folder, platform)
  try {
    for (const name of fs.readdirSync(folder).filter(name => LOCK_NAME.test(name))) {
      const other = await ask(place.address(name), answerMs)
      if (other !== undefined) return { pid: pidOf(name), ...other }
    }
    return undefined
  } finally {
    place.close()
  }
}

/** Windows gives the name of a pipe to one process, and takes it back when that ends. */
function pipeName (folder) {
  return `\\\\.\\pipe\\fairlane-${createHash('sha256').update(fs.realpathSync(folder)).digest('hex')}`
}

async function lockByName (name, folder, { answerMs }) {
  const server = net.createServer(socket => socket.end(`${HELD} ${process.pid}`))
  for (;;) {
    try {
      await listen(server, name)
      return { release: () => close(server) }
    } catch (err) {
      /* istanbul ignore if: cannot be had without Windows */
      if (err.code !== 'EADDRINUSE') throw err
    }
    const other = await ask(name, answerMs)
    /* istanbul ignore else: it has ended just now */
    if (other !== undefined) throw locked(folder, other)
  }
}

//   listen on a socket with a name of its own ─▶ look at the others ─▶ held
//                                                  │ one is held: give up
//                                                  │ one is opening: look again
//                                                  │    but for one that is later by name: it will see this one before it takes the lock
//                                                  └ without a listener: left over, remove
//
// A later one sees all earlier ones, since each can be seen before it looks. Nothing is taken away from a process that is alive, and names
// are never used twice, so there is no moment in which two could take over the same.
async function lockBySocket (folder, platform, times) {
  const place = new Place(folder, platform)
  const name = newName()
  const opener = new Opener(place, name, times)
  const asking = new Set()
  const server = net.createServer(socket => {
    asking.add(socket)
    socket.on('close', () => asking.delete(socket))
    socket.on('error', /* istanbul ignore next: only if the other dies at this moment */ () => {})
    socket.end(opener.answer)
  })
  const release = async () => {
    try {
      fs.rmSync(join(folder, name), { force: true })
    } finally {
      const closed = close(server)
      // a process that asks and then is stopped would delay this
      for (const socket of asking) socket.destroy()
      await closed
      place.close()
    }
  }
  try {
    await appear(server, place, name)
    await opener.haveItAlone()
    return { release }
  } catch (err) {
    await release()
    throw err
  }
}

function newName () {
  const pid = (process.pid % 2 ** (8 * PID_BYTES)).toString(16).padStart(2 * PID_BYTES, '0')
  return `lock-${randomBytes(RANDOM_BYTES).toString('hex')}${pid}`
}

/** Begins to listen, under the name only when it does: between bind and listen a socket looks left over. */
async function appear (server, place, name) {
  await listen(server, place.address(`${name}-new`))
  fs.renameSync(join(place.folder, `${name}-new`), join(place.folder, name))
}

/** One who is to have the lock of a folder. */
class Opener {
  constructor (place, name, { answerMs, patienceMs }) {
    this.place = place
    this.name = name
    this.answerMs = answerMs
    this.patienceMs = patienceMs
    this.isHeld = false
    this.looksCount = 0 // that have ended
    this.seen = new Map() // others by name → how many looks of theirs had ended when they were asked first
  }

  /** The answer to other openers. */
  get answer () {
    return this.isHeld ? `${HELD} ${process.pid}` : `${OPENING} ${process.pid} ${this.looksCount}`
  }

  async haveItAlone () {
    const end = performance.now() + this.patienceMs
    for (;;) {
      const inTheWay = await this.look()
      if (inTheWay === undefined) {
        // in one go with the end of the look
        this.isHeld = true
        return
      }
      if (performance.now() > end) throw locked(this.place.folder, inTheWay)
      this.looksCount++
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    }
  }

  // private from here on

  /** @returns {Promise<object | undefined>} one of those to wait for; undefined if there is none */
  async look () {
    const { place } = this
    let inTheWay
    for (const name of fs.readdirSync(place.folder)) {
      if (name === this.name || !(LOCK_NAME.test(name) || NEW_NAME.test(name))) continue
      const isNew = NEW_NAME.test(name)
      const other = await ask(place.address(name), this.answerMs)
      // a new one without a listener may be about to have one; when its time is over, its process has died
      if (other === undefined) removeLeftOver(join(place.folder, name), isNew)
      // it has not looked yet, and will see this one when it does
      else if (isNew) continue
      else if (other.state === HELD) throw locked(place.folder, other)
      else if (!this.isBehind(name, other)) inTheWay = { pid: pidOf(name), ...other }
    }
    return inTheWay
  }

  /**
   * Whether another one comes later by name, and leaves the lock to this one. It may be in the middle of a look that began before this one
   * was there to be seen, and take the lock at its end. If that look has ended without, all that follow see this one.
   */
  isBehind (name, { state, looksCount }) {
    if (state !== OPENING || name < this.name) return false
    if (!this.seen.has(name)) this.seen.set(name, looksCount)
    return looksCount > this.seen.get(name)
  }
}

function removeLeftOver (path, isNew) {
  const found = fs.lstatSync(path, { throwIfNoEntry: false })
  /* istanbul ignore if: somebody else has removed it at this moment */
  if (found === undefined) return
  if (!isNew || Date.now() - found.ctimeMs > NEW_MS) fs.rmSync(path, { force: true })
}

/**
 * @returns {Promise<{ state: string, pid?: number, looksCount?: number } | undefined>} what the one behind a socket says; undefined if
 *   there is nobody
 */
function ask (address, answerMs) {
  return new Promise(resolve => {
    const socket = net.connect(address)
    let answer = GOING
    const timer = setTimeout(() => {
      answer = SILENT
      socket.destroy()
    }, answerMs)
    socket.on('data', data => { answer += data })
    socket.on('error', err => {
      answer = answerOf(err)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer === undefined ? undefined : readAnswer(answer))
    })
  })
}

/* istanbul ignore next: which errors there are depends on the moment, and on who runs the tests */
function answerOf ({ code }) {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined
  return code === 'ECONNRESET' || code === 'EPIPE' ? GOING : SILENT
}

/** That of the version before has the state only. */
function readAnswer (answer) {
  const [state, pid, looksCount] = answer.split(' ')
  return pid === undefined ? { state } : { state, pid: Number(pid), looksCount: Number(looksCount) }
}

/** Of the process whose socket has that name. */
function pidOf (name) {
  return parseInt(name.slice(-2 * PID_BYTES), 16)
}

function listen (server, address) {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // exclusive: in a cluster the primary would listen in the worker's place
    server.listen({ path: address, exclusive: true }, () => {
      server.unref()
      resolve()
    })
  })
}

function close (server) {
  return new Promise(resolve => server.close(() => resolve()))
}

/** How the sockets of a folder are named to the kernel, which takes some 100 bytes. */
class Place {
  constructor (folder, platform) {
    this.folder = folder
    this.fd = platform === 'linux' ? fs.openSync(folder, 'r') : undefined
  }

  address (name) {
    return this.fd === undefined ? join(this.folder, name) : `/proc/self/fd/${this.fd}/${name}`
  }

  close () {
    if (this.fd !== undefined) fs.closeSync(this.fd)
  }
}

/** @param {{ state: string, pid: number | undefined }} other the opener that has it; its pid is that of its own container */
function locked (folder, { state, pid }) {
  const where = pid === process.pid ? 'in this process' : pid === undefined ? 'here or in another process' : `in process ${pid}`
  const what = {
    [HELD]: `is already open, ${where}`,
    [SILENT]: `is already open, or being opened, ${where}, which does not answer`
  }[state] ?? `is being opened ${where}`
  return Object.assign(new FairlaneError('FAIRLANE_ERR_LOCKED', `The queue ${what} (${folder})`), { pid })
}

module.exports = { lock, holderOf }
