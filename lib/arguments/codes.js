'use strict'

// Every error code and warning code, and what it says: the table of docs/reference/api.md and of the types, which a test compares.

const codes = Object.freeze({
  FAIRLANE_ERR_RUNNER:
    'The runner is not a function, or there is none; it threw or rejected without a reason; or it did not return a result for each job of a batch.',
  FAIRLANE_ERR_OPTION: 'An option is unknown or has a value that is not allowed.',
  FAIRLANE_ERR_CONCURRENCY: 'The concurrency is neither a positive integer nor Infinity.',
  FAIRLANE_ERR_SCHEDULER: 'The scheduler is unknown or incomplete, cannot do what is asked, or has misbehaved (a warning).',
  FAIRLANE_ERR_TYPE_REQUIRED: 'The job has no type, and the queue has a scheduler: use pushType(), or the option `type`.',
  FAIRLANE_ERR_TYPE:
    'The type is undefined, null, a symbol, a value without a text of its own such as `{}`, ' +
    'or, on disk and at a broker, not well-formed Unicode.',
  FAIRLANE_ERR_CALLBACK: 'A callback is not a function.',
  FAIRLANE_ERR_ARGUMENT: 'An argument of a call is missing, unknown or wrong.',
  FAIRLANE_ERR_QUEUE_FULL: 'The job was refused: as many jobs are waiting as the queue allows. Push again after `retryAfterMs`.',
  FAIRLANE_ERR_TYPE_FULL: 'The job was refused: as many jobs of its type are waiting as the queue allows. Push again after `retryAfterMs`.',
  FAIRLANE_ERR_TIMEOUT: 'The job ran longer than its time limit, or its thread did not load the module in time.',
  FAIRLANE_ERR_MAX_WAIT: 'The job was cancelled: it waited longer than allowed.',
  FAIRLANE_ERR_ABORTED: 'The job was cancelled by its signal.',
  FAIRLANE_ERR_CLEARED: 'The job was cancelled by clear() or remove() while it waited.',
  FAIRLANE_ERR_CLOSED: 'The queue is closed, or was closed before the job ended; or its threads are closed.',
  FAIRLANE_ERR_CRASHED: 'The thread ended while the job ran; or the process did, and the job had no attempt left.',
  FAIRLANE_ERR_LOCKED: 'The durable queue is already open, in this process or in another one: close it there first.',
  FAIRLANE_ERR_CORRUPT:
    'The files of a durable queue or a history are damaged; `file` and `offset` say where. A durable queue opens with the option `repair`.',
  FAIRLANE_ERR_VERSION: 'The folder of a durable queue has a format that this version of fairlane does not read; `file` says where.',
  FAIRLANE_ERR_SERIALIZER:
    'The jobs on disk, or at the broker, were pushed with another `serialize` than the queue was opened with: use the same one.',
  FAIRLANE_ERR_IO: 'The file system or a database failed; `cause` says how.',
  FAIRLANE_ERR_TOO_LARGE: 'A payload, a batch or a type is larger than the queue can hold.',
  FAIRLANE_ERR_PEER:
    'A package that this part of fairlane needs is not installed, or has another version; the message says how to install it.',
  FAIRLANE_ERR_BROKER: 'The broker refused a call or could not be reached; `cause` says how.',
  FAIRLANE_ERR_LEASE: 'The process sent no heartbeat for `leaseMs`, so another one may run the job.',
  FAIRLANE_ERR_RESULT: 'The job has ended, and its result was not kept.',
  FAIRLANE_ERR_RESPONSE: 'A fetch got a response whose status is retried; `status` has it.',
  FAIRLANE_ERR_SLOT_LOST: 'The slot of acquire() was garbage-collected before its release.',
  FAIRLANE_ERR_UNSUPPORTED: 'A queue of this kind does not have this member; the message says which have it, and what to use here.'
})

const warnings = Object.freeze({
  FAIRLANE_WARN_SETTLED_TWICE: 'A runner settled a job that had already settled.',
  FAIRLANE_WARN_STALLED: 'Jobs that wait for jobs of their own queue seem to hold all slots.',
  FAIRLANE_WARN_VALUE_IGNORED: 'A runner that takes no `done` returned a value that is not a promise: its jobs never end.',
  FAIRLANE_WARN_OUTAGE: 'A durable queue cannot write its log at the moment: it starts fewer jobs or none, and keeps retrying.',
  FAIRLANE_WARN_DAMAGE: 'A durable queue found damage in its files while it was open: some jobs can no longer be read.',
  FAIRLANE_WARN_RETRY_AFTER:
    'A Retry-After header, or the argument of Throttled.after(), is neither a number of seconds nor a date: the type is held for 1 s.',
  FAIRLANE_WARN_ADMISSION:
    'A request was answered with 500: a function of the options of an admission has failed, and nothing downstream takes the error.',
  FAIRLANE_WARN_SLOT_LOST: 'A slot of acquire() was garbage-collected before its release: it is free again.',
  FAIRLANE_WARN_GROUP: 'The function groupOf threw, or returned no string: the type is a group of its own.',
  FAIRLANE_WARN_BROKER:
    'The broker is not configured to keep jobs, rejects a background call of the queue, or has data that cannot be read.'
})

module.exports = { codes, warnings }
