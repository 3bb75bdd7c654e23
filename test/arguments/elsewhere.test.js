'use strict'

// What is said of an option that another engine has: it is true, and complete, by what the engines accept, and by their types.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const fairlane = require('../..')
const { HINTS, names: coreNames } = require('../../lib/core/internals').options
const durable = require('../../lib/durable/options')
const distributed = require('../../lib/distributed/options')

const noop = () => {}
const BROKER = { name: 'q', connection: 'redis://127.0.0.1:1' }

// engine → interfaces of its types, and what reads an object with one more name
const ROOMS = {
  'fairlane()': {
    ofQueues: { interfaces: ['index.d.ts QueueOptions'], read: option => fairlane(noop, option) },
    ofJobs: { interfaces: ['index.d.ts PlanOptions'], read: option => fairlane(noop).add(1, option).catch(noop) }
  },
  'fairlane/durable': {
    ofQueues: { interfaces: ['lib/log/index.d.ts LogOptions', 'lib/durable/index.d.ts DurableOptions'], read: option => durable.readJobOptions({ path: 'p', ...option }) },
    ofJobs: { interfaces: ['lib/durable/index.d.ts PushOptions'], read: option => durable.readPushOptions(option, 'push', true) }
  },
  'fairlane/distributed': {
    ofQueues: { interfaces: ['lib/distributed/index.d.ts DistributedOptions'], read: option => distributed.readOptions({ ...BROKER, ...option }) },
    ofJobs: { interfaces: ['lib/distributed/index.d.ts DistributedPushOptions'], read: option => distributed.readPushOptions(option, 'push') }
  }
}
const OF_ALL = { ofQueues: coreNames, ofJobs: ['type', 'unshift', 'signal', 'timeoutMs', 'maxWaitMs'] }

/** @returns {string[]} the names in the body of an interface */
function namesIn (text) {
  const [file, name] = text.split(' ')
  const types = readFileSync(join(__dirname, '../..', file), 'utf8')
  const [, indent, body] = types.match(new RegExp(`^( *)(?:export )?interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)\\n\\1\\}`, 'm'))
  return [...body.matchAll(new RegExp(`^${indent} {2}(\\w+)\\??:`, 'gm'))].map(([, name]) => name)
}

function accepts (read, name) {
  try {
    read({ [name]: undefined })
    return true
  } catch ({ message }) {
    return !/^unknown option|no priorities/.test(message)
  }
}

describe('What is said of an option that another room has', function () {
  for (const [kind, hints] of Object.entries({ ofQueues: HINTS, ofJobs: new Map() })) {
    it(`names rooms that have it, of each that any has: ${kind}`, function () {
      const names = new Set(Object.values(ROOMS).flatMap(room => room[kind].interfaces.flatMap(namesIn)))
      for (const name of OF_ALL[kind]) names.delete(name)
      for (const name of names) if (Object.values(ROOMS).every(room => accepts(room[kind].read, name))) names.delete(name)
      for (const name of names) {
        const told = Object.keys(ROOMS).filter(room => hints.get(name).includes(room))
        assert.ok(told.length > 0, name)
        for (const room of told) assert.ok(accepts(ROOMS[room][kind].read, name), `${name} in ${room}`)
      }
      for (const [name, text] of hints) assert.equal(names.has(name), / ha(s|ve) it$/.test(text), name)
    })
  }

  it('is said by all of them', function () {
    assert.throws(() => fairlane(noop, { leaseMs: 1000 }), { message: "unknown option 'leaseMs'; fairlane/distributed has it" })
    assert.throws(() => fairlane(noop, { path: 'p' }), { message: "unknown option 'path'; fairlane/durable has it" })
    assert.throws(() => durable.readJobOptions({ path: 'p', prefetch: 1 }), { message: "unknown option 'prefetch'; fairlane/distributed has it" })
    assert.throws(() => distributed.readOptions({ ...BROKER, maxWaiting: 5 }), { message: /^unknown option 'maxWaiting'; use maxWaitingPerType/ })
  })
})
