'use strict'

// How the command line comes to a queue at a broker: it runs none of its jobs, has no part in what its processes do, and writes nothing by
// looking. What the queue was opened with stands at the broker.

const { rangeError } = require('../arguments/errors')
const { isArray } = require('../arguments/fields')
const { makeClient } = require('./broker/clients')
const { brokerError } = require('./broker/failures')
const { loadPeers } = require('./broker/peers')
const { jobsOf } = require('./export')
const { readOptions } = require('./options')
const { openVisited } = require('./queue')

const RAW = { encode: payload => payload, decode: bytes => bytes } // of a service's own

/**
 * @param {{ connection: string | string[], name: string, pushTimeoutMs: number }} options as of distributed(); pushTimeoutMs: for how long
 *   calls are tried
 * @returns {Promise<{ queue: DistributedQueue, jobs: (type?: string) => AsyncGenerator<object> }>} jobs(): each job that was there at the
 *   beginning and has not ended, dead letters too. A payload is a Buffer where it cannot be decoded here
 * @throws FAIRLANE_ERR_ARGUMENT if there is no such queue, FAIRLANE_ERR_PEER, FAIRLANE_ERR_BROKER, FAIRLANE_ERR_OPTION
 */
async function openAtBroker (options) {
  readOptions(options) // before anything is asked by them
  const { partitions, serializer } = await remembered(options)
  const serialize = serializer === 'custom' ? RAW : serializer
  const { queue, parts } = await openVisited({ ...options, partitions: Number(partitions), serialize })
  return { queue, jobs: type => jobsOf(parts, type) }
}

/** What the broker knows of a queue. */
async function remembered ({ connection, name, pushTimeoutMs }) {
  const client = makeClient({ connection, isCluster: isArray(connection) }, loadPeers(), 'calls')
  let failure
  client.on('error', err => { failure ??= err })
  // a cluster is looked for without an end, and a server may not answer
  const timer = setTimeout(() => {
    failure ??= new Error(`there was no answer within ${pushTimeoutMs} ms`)
    client.disconnect()
  }, pushTimeoutMs)
  try {
    const [partitions, serializer] = await client.hmget(`{fairlane:${name}}:.queue`, 'partitions', 'serializer')
    if (partitions === null) throw rangeError('FAIRLANE_ERR_ARGUMENT', `There is no queue ${name} at the broker`)
    return { partitions, serializer }
  } catch (err) {
    throw err.code === 'FAIRLANE_ERR_ARGUMENT' ? err : brokerError(failure ?? err)
  } finally {
    clearTimeout(timer)
    client.disconnect()
  }
}

module.exports = { openAtBroker }
