'use strict'

// The two packages that talk to the broker. They are optional peer dependencies, and loaded when the first queue is opened.

const { FairlaneError } = require('../../arguments/errors')

module.exports = { loadPeers }

/**
 * @param {() => { bullmq: object, ioredis: object }} [load]
 * @returns {{ createRedisBackend: Function, Redis: Function, Cluster: Function }}
 * @throws FAIRLANE_ERR_PEER if one is not installed, or too old
 */
function loadPeers (load = loadInstalled) {
  try {
    const { bullmq, ioredis } = load()
    const { createRedisBackend } = bullmq
    const { Redis, Cluster } = ioredis
    if (createRedisBackend !== undefined && Redis !== undefined && Cluster !== undefined) return { createRedisBackend, Redis, Cluster }
    throw new Error('an installed version lacks what fairlane needs')
  } catch (cause) {
    const what = `fairlane/distributed needs bullmq 6 and ioredis (${cause.message})`
    throw new FairlaneError('FAIRLANE_ERR_PEER', `${what}: npm install bullmq@6 ioredis`, { cause })
  }
}

function loadInstalled () {
  return { bullmq: require('bullmq'), ioredis: require('ioredis') }
}
