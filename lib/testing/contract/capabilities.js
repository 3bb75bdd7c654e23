'use strict'

// What engines differ in, and why: the only source of that. docs/start/engines.md is made of it, the suite asks it which tests an
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
    what: '`push(payload, callback)`, also `pushType`, `unshift` and `unshiftType`; each returns the queue',
    engines: [MEMORY],
    elsewhere: '`push(payload, options)` returns a promise of the id; `add` returns the result. A function in place of the options is refused',
    why: 'the job may outlive the process, and so its callback'
  },
  ids: {
    what: 'jobs have ids, which `push`, `context.id` and events tell',
    engines: [DISK, BROKER],
    elsewhere: '`context.id` is `undefined`; a history has ids of its own',
    why: 'in memory, the caller has the callback or the promise of its job'
  },
  lastProgress: {
    what: '`get(id)` has the last `progress` of a job',
    engines: [BROKER],
    elsewhere: 'the event `progress`',
    why: 'elsewhere the job runs in the same process, which can listen'
  },
  risingIds: {
    what: 'ids are ascending numbers',
    engines: [DISK],
    elsewhere: 'strings at a broker',
    why: 'many processes would have to agree on each number'
  },
  lookup: {
    what: '`get(id)`, `cancel(id)`, `listRunning(options)`',
    engines: [DISK, BROKER],
    members: ['get', 'cancel', 'listRunning'],
    elsewhere: '`jobs()` lists waiting jobs; the `signal` of `add` cancels a job',
    why: 'jobs in memory have no ids'
  },
  deadLetters: {
    what: '`deadLetters(options)`, `retryDead(id)`, `deleteDead(id)`',
    engines: [DISK, BROKER],
    members: ['deadLetters', 'retryDead', 'deleteDead'],
    elsewhere: 'the callback, the promise and the event `failed` have the error',
    why: 'the job may have outlived the process that wanted its result'
  },
  costs: {
    what: "rates `of: 'cost'`, the option `cost` of a job, and `context.spent(total)`",
    engines: [MEMORY, DISK, BROKER],
    elsewhere: 'rates of starts',
    why: 'other engines may lack them'
  },
  attemptsByDefault: {
    what: '`maxAttempts` is 5 by default',
    engines: [DISK, BROKER],
    elsewhere: '1',
    why: 'in memory, the caller is told of a failure at once and can decide; elsewhere it may be gone'
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
    elsewhere: 'on disk only while this process has the queue open, for jobs that end then; otherwise `FAIRLANE_ERR_RESULT`',
    why: 'the log keeps jobs, but no results'
  },
  pushAll: {
    what: '`pushAll(jobs)`: all are queued, or none',
    engines: [DISK, BROKER],
    members: ['pushAll'],
    elsewhere: '`add` for each job',
    why: 'in memory, no crash can come between two pushes'
  },
  allOrNone: {
    what: '`pushAll` accepts jobs of all types together, all or none',
    engines: [DISK],
    elsewhere: 'at a broker, the jobs of each partition; if a partition fails, the error has the `ids` of what was stored',
    why: 'partitions are on different nodes'
  },
  schedules: {
    what: '`schedules`, `setSchedule(name, schedule)`, `runSchedule(name)`, `pauseSchedule(name)`, `resumeSchedule(name)`, `listSchedules()`, `context.schedule`',
    engines: [DISK, BROKER],
    members: ['setSchedule', 'runSchedule', 'pauseSchedule', 'resumeSchedule', 'listSchedules'],
    options: { schedules: { tick: { everyMs: 3600000, type: 't' } } },
    elsewhere: 'a timer, or `croner`, that calls `add`',
    why: 'a schedule in memory would end with its process'
  },
  survival: {
    what: 'jobs survive the process',
    engines: [DISK, BROKER],
    elsewhere: '`close()` runs waiting jobs first',
    why: 'memory ends with its process'
  },
  closeKeeps: {
    what: '`close()` leaves waiting jobs in place: `drain` is false by default',
    engines: [DISK, BROKER],
    elsewhere: '`drain` is true by default',
    why: 'in memory they would be lost'
  },
  closeDrains: {
    what: '`close({ drain: true })`',
    engines: [MEMORY, DISK],
    elsewhere: 'refused; call `onIdle()` before `close()`',
    why: 'other processes go on pushing'
  },
  closeCancels: {
    what: '`close({ drain: false })` cancels waiting jobs',
    engines: [MEMORY],
    elsewhere: 'they stay, and run after the next opening',
    why: 'memory ends with its process'
  },
  anyPayload: {
    what: 'payloads are any values, passed on unchanged',
    engines: [MEMORY],
    elsewhere: '`serialize` turns them into bytes. The folder or the broker remembers which serializer, and refuses another one',
    why: 'bytes are all that can be stored'
  },
  serialize: {
    what: '`serialize`',
    engines: [DISK, BROKER],
    options: { serialize: 'json' },
    elsewhere: 'payloads are passed on unchanged',
    why: 'nothing is stored'
  },
  structuredByDefault: {
    what: "`serialize` is `'structured'` by default",
    engines: [DISK],
    elsewhere: "`'json'` at a broker",
    why: 'dashboards read JSON'
  },
  valuesAsTheyAre: {
    what: 'results and errors reach the caller unchanged',
    engines: [MEMORY, DISK],
    elsewhere: 'results are JSON, with `null` for `undefined`. Errors are new ones with the same `name`, `message` and `code`, also if something else was thrown. On disk this applies to the errors of dead letters',
    why: 'the runner was in another process'
  },
  anyText: {
    what: 'types and keys are any text',
    engines: [MEMORY],
    elsewhere: 'they must be well-formed Unicode, or else `FAIRLANE_ERR_TYPE` and `FAIRLANE_ERR_ARGUMENT`. A type that is too long is `FAIRLANE_ERR_TOO_LARGE`: at a broker beyond 1024 characters',
    why: 'text that cannot be stored and read back unchanged would become another type'
  },
  typesWithoutScheduler: {
    what: 'jobs keep their types without a scheduler',
    engines: [DISK, BROKER],
    elsewhere: '`types()` is empty, and `counts(type)`, `stats(type)` and `explain(type)` throw `FAIRLANE_ERR_ARGUMENT`',
    why: 'a plain list has no room for types'
  },
  noTypeAtAll: {
    what: 'a job without a type has the type `undefined`',
    engines: [MEMORY, DISK],
    elsewhere: "`''`",
    why: 'at a broker, each job is in the queue of its type'
  },
  typesApart: {
    what: '`ratePerType`, `maxWaitingPerType` and `holdType` also work without a scheduler, and `Throttled` then holds only the type of its job',
    engines: [BROKER],
    elsewhere: 'they need a scheduler, or else `FAIRLANE_ERR_OPTION` or `FAIRLANE_ERR_SCHEDULER`. Without one, `Throttled` holds the queue',
    why: 'elsewhere, all jobs wait in one line without a scheduler; at a broker each type has a line of its own'
  },
  statsOfNow: {
    what: '`stats()` also has `waiting`, `delayed`, `types` and `heldTypes`',
    engines: [MEMORY, DISK],
    elsewhere: '`counts()`; `stats()` has `prefetched` and `lost` instead',
    why: 'no process sees all waiting jobs'
  },
  ownTime: {
    what: 'all limits use the option `clock`, and `maxWaitMs` ends a job to the ms',
    engines: [MEMORY, DISK],
    elsewhere: "limits of all processes use the broker's clock; `maxWaitMs` ends a job when a process takes it, or within a lease",
    why: 'clocks of processes differ, and no process watches the jobs that wait at a broker'
  },
  rateFunctions: {
    what: '`ratePerType` may be a function',
    engines: [MEMORY, DISK],
    options: { ratePerType: () => ({ limit: 1, intervalMs: 1000 }) },
    elsewhere: 'one rate, several, or a Map by type',
    why: 'other processes cannot get the function'
  },
  shortRates: {
    what: 'the `intervalMs` of a rate is any number above 0',
    engines: [MEMORY, DISK],
    options: { rate: { limit: 1, intervalMs: 999 } },
    elsewhere: 'at least 1000',
    why: 'permits are taken ahead, for a part of the interval'
  },
  longTimes: {
    what: '`delayMs`, the ms of holds and `intervalMs` are any finite numbers',
    engines: [MEMORY, DISK],
    elsewhere: 'at most 2^53 − 1',
    why: 'the broker counts whole ms, which must be exact'
  },
  limitsAtOnce: {
    what: '`hold`, `holdType` and `setRates` return the queue, `heldMs` a number',
    engines: [MEMORY, DISK],
    elsewhere: 'they return promises',
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
    why: 'no node knows the count of all partitions'
  },
  exactMaxWaiting: {
    what: '`maxWaitingPerType` uses the current count of waiting jobs',
    engines: [MEMORY, DISK],
    elsewhere: 'the last count from the broker, plus what this process has pushed since',
    why: 'asking before each push would cost a call'
  },
  abortReasons: {
    what: 'if the signal of `add` ends a running job, its runner and listeners of `cancelled` get the reason, as `cause`',
    engines: [MEMORY, DISK],
    elsewhere: 'only the promise of `add` gets it',
    why: 'the runner may be in another process, and a reason can be any value'
  },
  folder: {
    what: '`path` and the other options of a log: `capacity`, `capacityBytes`, `ack`, …; `diskBytes()`, `recovered`; the events `outage` and `outageover`, and the error of a failed log in the event `close`',
    engines: [DISK],
    members: ['diskBytes', 'recovered'],
    options: { path: '/tmp/jobs', capacity: 1000, ack: 'os' },
    elsewhere: '`maxWaiting` in memory, `connection` at a broker',
    why: 'there is no folder'
  },
  processes: {
    what: '`name`, `connection`, `leaseMs`, `prefetch`, …: many processes share a queue, and one with a runner of `null` only pushes',
    engines: [BROKER],
    options: { connection: 'redis://127.0.0.1:6379', leaseMs: 30000, prefetch: 10 },
    elsewhere: 'one process has the queue',
    why: 'other processes cannot reach the memory or the log of a process'
  },
  fleetLimits: {
    what: '`globalConcurrency`, `globalTypeCap`, `globalTypeCaps`; `rate` and `ratePerType` apply across all processes, and the event `limits` tells of changes',
    engines: [BROKER],
    options: { globalConcurrency: 7, globalTypeCap: 2, globalTypeCaps: { a: 1 } },
    elsewhere: '`concurrency`, and `maxTypeCap` and `typeCaps` of a scheduler',
    why: 'elsewhere there is only one process'
  },
  fleetCalls: {
    what: '`health()`, `setGlobalCap`, `setGlobalConcurrency`, `pauseGlobal`, `resumeGlobal`, `announce`; the events `lost` and `error`',
    engines: [BROKER],
    members: ['health', 'setGlobalCap', 'setGlobalConcurrency', 'pauseGlobal', 'resumeGlobal', 'announce'],
    elsewhere: '`pause`, `resume`, `concurrency`, `configure()` of a scheduler',
    why: 'elsewhere there is only one process'
  },
  slots: {
    what: '`run(fn, options)` and `acquire(options)`: functions as jobs, and slots that a caller holds; also with a runner of `null`',
    engines: [MEMORY],
    members: ['run', 'acquire'],
    elsewhere: '`add`, with the code in the runner',
    why: 'a function cannot be stored, and a slot ends with its process'
  },
  explainsAtOnce: {
    what: '`explain(type)` returns an object',
    engines: [MEMORY, DISK],
    elsewhere: 'it returns a promise of what the broker and this process know',
    why: 'the broker has to answer, and no process knows the slots of others'
  },
  ownCaps: {
    what: 'in `counts(type)`, `cap` is that of the scheduler, and `paused` is about `pauseType()`',
    engines: [MEMORY, DISK],
    elsewhere: 'those of all processes: `globalTypeCap`, `globalTypeCaps` and `pauseGlobal(type)`',
    why: 'caps and pauses of one process do not concern the others'
  },
  callsAfterClose: {
    what: '`counts()`, `types()`, `heldMs()`, `hold()`, `holdType()`, `setRates()`, `clear()` and `onIdle()` work after the queue has closed, on disk also `listSchedules()`',
    engines: [MEMORY, DISK],
    elsewhere: '`FAIRLANE_ERR_CLOSED`',
    why: 'the connection is closed too'
  },
  inspection: {
    what: '`jobs`, `remove`, `fflush`, `ready`, `drain`, `waiting`, `length`',
    engines: [MEMORY, DISK],
    members: ['jobs', 'remove', 'fflush', 'ready', 'drain', 'waiting', 'length'],
    elsewhere: '`counts()`, `types()`, `get(id)`, `clear({ type })`, `onIdle()`',
    why: 'no process sees all waiting jobs'
  },
  saturation: {
    what: 'the events `saturated`, `unsaturated` and `drain`',
    engines: [MEMORY, DISK],
    elsewhere: 'they are never emitted; use `maxWaitingPerType`, whose error has `retryAfterMs`',
    why: 'no process sees all waiting jobs'
  },
  history: {
    what: '`observers` may be histories, and controls of `fairlane/adaptive`',
    engines: [MEMORY, DISK],
    elsewhere: 'only metrics; `get(id)` and dashboards show the records at the broker',
    why: 'no process sees all jobs'
  },
  exactOrder: {
    what: 'jobs of a type start exactly in order, and by their priorities',
    engines: [MEMORY, DISK],
    elsewhere: 'exactly within a process, nearly among processes; priorities to a second',
    why: 'a process does not see what others have taken ahead'
  },
  once: {
    what: 'an attempt is made once',
    engines: [MEMORY],
    elsewhere: 'it may be repeated after a crash, and at a broker if a process sends no heartbeat for `leaseMs`',
    why: 'the work of a runner and the record of its end cannot be written in one step'
  }
}

module.exports = { CAPABILITIES: freeze(CAPABILITIES), ENGINES, capabilitiesOf }

/** @param {string} engine 'memory', 'disk' or 'broker' @returns {string[]} for the option `capabilities` of the suite */
function capabilitiesOf (engine) {
  if (!ENGINES.includes(engine)) throw new RangeError(`the engine must be one of ${ENGINES.join(', ')}`)
  return Object.keys(CAPABILITIES).filter(name => CAPABILITIES[name].engines.includes(engine))
}

function freeze (table) {
  for (const capability of Object.values(table)) {
    Object.freeze(capability.engines)
    Object.freeze(capability)
  }
  return Object.freeze(table)
}
