'use strict'

// Question: what would quickq's README print here?
//
// NOT A FAIR COMPARISON, and kept as printed: in quickq's own test/benchmark.js async.queue and fastq get a runner that
// completes by setImmediate, quickq one that completes synchronously, so most of the difference is setImmediate's.
// fairlane is given quickq's runner. The cases fifo and bursts compare equal work.
// 'one million': enqueue and run 1,000,000 no-op jobs, by the clock, first thing in the process.
// 'create, 100k': create a queue, enqueue and run 100,000 no-op jobs, repeated by qtimeit.

const { createLoad } = require('../load')
const { timeLoop } = require('../loop')

const STYLE_OF = { fairlane: 'sync', quickq: 'sync', fastq: 'setImmediate', 'async.queue': 'setImmediate' }

module.exports = {
  name: 'quickq-readme',
  title: "The measure printed in quickq's README (unequal runners: no fair comparison)",
  about: 'No fair comparison, kept as printed there: async.queue and fastq get a runner that completes by ' +
    'setImmediate, quickq and fairlane one that completes synchronously, so most of the difference is the ' +
    "runner's. The other tables compare equal work.",
  metrics: [{ key: 'perSecond', label: 'jobs per second', unit: '/s', higherIsBetter: true, best: true }],

  cells ({ quick }) {
    const cells = [
      { id: 'one-million', label: 'one million, by the clock', jobs: quick ? 1e5 : 1e6 },
      { id: 'create-100k', label: 'create, 100k, by qtimeit', jobs: 1e5, repeats: quick ? 1 : 6 }
    ]
    return cells.map((cell) => ({ ...cell, contenders: unequalEntries(), weight: 1.5 }))
  },

  async measure ({ jobs, repeats }, contender) {
    const load = createLoad(contender, STYLE_OF[contender])
    await load.renew()
    const nsPerJob = repeats === undefined
      ? await load.run(jobs)
      : await timeLoop(repeats, (callback) => load.renew().then(() => load.burst(jobs, callback))) / jobs
    await load.check()
    return { perSecond: 1e9 / nsPerJob }
  }
}

function unequalEntries () {
  return Object.entries(STYLE_OF).map(([name, style]) => ({ name, note: `runner completes by ${style}` }))
}
