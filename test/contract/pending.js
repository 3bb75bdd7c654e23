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
    'with a number stay taken if the job is aborted while it runs, and are free if it is before',
    'are free if the job is cleared before it starts',
    'stats() counts what this process has done',
    'stats(type) counts the same of a type, but for misuse and overrun',
    'clear() takes away what waits and is delayed, of a type or of all',
    'cancelled tells of jobs that waited, and of those that ran',
    'wait gives the result of a pushed job, to all who ask',
    'wait gives what a job was cancelled with',
    'wait is left by a signal, and the job goes on',
    'wait says so if the result is not kept',
    'wait gives the result of a job that has ended',
    'calls of a queue that is closed say so',
    'wait gives results to any process',
    'of types is that of the scheduler: a quiet one does not wait for a flood'
  ]
}

module.exports = { itOf }

/** @returns {Function} `it` of mocha, but for what is pending */
function itOf (engine) {
  return (title, run) => {
    if (process.env.PENDING === '1' || !PENDING[engine].includes(title)) it(title, run)
  }
}
