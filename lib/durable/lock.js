'use strict'

// One process per folder. Whoever has it open listens on a Unix socket in the folder: the kernel knows whether somebody does,
// whatever became of the process, and in whichever container it is. A socket that nobody listens on is left over.
// docs/decisions/0033-lock.md says what else there is, and where this does not hold.
//
//   listen on a socket with a name of its own ─▶ look at the others ─▶ held
//                                                  │ one is held, or opening and its name is less: give up
//                                                  │ one is opening and its name is greater: it will give up; look again
//                                                  └ nobody listens on it: left over, remove
//
// Who comes later sees who came earlier, since each is to be seen before it looks. Nothing is ever taken away from
// somebody who is alive, and names are never used twice, so there is no moment in which two could take over the same.

const { randomBytes, createHash } = require('node:crypto')
const fs = require('node:fs')
const net = require('node:net')
const { join } = require('node:path')
const { FairlaneError } = require('../errors')

const LOCK_NAME = /^lock-[0-9a-f]{16}$/
const NEW_NAME = /^lock-[0-9a-f]{16}-new$/
const HELD = 'held'
const OPENING = 'opening'
const GOING = '' // closed the connection without a word: gives up just now
const ANSWER_MS = 2000

/**
 * @param {string} folder which is there
 * @param {string} [platform]
 * @returns {Promise<{ release: () => Promise<void> }>}
 * @throws FAIRLANE_ERR_LOCKED
 */
function lock (folder, platform = process.platform) {
  return platform === 'win32' ? lockByName(pipeName(folder)) : lockBySocket(folder, platform)
}

/** Windows gives the name of a pipe to one process, and takes it back when that ends. */
function pipeName (folder) {
  return `\\\\.\\pipe\\fairlane-${createHash('sha256').update(fs.realpathSync(folder)).digest('hex')}`
}

async function lockByName (name) {
  const server = net.createServer(/* istanbul ignore next: nobody asks */ socket => socket.destroy())
  try {
    await listen(server, name)
  } catch (err) {
    throw err.code === 'EADDRINUSE' ? locked(name) : /* istanbul ignore next: cannot be had without Windows */ err
  }
  return { release: () => close(server) }
}

async function lockBySocket (folder, platform) {
  const place = new Place(folder, platform)
  const name = `lock-${randomBytes(8).toString('hex')}`
  let answer = OPENING
  const asking = new Set()
  const server = net.createServer(socket => {
    asking.add(socket)
    socket.on('close', () => asking.delete(socket))
    socket.on('error', /* istanbul ignore next: only if the other dies at this moment */ () => {})
    socket.end(answer)
  })
  const release = async () => {
    try {
      fs.rmSync(join(folder, name), { force: true })
    } finally {
      const closed = close(server)
      // who asks and then is stopped would hold it for as long
      for (const socket of asking) socket.destroy()
      await closed
      place.close()
    }
  }
  try {
    await appear(server, place, name)
    await haveItAlone(place, name)
    answer = HELD
    return { release }
  } catch (err) {
    await release()
    throw err
  }
}

/** Begins to listen, under the name only when it does: between bind and listen a socket looks left over. */
async function appear (server, place, name) {
  await listen(server, place.address(`${name}-new`))
  fs.renameSync(join(place.folder, `${name}-new`), join(place.folder, name))
}

async function haveItAlone (place, own) {
  for (;;) {
    let isWaiting = false
    for (const name of fs.readdirSync(place.folder)) {
      if (name === own || !(LOCK_NAME.test(name) || NEW_NAME.test(name))) continue
      const state = await ask(place.address(name))
      // a new one that nobody listens on may be about to; when its time is over it is somebody's who died
      if (state === undefined) removeLeftOver(join(place.folder, name), NEW_NAME.test(name))
      else if (NEW_NAME.test(name)) continue
      else if (state === GOING || (state === OPENING && own < name)) isWaiting = true
      else throw locked(place.folder)
    }
    if (!isWaiting) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

function removeLeftOver (path, isNew) {
  // none, if somebody else was faster
  const { ctimeMs } = fs.lstatSync(path, { throwIfNoEntry: false }) ?? /* istanbul ignore next */ {}
  if (!isNew || Date.now() - ctimeMs > ANSWER_MS) fs.rmSync(path, { force: true })
}

/** @returns {Promise<string | undefined>} what the one behind a socket says; undefined if there is nobody */
function ask (address) {
  return new Promise(resolve => {
    const socket = net.connect(address)
    let answer = GOING
    const timer = setTimeout(() => {
      // one who listens and says nothing is stopped, or busy: there
      answer = HELD
      socket.destroy()
    }, ANSWER_MS)
    socket.on('data', data => { answer += data })
    socket.on('error', err => {
      answer = answerOf(err)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(answer)
    })
  })
}

/* istanbul ignore next: which errors there are depends on the moment, and on who runs the tests */
function answerOf ({ code }) {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined
  return code === 'ECONNRESET' || code === 'EPIPE' ? GOING : HELD
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

function locked (folder) {
  return new FairlaneError('FAIRLANE_ERR_LOCKED', `The queue is open already, here or in another process (${folder})`)
}

module.exports = { lock }
