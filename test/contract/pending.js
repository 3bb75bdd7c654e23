'use strict'

// Tests of the contract that an engine does not pass yet, by their titles. PENDING=1 runs them, too.

const PENDING = {
  memory: [],
  disk: [],
  broker: [
    'wait is there',
    'pushAll is there',
    'are taken by all engines together',
    'of calls that are wrong or unknown throw at once',
    'of calls about single jobs that are wrong throw at once',
    'pushAll gives the ids of all, in their order',
    'pushAll takes nothing in if one is refused',
    'that fail with Throttled hold their type, which they come back to as the first',
    'that were throttled for long hold for as long',
    'is that of priorities, by what they are worth',
    'is that of priorities, by what they are worth, within a type',
    'of priorities ages: a job stands where it would had it been pushed earlier',
    'knows priorities from 0 to 15, where they have a worth',
    'are strings and finite numbers, and nothing else',
    'are those of one type',
    'are taken until the first start by default',
    "are taken during the run with keyUntil: 'settled', and free when the job is done",
    "are free with keyUntil: 'settled' when the job has failed for good",
    'that are taken meanwhile have retryDead give false',
    'are taken for so many ms with a number, from the push on, and their sharers get its outcome',
    'with a number are taken until the job has started, at least',
    'with a number stay taken if the job is aborted while it runs, and are free if it is before',
    'are free if the job is cleared before it starts',
    'are free when the job is told of its timeout, though its runner goes on',
    "that are taken replace the payload of the job with onDuplicate: 'replace'",
    "join a job that runs, with 'replace' and 'postpone'",
    "put the job off with onDuplicate: 'postpone', until maxDelayMs at most",
    "put the job off with onDuplicate: 'postpone'",
    'stats() counts what this process has done',
    'stats(type) counts the same of a type, but for misuse and overrun',
    'clear() takes away what waits and is delayed, of a type or of all',
    'cancelled tells of jobs that waited, and of those that ran',
    'rate holds back what goes beyond it, attempts included',
    'several rates hold all',
    'setRates replaces the rates that it is given, and null takes one away',
    'setRates refuses what is no rate',
    'holdType holds a type for so long, and 0 ends that',
    'hold holds all jobs for so long, and 0 ends that',
    'a hold is independent of rates: setRates ends none',
    'wait gives the result of a pushed job, to all who ask',
    'wait gives what a job was cancelled with',
    'wait is left by a signal, and the job goes on',
    'wait says so if the result is not kept',
    'wait gives the result of a job that has ended',
    'calls of a queue that is closed say so',
    'leaves jobs with all that was said of them, and dead letters',
    'globalConcurrency is how many jobs run at once in all processes',
    'setGlobalCap and setGlobalConcurrency hold from now on, and listeners of limits are told',
    'an opening writes what differs from the last opening, so that it undoes no call',
    'setRates gives all processes another rate',
    'rate holds over all processes',
    'pauseGlobal holds a type, or all, in all processes',
    'hold and holdType hold all processes',
    'wait gives results to any process',
    'what no number is, is refused'
  ]
}

module.exports = { itOf }

/** @returns {Function} `it` of mocha, but for what is pending */
function itOf (engine) {
  return (title, run) => {
    if (process.env.PENDING === '1' || !PENDING[engine].includes(title)) it(title, run)
  }
}
