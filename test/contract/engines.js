'use strict'

// Queues of each engine for the suite: at places of their own, opened again, in other processes, and in processes that are killed.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const { join } = require('node:path')
const fairlane = require('../../index.js')
const { distributed } = require('../../lib/distributed')
const { durable } = require('../../lib/durable')
const { temporaryFolder } = require('../support/folders')

module.exports = { atBroker, onDisk, inMemory }

async function inMemory (runner, options) {
  const queue = fairlane(runner, options)
  return { queue, close: () => queue.close({ drain: false }) }
}

async function onDisk (runner, options) {
  const path = temporaryFolder()
  const open = async (runner, options) => {
    const queue = await durable(runner, { path, ...options })
    const close = () => queue.close({ timeoutMs: 0 }).catch(() => {}) // it may have been opened again meanwhile
    return {
      queue,
      close,
      async reopen (...args) {
        await close()
        return open(...args)
      },
      async crash () {
        await close()
        await crash({ path })
      }
    }
  }
  return open(runner, options)
}

/** @param {() => any} connection asked at each opening @returns {Function} for the option `make` of the suite */
function atBroker (connection) {
  let count = 0
  return async function make (runner, options) {
    const own = { name: `contract-${process.pid}-${count++}`, connection: connection() }
    const open = async (runner, options) => {
      const queue = await distributed(runner, { ...own, ...options })
      const close = () => queue.close({ timeoutMs: 0 })
      return {
        queue,
        close,
        another: open,
        async reopen (...args) {
          await close()
          return open(...args)
        },
        async crash () {
          await close()
          await crash({ ...own, leaseMs: 1000 })
        }
      }
    }
    return open(runner, options)
  }
}

/** Has a process open the queue and start a job, and kills it. */
async function crash (options) {
  const child = fork(join(__dirname, 'process.js'), [JSON.stringify(options)], { env: { ...process.env, NODE_OPTIONS: '' } })
  const exited = once(child, 'exit')
  await Promise.race([once(child, 'message'), exited.then(([code]) => { throw new Error(`the process ended with ${code}`) })])
  child.kill('SIGKILL')
  await exited
}
