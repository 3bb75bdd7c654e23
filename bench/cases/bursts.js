'use strict'

// Question: what does a job cost when bursts of 100 (and of 10,000) come and go through one long-lived queue?
//
// Every burst arrives in an event-loop turn of its own and finds the queue idle, as in a server. qtimeit repeats the
// bursts; the turn between two of them is timed alone in the same way and taken off, so that a queue that needs turns of
// its own pays for them and nobody pays for ours.
// Cold: the mean of the process's first ten bursts. Warm: qtimeit's loop, after bursts that aren't measured.

const { CALLBACK_QUEUES_AND_NO_SCOPE, entriesFor } = require('../contenders')
const { createLoad } = require('../load')
const { timeLoop } = require('../loop')

const SIZES = [
  { jobs: 1e2, name: '1e2', bursts: 10000 },
  { jobs: 1e4, name: '1e4', bursts: 100 }
]

module.exports = {
  name: 'bursts',
  brief: ['sync-1e2', 'setImmediate-1e2', 'promise-1e2', 'promise-1e4'],
  title: 'Bursts through one long-lived queue',
  about: "Each burst arrives in an event-loop turn of its own and finds the queue idle; 10 at a time. With `asyncContext: 'none'` fairlane keeps no " +
    'contexts apart, which the others never do.',
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'nextTick', 'microtask', 'setImmediate', 'promise']) {
      for (const { jobs, name, bursts } of SIZES) {
        cells.push({
          id: `${style}-${name}`,
          label: `${style}, bursts of ${jobs.toLocaleString('en')}`,
          style,
          jobs,
          bursts: quick ? bursts / 100 : bursts,
          contenders: entriesFor(CALLBACK_QUEUES_AND_NO_SCOPE, style),
          weight: 1.5
        })
      }
    }
    return cells
  },

  async measure ({ style, jobs, bursts }, contender) {
    const load = createLoad(contender, style)
    await load.renew()
    const cold = await load.run(jobs, 10)
    await load.run(jobs, Math.ceil(bursts / 5))
    const burst = await timeLoop(bursts, (callback) => load.burst(jobs, () => setImmediate(callback)))
    const turn = await timeLoop(1000, (callback) => setImmediate(callback))
    await load.check()
    return { cold, warm: (burst - turn) / jobs }
  }
}
