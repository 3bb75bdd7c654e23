'use strict'

// What rooms may use of the core's inside: this list, and nothing else of core/.
//
//   durable, compat   innerQueueOf(), startNow(), startPromptly(), readers of options
//   http              entranceOf(), names of options
//   testing           internalsOf()
//   durable, distributed   makeInnerQueue(); KeptQueue, which their public classes extend; announce() and attach() for themselves
//   durable           limits and limitOptions, once a queue has a rate or a hold; capOf() of its scheduler; makeExplaining()
//   fetch             holdAtLeast(); readers of options
//   history, metrics  OBSERVE; RUNS_ONLY, for distributed
//   adaptive          OBSERVE, JOINS
//   metrics, durable  eachHead()

const { typeError } = require('../arguments/errors')
const { InnerQueue } = require('./inner-queue')
const options = require('./options')
const { startNow, startPromptly } = require('./immediate')
const { Queue, internalsOf } = require('./queue')
const { announce, capOf, makeExplaining } = require('./rooms')

const { INNER, OBSERVE } = options
const NOT_INNER = { settleBy: 'callback', maxWaitMs: undefined, signal: undefined, observers: undefined }

module.exports = {
  JOINS: options.JOINS,
  OBSERVE,
  RUNS_ONLY: options.RUNS_ONLY,
  announce,
  capOf,
  internalsOf,
  makeExplaining,
  options,

  /** What holds back starts: rates and holds. */
  get limits () {
    return { ...require('./limits/limiter'), ...require('./limits/reservations') }
  },

  /** How those are read. */
  get limitOptions () {
    return require('./limits/options')
  },

  /** The jobs that are to start next, of each type. */
  eachHead: (list, visit, only) => require('./heads').eachHead(list, visit, only),

  /** What the public classes of queues have in common whose jobs are kept elsewhere. */
  get KeptQueue () { return require('./kept-queue').KeptQueue },

  /** What stats(type) of a queue with a scheduler says of the group of a type: nothing where there are no groups. */
  groupIn (queue, type) {
    const stats = queue.scheduler === null ? {} : queue.stats(type)
    return 'group' in stats ? { group: stats.group } : {}
  },

  /** Has nothing of a type start for so many ms at least; of the whole queue where types cannot be held. */
  holdAtLeast: (queue, type, ms) => internalsOf(queue).throttle(type, ms),

  /** By which jobs start before the call returns that brings them: in the place of the runner onStart is called. @returns {Entrance} */
  entranceOf: (queue, onStart) => new (require('./entrance').Entrance)(internalsOf(queue), onStart),

  /** As the constructor of InnerQueue, of a queue. */
  innerQueueOf: (queue, whenSettled) => new InnerQueue(internalsOf(queue), whenSettled),

  /**
   * A queue that is part of another one, which has the rest of the options: nobody is told of it, and nobody observes it.
   */
  makeInnerQueue: (runner, options) => new Queue(runner, { ...options, ...NOT_INNER, [INNER]: true }),

  /**
   * Has observers make a ledger together.
   * @param {object[]} observers read
   * @param {object} queue that they are told of
   * @param {{ clock: object, hasIds?: boolean }} read what they must know of its options
   * @returns {object | undefined} undefined without observers
   * @throws FAIRLANE_ERR_OPTION, since one may have come to observe another queue after the options were read
   */
  attach (observers, queue, read) {
    let ledger
    for (const observer of options.inOrder(observers)) {
      const attachTo = observer[OBSERVE]
      if (attachTo === undefined) throw typeError('FAIRLANE_ERR_OPTION', 'observers: one of them already observes another queue')
      ledger = attachTo.call(observer, queue, ledger, read)
    }
    return ledger
  },

  /** What may start, starts before it returns: for facades whose originals start jobs inside push. */
  startNow: queue => startNow(internalsOf(queue).dispatch),

  /** From then on the end of a job starts the next one before it returns. */
  startPromptly: queue => startPromptly(internalsOf(queue).dispatch)
}
