'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const fairlane = require('../../..')
const { History } = require('../../../lib/history')
const { internalsOf } = require('../../../lib/core/internals')
const { Fifo } = require('../../../lib/core/lists/fifo')
const { Lanes } = require('../../../lib/core/lists/lanes')
const { Window } = require('../../../lib/core/lists/window')
const { root } = require('../../support/child')
const { FILES } = require('../../support/imports')

const WINDOW = { waiting () {}, start () {}, done () {}, select: () => 0 }

describe('the list of a queue', () => {
  const ALL = { priorityMs: 10, rate: { limit: 1, intervalMs: 1 }, maxAttempts: 2 }

  for (const [what, List, options] of [
    ['without options', Fifo, {}],
    ['that is observed', Fifo, { observers: () => new History() }],
    ['with a rate that is observed', Fifo, { rate: ALL.rate, observers: () => new History() }],
    ['with a scheduler of lanes', Lanes, { scheduler: 'fair' }],
    ['with a scheduler of lanes and all else', Lanes, { scheduler: 'equal', ...ALL, observers: () => new History() }],
    ['with priorities and no scheduler', Lanes, ALL],
    ['with a scheduler of a window that is observed', Window, { scheduler: WINDOW, observers: () => new History() }]
  ]) {
    it(`${what} is ${List.name} itself, without a method of its own`, () => {
      const { observers } = options
      const queue = fairlane(() => {}, { ...options, ...(observers && { observers: observers() }) })
      const { list } = internalsOf(queue)
      queue.add(1, { type: 'a' }).catch(() => {})
      queue.add(2, { type: 'a', delayMs: 10 }).catch(() => {})
      assert.equal(Object.getPrototypeOf(list), List.prototype)
      assert(Object.values(list).every((value) => typeof value !== 'function' || value === list.makeContext || value === list.whenStalled))
      queue.close({ drain: false }).catch(() => {})
    })
  }

  it('has fields for what few queues have, which are null', () => {
    const { list } = internalsOf(fairlane(() => {}, { scheduler: 'fair' }))
    for (const name of ['gate', 'delays', 'recorder', 'holds', 'levels']) assert.equal(list[name], null, name)
    for (const name of ['gate', 'delays', 'recorder']) assert.equal(new Fifo()[name], null, name)
  })

  it('is of a class that is written down: none is made at run time, and no prototype changes', () => {
    for (const file of FILES.filter((file) => file !== 'lib/board/bull-board.js')) { // whose base is a package that may be missing
      assert.doesNotMatch(readFileSync(join(root, file), 'utf8'), /setPrototypeOf|=> class\b|return class\b|extends \w+\(/, file)
    }
  })
})
