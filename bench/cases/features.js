'use strict'

// Question: what does each optional feature cost a job that uses it?
//
// fairlane has none of them; the others have one each. What add() takes for its options alone shows in 'add, {}', and with a scheduler,
// where no job goes without, between 'equal, pushType' and 'equal, add'. Runners complete by a promise, 10,000 jobs wait.

const { entriesFor } = require('../contenders')
const { createLoad, coldAndWarm } = require('../load')

const CONTENDERS = [
  'fairlane', 'fairlane.add', 'add, {}', 'add, signal', 'add, timeoutMs', 'add, maxWaitMs', 'maxWaiting', 'timeoutMs',
  "asyncContext 'none'", "asyncContext 'push'",
  'equal, pushType', 'equal, add'
]

module.exports = {
  name: 'features',
  budgetMs: 10000,
  title: 'What an optional feature costs the jobs that use it',
  about: 'From before the first call until the last completion, 10,000 jobs, 10 at a time; the runner is an async function that ' +
    'does nothing. fairlane is the queue without any; add is the call that returns a promise, without options, with none in them, and ' +
    'with one; maxWaiting, timeoutMs and asyncContext are options of the queue; equal is a queue with that scheduler and jobs of ten ' +
    'types, by pushType and by add with the type as an option.',
  metrics: [{ key: 'warm', label: 'warm', unit: 'ns/job', best: true }],

  cells ({ quick }) {
    return [{
      id: 'promise-1e4',
      label: 'promise, 10,000 waiting',
      style: 'promise',
      jobs: 1e4,
      bursts: 1,
      warmups: quick ? 0 : 20,
      runs: quick ? 1 : 30,
      contenders: entriesFor(CONTENDERS, 'promise'),
      weight: 1
    }]
  },

  measure ({ style, ...size }, contender) {
    return coldAndWarm(createLoad(contender, style), size)
  }
}
