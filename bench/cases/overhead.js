'use strict'

// Question: what does the queue add to the runner's own time?
//
// 'bare' is the runner without a queue: with synchronous completions a loop that calls it with a shared callback; with
// asynchronous ones the same with a counter that keeps ten running (calling a million at once would make the event loop's
// own queues the slow part, and flatter every queue). What a queue adds is its time less the bare one.
// Each burst goes into a queue that was just made; qtimeit repeats them.
// Cold: the first burst of the process. Warm: qtimeit's loop, after bursts that aren't measured.

const { entriesFor } = require('../contenders')
const { createLoad } = require('../load')
const { timeLoop } = require('../loop')

/** Per size: repetitions inside the timed loop, and before it. */
const SIZES = [
  { jobs: 1e4, name: '1e4', repeats: 50, warmups: 40 },
  { jobs: 1e6, name: '1e6', repeats: 2, warmups: 0 }
]

module.exports = {
  name: 'overhead',
  title: 'What a queue adds to the bare runner',
  about: 'Bare is the runner without a queue: a loop that calls it with a shared callback (asynchronous styles: a ' +
    'counter that keeps ten running).',
  metrics: [
    { key: 'added', label: 'added to the bare runner', unit: 'ns/job' },
    { key: 'warm', label: 'warm', unit: 'ns/job', best: true },
    { key: 'cold', label: 'cold', unit: 'ns/job', best: true }
  ],

  cells ({ quick }) {
    const cells = []
    for (const style of ['sync', 'nextTick', 'setImmediate']) {
      for (const size of quick ? SIZES.slice(0, 1) : SIZES) {
        cells.push({
          id: `${style}-${size.name}`,
          label: `${style}, ${size.jobs.toLocaleString('en')} waiting`,
          style,
          ...size,
          ...(quick && { repeats: 1, warmups: 0 }),
          contenders: entriesFor(['fairlane', 'bare', 'quickq', 'fastq'], style),
          weight: size.jobs >= 1e6 ? 4 : 2
        })
      }
    }
    return cells
  },

  async measure ({ style, jobs, repeats, warmups }, contender) {
    const load = createLoad(contender, style)
    await load.renew()
    const cold = await load.run(jobs)
    for (let i = 0; i < warmups; i++) {
      await load.renew()
      await load.run(jobs)
    }
    const burst = await timeLoop(repeats, (callback) => {
      load.renew().then(() => load.burst(jobs, () => setImmediate(callback)))
    })
    await load.check()
    return { cold, warm: burst / jobs }
  },

  /** Round by round: what the queue took less what the bare runner took. */
  derive (contenders) {
    const { bare, ...queues } = contenders
    for (const { rounds } of Object.values(queues)) {
      rounds.forEach((round, i) => { round.added = round.warm - bare.rounds[i].warm })
    }
  }
}
