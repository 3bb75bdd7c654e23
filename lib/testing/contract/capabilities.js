'use strict'

// What engines differ in, and why: the only place where that is said. docs/start/engines.md is made of it, the suite asks it which tests an
// engine gets, and it says what is refused elsewhere: `options` at opening with FAIRLANE_ERR_OPTION, `members` with
// FAIRLANE_ERR_UNSUPPORTED.

const ENGINES = Object.freeze(['memory', 'disk', 'broker'])
const [MEMORY, DISK, BROKER] = ENGINES

/**
 * @typedef {object} Capability
 * @property {string} what in Markdown
 * @property {string[]} engines which of fairlane's have it
 * @property {string} elsewhere what others do, or what to use there
 * @property {string} why
 * @property {string[]} [members] of the queue, all of which are refused where it is missing
 * @property {{ [option: string]: any }} [options] each with a value that is right where the option is there
 */

/** @type {{ [name: string]: Capability }} */
const CAPABILITIES = {
  callbacks: {
    what: '`push(payload, callback)`, and so `pushType`, `unshift`, `unshiftType`; each gives the queue',
    engines: [MEMORY],
    elsewhere: '`push(payload, options)` gives a promise of the id; `add` gives the result. A function in the place of the options is refused',
    why: 'a callback ends with its process, and the job does not'
  },
  ids: {
    what: 'jobs have ids: `push`, `context.id` and events tell them',
    engines: [DISK, BROKER],
    elsewhere: '`context.id` is `undefined`; a history has ids of its own',
    why: 'who waits for a job in memory has its callback or its promise'
  },
  lastProgress: {
    what: '`get(id)` has the last `progress` of a job',
    engines: [BROKER],
    elsewhere: 'the event `progress`',
    why: 'elsewhere whoever asks is in the process that runs the job, and may listen'
  },
  risingIds: {
    what: 'ids are numbers that rise',
    engines: [DISK],
    elsewhere: 'strings at a broker',
    why: 'one process gives the numbers; many would have to ask each other'
  },
  lookup: {
    what: '`get(id)`, `cancel(id)`, `listRunning(options)`',
    engines: [DISK, BROKER],
    members: ['get', 'cancel', 'listRunning'],
    elsewhere: '`jobs()` shows what waits; the `signal` of `add` cancels a job',
    why: 'jobs in memory have no ids'
  },
  deadLetters: {
    what: '`deadLetters(options)`, `retryDead(id)`, `deleteDead(id)`',
    engines: [DISK, BROKER],
    members: ['deadLetters', 'retryDead', 'deleteDead'],
    elsewhere: 'the callback, the promise and the event `failed` tell of the error',
    why: 'nobody may be there to be told of a job that survived'
  },
  costs: {
    what: 'rates `of: \'cost\'`, the option `cost` of a job, and `context.spent(total)`',
    engines: [MEMORY, DISK, BROKER],
    elsewhere: 'rates of starts',
    why: 'an engine of others may have none'
  },
  attemptsByDefault: {
    what: '`maxAttempts` is 5 by default',
    engines: [DISK, BROKER],
    elsewhere: '1',
    why: 'in memory a callback is there to be told; nobody may be there for a job that survived'
  },
  waiting: {
    what: '`wait(id, { signal })`: the result of a pushed job',
    engines: [DISK, BROKER],
    members: ['wait'],
    elsewhere: '`add`',
    why: 'jobs in memory have no ids'
  },
  results: {
    what: '`wait(id)` from any process, for `resultTtlMs`',
    engines: [BROKER],
    options: { resultTtlMs: 60000 },
    elsewhere: 'on disk of jobs that end while this process has the queue open, else `FAIRLANE_ERR_RESULT`',
    why: 'the log keeps jobs, and no results'
  },
  pushAll: {
    what: '`pushAll(jobs)`: all are queued, or none',
    engines: [DISK, BROKER],
    members: ['pushAll'],
    elsewhere: '`add` for each job',
    why: 'in memory no crash comes between two pushes'
  },
  allOrNone: {
    what: '`pushAll` takes jobs of any types in together',
    engines: [DISK],
    elsewhere: 'at a broker those of each type, after admission of all; if a partition fails, the error has the `ids` of what was stored',
    why: 'partitions are on different nodes'
  },
  schedules: {
    what: '`schedules`, `setSchedule(name, schedule)`, `runSchedule(name)`, `pauseSchedule(name)`, `resumeSchedule(name)`, `listSchedules()`, `context.schedule`',
    engines: [DISK, BROKER],
    members: ['setSchedule', 'runSchedule', 'pauseSchedule', 'resumeSchedule', 'listSchedules'],
    options: { schedules: { tick: { everyMs: 3600000, type: 't' } } },
    elsewhere: 'a timer, or `croner`, beside `add`',
    why: 'a schedule in memory would not survive its process'
  },
  survival: {
    what: 'jobs survive the process',
    engines: [DISK, BROKER],
    elsewhere: '`close()` runs what waits',
    why: 'memory ends with its process'
  },
  closeKeeps: {
    what: '`close()` leaves what waits where it is: `drain` is false by default',
    engines: [DISK, BROKER],
    elsewhere: '`drain` is true',
    why: 'in memory it would be lost'
  },
  closeDrains: {
    what: '`close({ drain: true })`',
    engines: [MEMORY, DISK],
    elsewhere: 'refused: `onIdle()` before `close()`',
    why: 'other processes push on and on'
  },
  closeCancels: {
    what: '`close({ drain: false })` cancels what waits',
    engines: [MEMORY],
    elsewhere: 'it stays, and the next opening has it',
    why: 'memory ends with its process'
  },
  anyPayload: {
    what: 'payloads are any values, handed on as they are',
    engines: [MEMORY],
    elsewhere: '`serialize` makes bytes of them; the folder, or the broker, remembers which, and refuses another at opening',
    why: 'nobody else reads the memory of a process'
  },
  serialize: {
    what: '`serialize`',
    engines: [DISK, BROKER],
    options: { serialize: 'json' },
    elsewhere: 'payloads are handed on as they are',
    why: 'nobody else reads the memory of a process'
  },
  structuredByDefault: {
    what: "`serialize` is `'structured'` by default",
    engines: [DISK],
    elsewhere: "`'json'` at a broker",
    why: 'dashboards read JSON'
  },
  valuesAsTheyAre: {
    what: 'a result, and what a job failed with, are told as they are',
    engines: [MEMORY, DISK],
    elsewhere: 'results are JSON, and `undefined` is `null`; an error is a new one with the same `name`, `message` and `code`, and so is what is no error. On disk ' +
      'those of dead letters are, too',
    why: 'the runner was in another process'
  },
  anyText: {
    what: 'types and keys are any text',
    engines: [MEMORY],
    elsewhere: 'well-formed Unicode, else `FAIRLANE_ERR_TYPE` and `FAIRLANE_ERR_ARGUMENT`; a type that is too long is `FAIRLANE_ERR_TOO_LARGE`: at a broker beyond 1024 characters',
    why: 'what cannot be written, or read back as it is, would be another type'
  },
  typesWithoutScheduler: {
    what: 'a type is kept without a scheduler',
    engines: [DISK, BROKER],
    elsewhere: '`types()` is empty, and `counts(type)`, `stats(type)` and `explain(type)` are `FAIRLANE_ERR_ARGUMENT`',
    why: 'a plain list has no room for it'
  },
  noTypeAtAll: {
    what: 'the type of a job that was given none is `undefined`',
    engines: [MEMORY, DISK],
    elsewhere: "`''`",
    why: 'at a broker each job is in the queue of its type'
  },
  typesApart: {
    what: 'without a scheduler, too, types have `ratePerType`, `maxWaitingPerType` and `holdType`, and `Throttled` holds only the type of its job',
    engines: [BROKER],
    elsewhere: 'these need a scheduler: `FAIRLANE_ERR_OPTION`, `FAIRLANE_ERR_SCHEDULER`; without one `Throttled` holds the queue',
    why: 'without a scheduler all jobs wait in one line, but for those at a broker, where each type has its own'
  },
  statsOfNow: {
    what: '`stats()` has `waiting`, `delayed`, `types` and `heldTypes`, too',
    engines: [MEMORY, DISK],
    elsewhere: '`counts()`; there `stats()` has `prefetched` and `lost`',
    why: 'no process has a view of all that waits'
  },
  ownTime: {
    what: 'the option `clock` is the time of all limits; `maxWaitMs` ends a job to the ms',
    engines: [MEMORY, DISK],
    elsewhere: 'limits of a fleet go by the clock of the broker; `maxWaitMs` ends a job when a process takes it, or within a lease',
    why: 'processes have clocks of their own, and nobody watches a job that waits at a broker'
  },
  rateFunctions: {
    what: '`ratePerType` may be a function',
    engines: [MEMORY, DISK],
    options: { ratePerType: () => ({ limit: 1, intervalMs: 1000 }) },
    elsewhere: 'one rate, several, or a Map by type',
    why: 'a function cannot be written down for other processes'
  },
  shortRates: {
    what: 'the `intervalMs` of a rate is any above 0',
    engines: [MEMORY, DISK],
    options: { rate: { limit: 1, intervalMs: 999 } },
    elsewhere: '1000 or above',
    why: 'permits are taken ahead, for a part of the interval'
  },
  longTimes: {
    what: '`delayMs`, the ms of holds and `intervalMs` are any finite number',
    engines: [MEMORY, DISK],
    elsewhere: 'up to 2^53 − 1',
    why: 'the broker counts whole ms, which must be exact'
  },
  limitsAtOnce: {
    what: '`hold`, `holdType` and `setRates` give the queue, `heldMs` a number',
    engines: [MEMORY, DISK],
    elsewhere: 'they give promises',
    why: 'the broker has to answer'
  },
  pushContext: {
    what: "`asyncContext: 'push'`",
    engines: [MEMORY, DISK],
    options: { asyncContext: 'push' },
    elsewhere: "`'queue'` or `'none'`; put what a job needs into its payload",
    why: 'a push may come from another process'
  },
  maxWaiting: {
    what: '`maxWaiting`',
    engines: [MEMORY, DISK],
    options: { maxWaiting: 1000 },
    elsewhere: '`maxWaitingPerType`',
    why: 'the count of all partitions is on no node'
  },
  exactMaxWaiting: {
    what: '`maxWaitingPerType` goes by what waits at the moment',
    engines: [MEMORY, DISK],
    elsewhere: 'by what the broker said last, and what this process has pushed since',
    why: 'to ask before each push would cost a call'
  },
  abortReasons: {
    what: 'where the signal of `add` ends a job that runs, its runner and listeners of `cancelled` are told the reason, as `cause`',
    engines: [MEMORY, DISK],
    elsewhere: 'the promise of `add` has it',
    why: 'the runner may be in another process, and a reason is any value'
  },
  folder: {
    what: '`path` and the other options of a log: `capacity`, `capacityBytes`, `ack`, …; `diskBytes()`, `recovered`; the events `outage` and `outageover`, and the error of a log that has failed in `close`',
    engines: [DISK],
    members: ['diskBytes', 'recovered'],
    options: { path: '/tmp/jobs', capacity: 1000, ack: 'os' },
    elsewhere: '`maxWaiting` in memory, `connection` at a broker',
    why: 'there is no folder'
  },
  processes: {
    what: '`name`, `connection`, `leaseMs`, `prefetch`, …: many processes share a queue, and a runner of `null` only pushes',
    engines: [BROKER],
    options: { connection: 'redis://127.0.0.1:6379', leaseMs: 30000, prefetch: 10 },
    elsewhere: 'one process has the queue',
    why: 'others cannot reach the memory, or the log, of a process'
  },
  fleetLimits: {
    what: '`globalConcurrency`, `globalTypeCap`, `globalTypeCaps`; `rate` and `ratePerType` hold over all processes, and the event `limits` tells of changes',
    engines: [BROKER],
    options: { globalConcurrency: 7, globalTypeCap: 2, globalTypeCaps: { a: 1 } },
    elsewhere: '`concurrency`, and `maxTypeCap` and `typeCaps` of a scheduler',
    why: 'elsewhere one process is all there is'
  },
  fleetCalls: {
    what: '`health()`, `setGlobalCap`, `setGlobalConcurrency`, `pauseGlobal`, `resumeGlobal`, `announce`; the events `lost` and `error`',
    engines: [BROKER],
    members: ['health', 'setGlobalCap', 'setGlobalConcurrency', 'pauseGlobal', 'resumeGlobal', 'announce'],
    elsewhere: '`pause`, `resume`, `concurrency`, `configure()` of a scheduler',
    why: 'elsewhere one process is all there is'
  },
  slots: {
    what: '`run(fn, options)`, `acquire(options)`: functions as jobs, and slots that a caller holds; and a runner of `null` for good, beside them',
    engines: [MEMORY],
    members: ['run', 'acquire'],
    elsewhere: '`add`, with the code in the runner',
    why: 'a function cannot be written down, and a slot ends with its process'
  },
  explainsAtOnce: {
    what: '`explain(type)` gives an object',
    engines: [MEMORY, DISK],
    elsewhere: 'it gives a promise of one, of what the broker and this process know',
    why: 'the broker has to answer, and no process knows the slots of others'
  },
  ownCaps: {
    what: '`counts(type)` has the `cap` of the scheduler and `paused` by `pauseType()`',
    engines: [MEMORY, DISK],
    elsewhere: 'those of all processes: `globalTypeCap`, `globalTypeCaps`, `pauseGlobal(type)`',
    why: 'caps and pauses of a process are no matter of the others'
  },
  callsAfterClose: {
    what: '`counts()`, `types()`, `heldMs()`, `hold()`, `holdType()`, `setRates()`, `clear()` and `onIdle()` of a queue that is closed, and `listSchedules()` on disk',
    engines: [MEMORY, DISK],
    elsewhere: '`FAIRLANE_ERR_CLOSED`',
    why: 'the connection is closed, too'
  },
  inspection: {
    what: '`jobs`, `remove`, `fflush`, `ready`, `drain`, `waiting`, `length`',
    engines: [MEMORY, DISK],
    members: ['jobs', 'remove', 'fflush', 'ready', 'drain', 'waiting', 'length'],
    elsewhere: '`counts()`, `types()`, `get(id)`, `clear({ type })`, `onIdle()`',
    why: 'no process has a view of all that waits'
  },
  saturation: {
    what: 'the events `saturated`, `unsaturated` and `drain`',
    engines: [MEMORY, DISK],
    elsewhere: 'they never come: `maxWaitingPerType`, whose error has `retryAfterMs`',
    why: 'no process has a view of all that waits'
  },
  history: {
    what: '`observers` may be histories, and controls of `fairlane/adaptive`',
    engines: [MEMORY, DISK],
    elsewhere: 'metrics may; `get(id)` and dashboards show the records of the broker',
    why: 'no process sees each job'
  },
  exactOrder: {
    what: 'jobs of a type start exactly in their order, and by their priorities',
    engines: [MEMORY, DISK],
    elsewhere: 'within a process exactly, among processes nearly; priorities to a second',
    why: 'what a process has taken ahead, others do not see'
  },
  once: {
    what: 'an attempt is made once',
    engines: [MEMORY],
    elsewhere: 'it may be made again after a crash, and at a broker when a process sent no heartbeat for `leaseMs`',
    why: 'what a runner did cannot be written in the same step'
  }
}

module.exports = { CAPABILITIES: freeze(CAPABILITIES), ENGINES, capabilitiesOf }

/** @param {string} engine 'memory', 'disk' or 'broker' @returns {string[]} for the option `capabilities` of the suite */
function capabilitiesOf (engine) {
  if (!ENGINES.includes(engine)) throw new RangeError(`engine: one of ${ENGINES.join(', ')}`)
  return Object.keys(CAPABILITIES).filter(name => CAPABILITIES[name].engines.includes(engine))
}

function freeze (table) {
  for (const capability of Object.values(table)) {
    Object.freeze(capability.engines)
    Object.freeze(capability)
  }
  return Object.freeze(table)
}
