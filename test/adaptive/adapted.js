'use strict'

// A queue under a control, before a server of the test's own making, in virtual time.

const fairlane = require('../..')
const { adaptive } = require('../../lib/adaptive')
const { fakeClock } = require('../../lib/testing')
const { turn } = require('../support/turns')

const refusal = Object.assign(new Error('too much'), { status: 503 })

module.exports = { adapted, refusal }

/**
 * @param {(running: number, type: string) => number | Error | null} serve how long a job takes, in ms; or what it fails with, 1 ms later;
 *   null: it never ends
 * @param {object} [options] of adaptive()
 * @param {object} [queueOptions] observers: beside the control
 * @returns {object} the queue, its control and its clock; `changes`, what the event `limit` told; `push(count, type)`; `run(ms)`, which
 *   lets that time go by; `keep(type, ms)`, which has jobs of a type wait all the time while it does
 */
function adapted (serve, options, { observers = [], ...queueOptions } = {}) {
  const clock = fakeClock()
  const control = adaptive({ most: 200, ...options })
  const queue = fairlane((type, done) => {
    const outcome = serve(queue.running, type)
    if (outcome !== null) clock.setTimeout(done, typeof outcome === 'number' ? outcome : 1, typeof outcome === 'number' ? null : outcome)
  }, { clock, scheduler: 'equal', settleBy: 'callback', observers: [control, ...observers], ...queueOptions })
  const changes = []
  control.on('limit', change => changes.push(change))

  const push = (count, type = 't') => {
    for (let i = 0; i < count; i++) {
      if (queue.scheduler === null) queue.push(type, () => {})
      else queue.pushType(type, type, () => {})
    }
  }

  const settle = async () => {
    await undefined
    for (let turns = 0; turns < 20 && queue.running < queue.concurrency && queue.waiting > 0; turns++) await turn()
  }

  const run = async (ms, before = () => {}) => {
    const end = clock.now() + ms
    clock.setTimeout(() => {}, ms)
    before()
    await settle()
    while (clock.now() < end && clock.next()) {
      before()
      await settle()
    }
  }

  const keep = (type, ms) => run(ms, () => push(Math.max(0, 400 - queue.stats(type).waiting), type))
  return { queue, control, clock, changes, push, run, keep }
}
