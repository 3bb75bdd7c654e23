'use strict'

// Question: how long is the event loop blocked at a time while a million jobs complete, or a million are told at once?
//
// A chain of setImmediate looks at the clock once per turn; the longest time between two turns, from the end of the push
// loop until the last completion, is the longest block. The push loop is the caller's own and is shown beside it: a queue
// that runs jobs inside push does all its blocking there. Timers counts how often a setInterval of 1 ms fired meanwhile.
// The first flood of the process is measured: blocks are worst when the code is cold.
//
// What a million are told at once (told.js) is measured from the call on. `fairlane, before` is what the folder in FAIRLANE_BEFORE holds, a
// checkout of a commit to compare with.

const { performance } = require('node:perf_hooks')
const { CALLBACK_QUEUES, entriesFor, versionOf } = require('../contenders')
const { createLoad } = require('../load')
const { loads, measureTold } = require('../told')

const BEFORE = 'fairlane, before'
const FLOOD = 'A million jobs complete'
const TOLD = 'A million told at once'

module.exports = {
  name: 'eventloop',
  title: 'Longest block of the event loop while 1,000,000 jobs complete',
  about: "The longest time between two turns of the event loop after the push loop, which is the caller's own; the " +
    'first flood in a fresh process. What one call, or one moment, ends or lets go a million at a time is measured from the call on.',
  metrics: [
    { key: 'blockMs', label: 'longest block', unit: 'ms' },
    { key: 'pushMs', label: 'push loop', unit: 'ms', noRatio: true },
    { key: 'timers', label: 'timers that fired', unit: '', noRatio: true },
    { key: 'cpuNs', label: 'CPU time for each', unit: 'ns', best: true }
  ],

  versionOf: (name) => name === BEFORE ? 'fairlane@0.1.0' : versionOf(name),

  cells ({ quick }) {
    const floods = ['sync', 'nextTick', 'microtask'].map((style) => ({
      id: style,
      label: style,
      section: FLOOD,
      style,
      jobs: quick ? 1e5 : 1e6,
      contenders: entriesFor(CALLBACK_QUEUES, style).map((entry) =>
        style === 'sync' && entry.name === 'fastq' ? { ...entry, note: 'runs every job inside the push loop' } : entry),
      weight: 2
    }))
    const cannot = process.env.FAIRLANE_BEFORE === undefined ? 'measured where FAIRLANE_BEFORE names a checkout of it' : undefined
    const told = Object.entries(loads).map(([id, { label, isOfLimits }]) => ({
      id,
      label,
      section: TOLD,
      jobs: quick ? 1e4 : 1e6,
      contenders: [{ name: 'fairlane' }, { name: BEFORE, cannot: isOfLimits ? 'it had no such jobs' : cannot }],
      weight: 4
    }))
    return [...floods, ...told]
  },

  async measure ({ id, section, style, jobs }, contender) {
    if (section === TOLD) return measureTold(require(contender === BEFORE ? process.env.FAIRLANE_BEFORE : '../..'), id, jobs)
    const load = createLoad(contender, style)
    await load.renew()
    const result = await new Promise((resolve) => flood(load, jobs, resolve))
    await load.check()
    return result
  }
}

function flood (load, jobs, callback) {
  let blockMs = 0
  let timers = 0
  let lastTurn = Infinity
  let allSettled = false
  const interval = setInterval(() => timers++, 1)

  setImmediate(() => {
    const begun = performance.now()
    load.burst(jobs, () => {
      look()
      allSettled = true
    })
    lastTurn = performance.now()
    const pushMs = lastTurn - begun
    setImmediate(turn)

    function turn () {
      if (!allSettled) {
        look()
        return setImmediate(turn)
      }
      clearInterval(interval)
      callback({ blockMs, pushMs, timers })
    }
  })

  function look () {
    const now = performance.now()
    if (now - lastTurn > blockMs) blockMs = now - lastTurn
    lastTurn = now
  }
}
