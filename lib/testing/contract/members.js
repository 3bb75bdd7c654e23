'use strict'

// That every member of a queue in memory is there on all engines, and that what an engine cannot do is refused, and never ignored.

const fairlane = require('../../../index.js')
const { CAPABILITIES } = require('./capabilities')
const { equal, expect, rejects, throws } = require('./expect')

const METHODS = [
  'add', 'push', 'pushType', 'unshift', 'unshiftType', 'map', 'counts', 'explain', 'types', 'stats', 'pause', 'resume', 'pauseType', 'resumeType', 'isTypePaused',
  'hold', 'holdType', 'heldMs', 'setRates', 'clear', 'onIdle', 'flush', 'close', 'on', 'off', 'once'
]
const VALUES = { concurrency: 10, running: 0, paused: false, closed: false, scheduler: null }

const EXPORTS = ['backoff', 'Throttled', 'Postponed', 'FairlaneError']
const VALUE_MEMBERS = ['waiting', 'length', 'drain', 'recovered']

const PLACES = ['path', 'connection'] // what make() gives

exports.members = function ({ test, has, entry }) {
  test('all have', [], async stage => {
    const { queue } = await stage.openGated()
    for (const name of METHODS) equal(typeof queue[name], 'function', name)
    for (const [name, value] of Object.entries(VALUES)) equal(queue[name], value, name)
  })

  for (const [capability, { members = [], options = {} }] of Object.entries(CAPABILITIES)) {
    for (const name of members) {
      test(`${name} is there`, capability, async stage => {
        const { queue } = await stage.openGated()
        expect(name in queue, name)
        if (!VALUE_MEMBERS.includes(name)) equal(typeof queue[name], 'function', name)
      })
      if (!has(capability)) test(`${name} is refused, which says who has it and what to use`, [], stage => refusesMember(stage, capability, name))
    }
    for (const [name, value] of Object.entries(options)) {
      if (!PLACES.includes(name)) test(`the option ${name} is taken: ${CAPABILITIES[capability].what}`, capability, stage => takesOption(stage, name, value))
      if (!has(capability)) test(`the option ${name} is refused: ${CAPABILITIES[capability].what}`, [], stage => refusesOption(stage, name, value))
    }
  }

  test('those that show what waits, where a process sees it, do so', 'inspection', inspects)

  test('exports are the same objects, whichever entry they are of', [], async () => {
    for (const name of entry === undefined ? [] : EXPORTS) expect(entry[name] === fairlane[name], `${name} must be that of fairlane`)
  })
}

async function inspects (stage) {
  const { gate, queue } = await stage.openGated({ scheduler: 'equal', concurrency: 1 })
  stage.add(queue, 'runs', { type: 'a' })
  await gate.until(1)
  const [, removed] = [['a', 'waits'], ['b', 'goes']].map(([type, payload]) => stage.add(queue, payload, { type }))
  await queue.flush()
  const waiting = type => Array.from(queue.jobs(type), ({ type, payload }) => [type, payload])
  equal([queue.waiting, queue.length, queue.drain], [2, 3, null])
  equal([waiting(), waiting('b')], [[['a', 'waits'], ['b', 'goes']], [['b', 'goes']]])
  equal(queue.remove(({ payload }) => payload === 'goes'), 1)
  await rejects(removed, 'CLEARED')
  await queue.ready('a')
  const drained = new Promise(resolve => { queue.drain = resolve })
  const flushed = queue.fflush()
  gate.release()
  await gate.until(2)
  gate.release()
  await Promise.all([drained, flushed])
  equal([queue.waiting, queue.length], [0, 0])
}

async function refusesMember (stage, capability, name) {
  const { queue } = await stage.openGated()
  expect(name in queue, `there must be a member ${name}`)
  const { message } = throws(() => VALUE_MEMBERS.includes(name) ? queue[name] : queue[name](), 'UNSUPPORTED', name)
  for (const engine of CAPABILITIES[capability].engines) {
    expect(new RegExp(engine === 'broker' ? 'broker' : engine, 'i').test(message), `the message must say that the engine '${engine}' has it: ${message}`)
  }
  expect(/\b(use|callback)\b/i.test(message), `the message must say what to use instead: ${message}`)
}

async function takesOption (stage, name, value) {
  const queue = await stage.open(async payload => payload, { settleBy: 'promise', scheduler: 'equal', [name]: value })
  equal(await queue.add('a', { type: 'a' }), 'a')
}

async function refusesOption (stage, name, value) {
  await stage.refuses({ scheduler: 'equal', [name]: value }, 'OPTION', name)
}
