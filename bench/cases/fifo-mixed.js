'use strict'

// Question: does a queue without a scheduler get slower where the process uses schedulers too?
//
// The slots call whatever list the queue has: as long as there is one kind of list, V8 compiles these calls as if there
// were no other. In the contender 'fairlane, mixed' queues with every kind of scheduler were busy first.

const { entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')
const { typeNames } = require('../types')

const SIZES = [
  { jobs: 1e4, name: '1e4', bursts: 1, warmups: 40, runs: 60 },
  { jobs: 1e6, name: '1e6', bursts: 1, warmups: 1, runs: 3 }
]
const QUICK_SIZES = [{ jobs: 1e4, name: '1e4', bursts: 1, warmups: 0, runs: 1 }]

const OTHERS = ['fair', 'capped', 'equal', 'window']
const OTHER_BURSTS = 20
const OTHER_JOBS = 1e4

module.exports = {
  name: 'fifo-mixed',
  page: 'docs/benchmarks/schedulers.md',
  title: 'A queue without a scheduler in a process that uses schedulers too',
  about: 'Each job from push to completion, as in the first table; in the column fairlane, mixed queues with every kind of ' +
    'scheduler were busy before in the same process.',
  metrics: [{ key: 'warm', label: 'warm', unit: 'ns/job', best: true }],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'nextTick', 'setImmediate']) {
      for (const size of quick ? QUICK_SIZES : SIZES) {
        cells.push({
          id: `${style}-${size.name}`,
          label: `${style}, ${size.jobs.toLocaleString('en')} waiting`,
          style,
          ...size,
          contenders: entriesFor(['fairlane', 'fairlane, mixed'], style),
          weight: size.jobs >= 1e6 ? 4 : 1
        })
      }
    }
    return cells
  },

  async measure ({ style, ...size }, contender) {
    if (contender === 'fairlane, mixed') for (const name of OTHERS) await keepBusy(name, style)
    const { warm } = await coldAndWarm(createLoad(contender, style), size)
    return { warm }
  }
}

async function keepBusy (name, style) {
  const load = createLoad(name, style, typeNames(10))
  for (let i = 0; i < OTHER_BURSTS; i++) {
    await load.renew()
    await load.run(OTHER_JOBS)
  }
  await load.check()
}
