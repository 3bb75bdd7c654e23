'use strict'

// Question: how long does it take to load a queue, and to make the first one?
//
// Each in a fresh process, in which Node has loaded nothing of the package, and the disk's cache has all of it. What a queue loads when it
// first needs it counts where that is: with the first queue, or with the first jobs (the case fifo has these, cold).

const { CONCURRENCY } = require('../load')
const { entriesFor } = require('../contenders')

const QUEUES = {
  fairlane: { load: () => require('../..'), make: (fairlane, runner) => fairlane(runner, { concurrency: CONCURRENCY }) },
  quickq: { load: () => require('quickq'), make: (quickq, runner) => quickq(runner, { concurrency: CONCURRENCY }) },
  fastq: { load: () => require('fastq'), make: (fastq, runner) => fastq(runner, CONCURRENCY) },
  'async.queue': { load: () => require('async'), make: (async, runner) => async.queue(runner, CONCURRENCY) },
  'p-queue': { load: () => import('p-queue'), make: ({ default: PQueue }) => new PQueue({ concurrency: CONCURRENCY }) }
}

module.exports = {
  name: 'startup',
  title: 'Loading a queue, and making the first one',
  about: 'In a fresh process whose files are in the cache of the disk: `require()` of the package (`import()` of p-queue, which is an ES module), and then ' +
    'the call that makes the first queue.',
  metrics: [
    { key: 'requireMs', label: 'require()', unit: 'ms', best: true },
    { key: 'firstMs', label: 'first queue', unit: 'ms', best: true }
  ],

  cells () {
    return [{ id: 'process', label: 'a fresh process', contenders: entriesFor(Object.keys(QUEUES), 'callback'), weight: 0.3 }]
  },

  async measure (cell, contender) {
    const { load, make } = QUEUES[contender]
    const begun = performance.now()
    const returned = load()
    const queue = returned instanceof Promise ? await returned : returned
    const loaded = performance.now()
    make(queue, (payload, done) => done())
    return { requireMs: loaded - begun, firstMs: performance.now() - loaded }
  }
}
