'use strict'

// How the command line comes to a queue at a broker: it runs none of its jobs, has no part in what its processes do, and writes nothing by
// looking. What the queue was opened with stands at the broker.

const { rangeError } = require('../arguments/errors')
const { isArray } = require('../arguments/fields')
const { makeClient } = require('./broker/clients')
const { brokerError } = require('./broker/failures')
const { loadPeers } = require('./broker/peers')
const { readOptions } = require('./options')
const { openVisited } = require('./queue')

const RAW = { encode: payload => payload, decode: bytes => bytes } // of a service's own
// Of jobs, by BullMQ's keys of a type; those that are sorted by a time have that as their score, in parts of ms where it says so.
const STATES = [
  { key: 'active', state: 'running', isList: true },
  { key: 'wait', state: 'waiting', isList: true },
  { key: 'prioritized', state: 'waiting' },
  { key: 'delayed', state: 'delayed', time: 'dueAt', partsOfMs: 4096 },
  { key: 'failed', state: 'dead', time: 'at', partsOfMs: 1 }
]
const MOST_RECORDS = 100 // that are read with one call

/**
 * @param {{ connection: string | string[], name: string, pushTimeoutMs: number }} options as of distributed(); pushTimeoutMs: for how long
 *   calls are tried
 * @returns {Promise<{ queue: DistributedQueue, jobs: (type?: string) => AsyncGenerator<object> }>} jobs(): each job that was there at the
 *   beginning and has not ended, once, dead letters too. A payload is a Buffer where it cannot be decoded here
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

/** A type after the other. Which jobs it has is read in one step, so none is missed, or told twice, that changes its state meanwhile. */
async function * jobsOf ({ broker, globals, records }, type) {
  for await (const places of globals.somePlaces(type)) {
    for (const place of places) {
      const found = await broker.soon(() => namesOf(broker.client, place))
      for (let at = 0; at < found.length; at += MOST_RECORDS) {
        const some = found.slice(at, at + MOST_RECORDS)
        const read = await broker.soon(() => records.readAll(some))
        for (const [index, record] of read.entries()) {
          // it may have ended meanwhile
          if (record !== undefined) yield jobOf(records, some[index], record)
        }
      }
    }
  }
}

function jobOf (records, { place, name, state, times }, record) {
  return Object.assign(records.entryOf(place, name, record, state), { pushedAt: Number(record.timestamp), ...times })
}

async function namesOf (client, place) {
  const calls = client.multi()
  for (const { key, isList } of STATES) {
    if (isList) calls.lrange(place.key(key), 0, -1)
    else calls.zrange(place.key(key), 0, -1, 'WITHSCORES')
  }
  const answers = await calls.exec()
  return answers.flatMap(([err, answer], index) => {
    if (err) throw err
    return foundBy(STATES[index], answer).map(found => ({ place, ...found }))
  })
}

function foundBy ({ key, state, isList, time, partsOfMs }, answer) {
  if (isList) return (key === 'wait' ? answer.toReversed() : answer).map(name => ({ name, state })) // the next one is the last
  const found = []
  for (let i = 0; i < answer.length; i += 2) {
    found.push({ name: answer[i], state, times: time === undefined ? {} : { [time]: Math.floor(Number(answer[i + 1]) / partsOfMs) } })
  }
  return found
}

module.exports = { openAtBroker }
