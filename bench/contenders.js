'use strict'

// Who is compared: one adapter per queue, so that every case drives all of them alike.
//
// An adapter's `create(runner, { concurrency, style })` resolves with `{ push(payload, whenSettled) }`, of those that know
// types also `{ pushType(type, payload, whenSettled) }`. In style 'promise' the runner is an async function of the payload;
// in all others it is `runner(payload, done)`. `whenSettled` gets an error or nothing, whether the queue calls it back or the
// promise that the queue returns does. Where time is virtual `create` gets a `clock` too, and may get `weights` by type.
// `note(style)` says what was done to make a cell possible, `cannot(style)` why it is not.

const fs = require('node:fs')
const path = require('node:path')
const { typeNames } = require('./types')

const ROOT = path.join(__dirname, '..')

/**
 * As fairlane comes, and without the one thing that none of the others does: jobs then run in whatever context their predecessors end in.
 */
const NO_SCOPE = "asyncContext 'none'"
const CALLBACK_QUEUES = ['fairlane', 'quickq', 'fastq', 'async.queue', 'neo-async']
const CALLBACK_QUEUES_AND_NO_SCOPE = ['fairlane', NO_SCOPE, ...CALLBACK_QUEUES.slice(1)]
const PROMISE_QUEUES = ['fastq.promise', 'p-limit', 'p-queue']

/** fairlane without a scheduler is what the others are compared with; 'window' is a scheduler that does nothing. */
const SCHEDULERS = ['fairlane', 'fair', 'capped', 'equal', 'window', 'quickq fair', 'quickq capped']

const TEN_TYPES = typeNames(10)

