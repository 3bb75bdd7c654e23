'use strict'

// fairlane board: the page for tenants, of a broker, or of a folder that nobody has open, until the program is told to end.

const { once } = require('node:events')
const { basename, resolve } = require('node:path')
const { board: makeBoard } = require('../../board')
const { Metrics } = require('../../metrics')
const { shown } = require('../text')

const SIGNALS = ['SIGINT', 'SIGTERM']

async function board ({ target, values: { port = 0, 'read-only': readOnly }, output, world }) {
  const server = (await handlerOf(target, readOnly)).listen(port)
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/`
  await output.write(output.isJson ? output.json({ url }) : url)
  if (target.isFolder) output.note(shown('No jobs run while the page is open: no other process can open the folder.'))
  await signalOf(world)
  server.close()
  server.closeAllConnections()
}

async function handlerOf (target, readOnly) {
  if (!target.isFolder) return makeBoard(await target.open(), { name: target.name, readOnly })
  const metrics = new Metrics()
  // types are shown by themselves
  const queue = await target.open({ observers: metrics, scheduler: 'equal' })
  return makeBoard(queue, { name: basename(resolve(target.path)), metrics, readOnly })
}

/** @returns {Promise<void>} resolves when the program is told to end */
async function signalOf (world) {
  await new Promise(resolve => {
    const end = () => {
      for (const signal of SIGNALS) world.off(signal, end)
      resolve()
    }
    for (const signal of SIGNALS) world.on(signal, end)
  })
}

module.exports = { board }
