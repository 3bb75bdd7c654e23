'use strict'

// What stands in front of the handlers of the case http-admission: { make({ isFlood }): (request, response, next) => void, note?, package?,
// peer? }.
// All are given the same number of slots, if they have such a thing.

const { packagePath } = require('../durable/peers')
const { versionOf } = require('../contenders')

const SLOTS = 64
const MOST_WAITING = 1000
/** So many requests of a tenant in a second: what the server of the flood can do, shared by two. */
const LIMIT = 4000

const nothing = { make: () => (request, response, next) => next() }

const ours = {
  package: 'fairlane',
  make () {
    const { admission } = require('../../lib/http')
    return admission({ tenant: request => request.headers.tenant, concurrency: SLOTS, maxWaiting: MOST_WAITING })
  }
}

module.exports = {
  SLOTS,

  /** By the name of the contender. @type {Object<string, Object<string, object>>} by group */
  groups: {
    node: { fairlane: ours, 'no middleware': nothing },
    express: {
      fairlane: ours,
      'no middleware': nothing,
      'express-rate-limit': {
        peer: 'express-rate-limit',
        note: `in the flood rejects beyond ${LIMIT.toLocaleString('en')} requests of a tenant in a second, and never waits`,
        make ({ isFlood }) {
          const { rateLimit } = require(packagePath('express-rate-limit'))
          const keyGenerator = request => request.headers.tenant
          const limit = isFlood ? LIMIT : 1e9
          return rateLimit({ windowMs: 1000, limit, keyGenerator, validate: false, standardHeaders: false, legacyHeaders: false })
        }
      },
      'express-queue': {
        peer: 'express-queue',
        note: 'one queue for all tenants',
        make: () => require(packagePath('express-queue'))({ activeLimit: SLOTS, queuedLimit: MOST_WAITING })
      }
    }
  },

  versionOf (name, peers) {
    if (name === 'no middleware') return null
    if (name === 'fairlane') return versionOf('fairlane')
    const version = peers?.[name]?.version
    return version === undefined ? null : `${name}@${version}`
  }
}
