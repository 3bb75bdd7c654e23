'use strict'

// Connections whose calls a test has fail, wait, or lose their answers.

const { Redis } = require('ioredis')

module.exports = { rigged, openRigged, latch }

/**
 * @param {object} at as of atServer()
 * @returns {(runner: any, options?: object) => Promise<{ queue: object, rig: object }>} opens a queue at such connections
 */
function openRigged (at) {
  return async (runner, options) => {
    const rig = rigged(at.server.path)
    const queue = await at.open(runner, { connection: rig.connection, settleBy: runner?.length > 1 ? 'callback' : 'promise', ...options })
    return { queue, rig }
  }
}

/**
 * @param {string} path of the server's socket
 * @returns {object} `connection` for a queue; `calls` and `messages`, its clients; `rig(name, instead)`
 */
function rigged (path) {
  const rig = {
    calls: undefined,
    messages: undefined,

    connection (purpose) {
      rig[purpose] = new Redis(path, { maxRetriesPerRequest: 0, retryStrategy: () => 20 })
      return rig[purpose]
    },

    /**
     * Has calls made otherwise: by their name as that of a method of ioredis, or of a script of BullMQ's.
     * @param {(call: () => Promise<any>, ...args: any[]) => Promise<any>} instead call: what would have been done
     * @returns {() => void} calls are as before
     */
    rig (name, instead) {
      const { calls: client } = rig
      const method = Object.keys(client).find(key => key.startsWith(`${name}:`)) ?? name
      const original = client[method]
      const isOwn = Object.hasOwn(client, method)
      client[method] = (...args) => instead(() => original.apply(client, args), ...args)
      return () => {
        if (isOwn) client[method] = original
        else delete client[method]
      }
    },

    /** The same for the next call only. */
    once (name, instead) {
      const restore = rig.rig(name, (...args) => {
        restore()
        return instead(...args)
      })
    },

    /** Something happens between the answers to the questions that are asked together next (questions.js), and what is made of them. */
    afterAnswers (happens) {
      rig.once('pipeline', call => {
        const pipeline = call()
        const { exec } = pipeline
        return Object.assign(pipeline, {
          exec: async () => {
            const answers = await exec.call(pipeline)
            await happens()
            return answers
          }
        })
      })
    },

    /** The next call of that name reaches the broker, and its answer is lost. @returns {Promise<void>} resolves when that has happened */
    loseAnswer (name) {
      return new Promise(resolve => rig.once(name, async call => {
        await call()
        resolve()
        throw new Error('Connection is closed.')
      }))
    },

    /** The next call of that name is refused. @returns {Promise<void>} resolves when that has happened */
    refuse (name, error = new Error('ERR refused by the test')) {
      return new Promise(resolve => rig.once(name, async () => {
        resolve()
        throw error
      }))
    },

    /** The next call of that name is made when the test says so. @returns {{ reached: Promise<void>, open: () => void }} */
    delay (name) {
      const reached = latch()
      const gate = latch()
      rig.once(name, async call => {
        reached.open()
        await gate.opened
        return call()
      })
      return { reached: reached.opened, open: gate.open }
    }
  }
  return rig
}

/** @returns {{ opened: Promise<void>, open: () => void }} */
function latch () {
  let open
  const opened = new Promise(resolve => { open = resolve })
  return { opened, open }
}
