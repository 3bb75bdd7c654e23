'use strict'

// Starts processes with distributed queues, listens to them, and ends them.

const { fork } = require('node:child_process')
const { EventEmitter, once } = require('node:events')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const running = new Set()

process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

module.exports = { startProcess, startsIn }

/**
 * @param {object} settings of process.js
 * @returns {Promise<object>} `until(event, count)`; `of(event)`, its values so far; `call(name, ...args)` gives what the queue's method
 *   does; `kill(signal)`
 */
async function startProcess (settings) {
  const env = { ...process.env, NODE_OPTIONS: '' }
  const child = fork(join(__dirname, 'process.js'), [JSON.stringify(settings)], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  running.add(child)
  const told = new EventEmitter()
  const events = []
  const of = event => events.filter(entry => entry.event === event).map(({ value }) => value)
  let isGone = false
  const exited = once(child, 'exit').then(([code, signal]) => {
    isGone = true
    running.delete(child)
    told.emit('exit', { code, signal })
    return { code, signal }
  })
  child.on('message', ({ event, value }) => {
    events.push({ event, value })
    told.emit(event, value)
  })
  await Promise.race([once(told, 'open'), exited.then(end => { throw new Error(`the process ended: ${JSON.stringify(end)}`) })])
  return {
    pid: child.pid,
    exited,
    of,
    /** Resolves when it has told so many of an event. */
    until: (event, count) => new Promise(resolve => {
      const look = () => {
        if (of(event).length < count) return
        told.off(event, look)
        resolve()
      }
      told.on(event, look)
      look()
    }),
    send: (call, ...args) => child.send({ call, args }),
    async call (name, ...args) {
      child.send({ call: name, args })
      const [value] = await once(told, name)
      return value
    },
    async kill (signal = 'SIGKILL') {
      if (!isGone) child.kill(signal)
      return exited
    },
    signal: signal => child.kill(signal)
  }
}

/** @returns {Map<string, number>} how often each job was started, by the log of process.js */
function startsIn (log) {
  const starts = new Map()
  if (!existsSync(log)) return starts
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [id] = line.split(' ')
    if (id !== '') starts.set(id, (starts.get(id) ?? 0) + 1)
  }
  return starts
}