const contenders = {
  fairlane: withOptions({}),

  // The call that returns a promise for each job.
  'fairlane.add': withAdd(() => () => undefined),

  // A function, and a slot, in the place of a payload for a runner.
  'fairlane.run': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const queue = require('..')(null, { concurrency })
      return { push: (payload, whenSettled) => { queue.run(() => runner(payload)).then(whenSettled, whenSettled) } }
    }
  },
  'fairlane.acquire': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const queue = require('..')(null, { concurrency })
      return {
        push (payload, whenSettled) {
          queue.acquire().then(({ release }) => runner(payload).finally(release)).then(whenSettled, whenSettled)
        }
      }
    }
  },

  // The same with options, which have to be read: none of them, or one feature each.
  'add, {}': withAdd(() => () => ({})),
  'add, signal': withAdd(() => {
    const { signal } = new AbortController()
    return () => ({ signal })
  }),
  'add, timeoutMs': withAdd(() => () => ({ timeoutMs: 60000 })),
  'add, maxWaitMs': withAdd(() => () => ({ maxWaitMs: 60000 })),

  // With a scheduler each job has a type, which add() takes as an option.
  'equal, pushType': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const queue = require('..')(runner, { concurrency, scheduler: 'equal' })
      return { push: (payload, whenSettled) => queue.pushType(typeOf(payload), payload, whenSettled) }
    }
  },
  'equal, add': withAdd(() => (payload) => ({ type: typeOf(payload) }), { scheduler: 'equal' }),

  [NO_SCOPE]: withOptions({ asyncContext: 'none' }),
  "asyncContext 'push'": withOptions({ asyncContext: 'push' }),
  maxWaiting: withOptions({ maxWaiting: 1e7 }),
  timeoutMs: withOptions({ timeoutMs: 60000 }),

  fair: withScheduler('fair'),
  capped: withScheduler('capped'),
  equal: withScheduler('equal'),

  // What schedulerOptions can change of it, where time is virtual.
  'equal, with the option': {
    package: 'fairlane',
    create (runner, { concurrency, clock, schedulerOptions }) {
      return require('..')(runner, { concurrency, scheduler: 'equal', schedulerOptions, clock })
    }
  },

  // The same where each type is in one of three groups.
  'equal, groups': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const groups = ['group 0', 'group 1', 'group 2']
      const groupOf = (type) => groups[type.slice('type '.length) % groups.length]
      return require('..')(runner, { concurrency, scheduler: 'equal', schedulerOptions: { groupOf } })
    }
  },

  'equal, each a group': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      return require('..')(runner, { concurrency, scheduler: 'equal', schedulerOptions: { groupOf: (type) => type } })
    }
  },

  // Without what the clock takes, which is read at each end of a job else; docs/reference/schedulers.md says what is lost by it.
  'equal, turn clock': {
    package: 'fairlane',
    create (runner, { concurrency }) {
      return require('..')(runner, { concurrency, scheduler: 'equal', clock: turnClock() })
    }
  },

  // What the protocol of window schedulers costs by itself: the first job is always the one.
  window: {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const scheduler = { waiting () {}, start () {}, done () {}, select: () => 0 }
      return require('..')(runner, { concurrency, scheduler })
    }
  },

  // fairlane without a scheduler in a process in which queues of every other kind were busy before.
  'fairlane, mixed': withOptions({}),

  quickq: {
    package: 'quickq',
    create (runner, { concurrency, style }) {
      return require('quickq')(callingBack(runner, style), { concurrency })
    },
    note: noteCallingBack
  },

  'quickq fair': withQuickqScheduler('fair'),
  'quickq capped': withQuickqScheduler('capped'),

  // Starts a job inside push() whenever a slot is free.
  fastq: {
    package: 'fastq',
    create (runner, { concurrency, style }) {
      return require('fastq')(callingBack(runner, style), concurrency)
    },
    note: noteCallingBack
  },

  // Takes async functions as they are, and synchronous completions too.
  'async.queue': {
    package: 'async',
    create (runner, { concurrency }) {
      return require('async').queue(runner, concurrency)
    }
  },

  // Recurses at every synchronous completion; its documentation's remedy is ensureAsync.
  'neo-async': {
    package: 'neo-async',
    create (runner, { concurrency, style }) {
      const neo = require('neo-async')
      return neo.queue(style === 'sync' ? neo.ensureAsync(runner) : callingBack(runner, style), concurrency)
    },
    note (style) {
      return style === 'sync'
        ? 'runner wrapped in ensureAsync: with synchronous completions the stack overflows'
        : noteCallingBack(style)
    }
  },

  'fastq.promise': {
    package: 'fastq',
    cannot: cannotCallBack,
    create (runner, { concurrency, style }) {
      const queue = require('fastq').promise(promising(runner, style), concurrency)
      return {
        push (payload, whenSettled) {
          queue.push(payload).then(whenSettled, whenSettled)
        }
      }
    }
  },

  'p-limit': {
    package: 'p-limit',
    cannot: cannotCallBack,
    async create (runner, { concurrency, style }) {
      const { default: pLimit } = await import('p-limit')
      const limit = pLimit(concurrency)
      const run = promising(runner, style)
      return {
        push (payload, whenSettled) {
          limit(run, payload).then(whenSettled, whenSettled)
        }
      }
    }
  },

  'p-queue': {
    package: 'p-queue',
    cannot: cannotCallBack,
    async create (runner, { concurrency, style }) {
      const { default: PQueue } = await import('p-queue')
      const queue = new PQueue({ concurrency })
      const run = promising(runner, style)
      return {
        push (payload, whenSettled) {
          queue.add(() => run(payload)).then(whenSettled, whenSettled)
        }
      }
    }
  },

  // The least that a promise per job takes: they wait in an array, and are worked off from the next turn on. It is no queue.
  'bare promises': {
    package: null,
    create (runner, { concurrency }) {
      const waiting = [] // payload, resolve, and so on
      let next = 0
      return {
        push (payload, whenSettled) {
          if (waiting.length === 0) setImmediate(begin)
          new Promise((resolve) => waiting.push(payload, resolve)).then(whenSettled, whenSettled)
        }
      }

      function begin () {
        for (let i = 0; i < concurrency; i++) start()
      }

      function start () {
        if (next === waiting.length) {
          waiting.length = next = 0
          return
        }
        const payload = waiting[next]
        const resolve = waiting[next + 1]
        waiting[next] = waiting[next + 1] = undefined
        next += 2
        runner(payload).then((value) => {
          resolve(value)
          start()
        }, (err) => {
          resolve(Promise.reject(err))
          start()
        })
      }
    }
  },

  // Every job at once: what a program does that has no queue.
  'no queue': {
    package: null,
    create (runner) {
      return { push: runner }
    }
  },

  // The least that can hold the concurrency: a counter. All jobs of a burst exist already, so nothing is queued.
  // It is no queue, it is what the runner itself costs; cases drive it through `runAll`.
  bare: {
    package: null,
    create (runner, { concurrency, style }) {
      return { runAll: style === 'sync' ? inLoop : inSlots }

      function inLoop (jobs, whenSettled) {
        for (let i = 0; i < jobs; i++) runner(i, whenSettled)
      }

      function inSlots (jobs, whenSettled) {
        let next = 0
        while (next < concurrency && next < jobs) runner(next++, ended)
        function ended (err) {
          whenSettled(err)
          if (next < jobs) runner(next++, ended)
        }
      }
    }
  }
}

