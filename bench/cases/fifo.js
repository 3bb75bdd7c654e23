'use strict'

// Question: what does a job cost, from push to completion, when 100, 10,000 or 1,000,000 jobs wait in arrival order?
//
// All jobs of a burst are pushed from one synchronous loop into a queue that was just made; the time runs from before the
// first push until the last completion, so it is queueing and running together. The runner does nothing but complete.
// Each job of fairlane runs in the AsyncLocalStorage context in which the queue was made; no other queue here sees to that. With
// asyncContext 'none' fairlane does not either, which is the like of the others.
// (fastq starts jobs inside push while slots are free, so with synchronous completions it never has a job waiting: that
// cell compares fairlane's storing, slicing and guarding with a plain call.)
// A new queue for each run keeps one run's memory out of the next one's (the case bursts keeps one queue instead).
// Cold: the first burst of the process. Warm: the mean of later runs, after some that aren't measured; the mean and not
// the median, because what a queue leaves to the garbage collector is paid in one run out of ten.

const { CALLBACK_QUEUES_AND_NO_SCOPE, PROMISE_QUEUES, entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')

/**
 * Per size: bursts in one run (small ones are too short to time alone), runs before measuring (after a million jobs
 * nothing is cold any more), and runs measured.
 */
const SIZES = [
  { jobs: 1e2, name: '1e2', bursts: 100, warmups: 30, runs: 30 },
  { jobs: 1e4, name: '1e4', bursts: 1, warmups: 40, runs: 60 },
  { jobs: 1e6, name: '1e6', bursts: 1, warmups: 0, runs: 2 }
]
const QUICK_SIZES = [
  { jobs: 1e2, name: '1e2', bursts: 10, warmups: 1, runs: 1 },
  { jobs: 1e4, name: '1e4', bursts: 1, warmups: 1, runs: 1 },
  { jobs: 1e5, name: '1e5', bursts: 1, warmups: 0, runs: 1 }
]

module.exports = {
  name: 'fifo',
  brief: ['sync-1e2', 'sync-1e4', 'setImmediate-1e2', 'setImmediate-1e4', 'promise-1e2', 'promise-1e4'],
  budgetMs: 10000,
  title: 'A job from push to completion, by completion style and jobs waiting',
  about: 'From before the first push until the last completion, through a queue that was just made, 10 at a time; ' +
    'the runner does nothing but complete in the named style. Cold is the first burst in a fresh process. fairlane runs each job in the ' +
    "AsyncLocalStorage context of its queue, and no other queue here does; with `asyncContext: 'none'` it does not either.",
  metrics: [
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'nextTick', 'microtask', 'setImmediate', 'promise']) {
      for (const size of quick ? QUICK_SIZES : SIZES) {
        cells.push({
          id: `${style}-${size.name}`,
          label: `${style}, ${size.jobs.toLocaleString('en')} waiting`,
          style,
          ...size,
          contenders: entriesFor([...CALLBACK_QUEUES_AND_NO_SCOPE, ...PROMISE_QUEUES], style),
          weight: size.jobs >= 1e6 ? 8 : 1
        })
      }
    }
    return cells
  },

  measure ({ style, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style), size)
  }
}