/** fairlane by add(); for each queue `prepare` makes what gives the options of its jobs, made for each anew as programs do. */
function withAdd (prepare, queueOptions) {
  return {
    package: 'fairlane',
    create (runner, { concurrency }) {
      const queue = require('..')(runner, { concurrency, ...queueOptions })
      const optionsOf = prepare()
      return {
        push (payload, whenSettled) {
          queue.add(payload, optionsOf(payload)).then(whenSettled, whenSettled)
        }
      }
    }
  }
}

function typeOf (payload) {
  return TEN_TYPES[payload % TEN_TYPES.length]
}

function withOptions (options) {
  return {
    package: 'fairlane',
    create (runner, { concurrency }) {
      return require('..')(runner, { concurrency, ...options })
    }
  }
}

function withScheduler (scheduler) {
  return {
    package: 'fairlane',
    create (runner, { concurrency, clock, weights }) {
      const schedulerOptions = weights === undefined || scheduler !== 'equal' ? undefined : { weights }
      return require('..')(runner, { concurrency, scheduler, schedulerOptions, clock })
    }
  }
}

/** Reads the clock once in a turn of the event loop. */
function turnClock () {
  let time
  const now = () => {
    if (time === undefined) {
      time = performance.now()
      setImmediate(() => { time = undefined })
    }
    return time
  }
  return { now, setTimeout, clearTimeout }
}

/** As it comes: it looks at the first 1,000 waiting jobs. */
function withQuickqScheduler (scheduler) {
  return {
    package: 'quickq',
    create (runner, { concurrency }) {
      return require('quickq')(runner, { concurrency, scheduler })
    }
  }
}

/** The runner as a function of payload and callback, for queues that know no promises. */
function callingBack (runner, style) {
  if (style !== 'promise') return runner
  return function (payload, done) {
    runner(payload).then((value) => done(null, value), done)
  }
}

/** The runner as a function that returns a promise, for queues that know no callbacks. */
function promising (runner, style) {
  if (style === 'promise') return runner
  return function (payload) {
    return new Promise((resolve, reject) => runner(payload, (err) => err ? reject(err) : resolve()))
  }
}

function noteCallingBack (style) {
  if (style === 'promise') return 'takes no promises: the runner calls back from promise.then'
}

function cannotCallBack (style) {
  if (style !== 'promise' && style !== 'callback') return 'promises only'
}

/**
 * What is installed of a contender.
 * @param {string} name a key of `contenders`
 * @returns {string|null} 'package@version', or null when the contender is no package
 */
function versionOf (name) {
  const packageName = contenders[name].package
  if (packageName === null) return null
  const folder = packageName === 'fairlane' ? ROOT : path.join(ROOT, 'node_modules', packageName)
  return `${packageName}@${JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')).version}`
}

/**
 * A cell's list of contenders, with what must be said about each: the note that goes beside its number, or the reason why
 * it has none.
 * @param {string[]} names keys of contenders, in the order in which they run
 * @param {string} style the completion style of the cell
 * @returns {Array<{ name: string, note: (string|undefined), cannot: (string|undefined) }>}
 */
function entriesFor (names, style) {
  return names.map((name) => {
    const { note, cannot } = contenders[name]
    return { name, note: note && note(style), cannot: cannot && cannot(style) }
  })
}

module.exports = { contenders, entriesFor, versionOf, NO_SCOPE, CALLBACK_QUEUES, CALLBACK_QUEUES_AND_NO_SCOPE, PROMISE_QUEUES, SCHEDULERS }
