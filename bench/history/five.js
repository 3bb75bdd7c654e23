'use strict'

// The five operations that RedoxQL's README measures, 10,000 of each, with a queue and its history: what is inserted is pushed, an update
// is a run of the job, which writes its record twice. Every answer is compared.

const fairlane = require('../..')
const { History } = require('../../lib/history')

const COUNT = 10000
const RANGE = 100
const OPERATIONS = ['insert', 'update', 'select', 'sum', 'remove']

/** @returns {Promise<Object<string, number>>} ms by operation, of the best quarter of the rounds */
async function runFive (rounds) {
  const all = []
  for (let i = 0; i < rounds; i++) all.push(await round())
  return Object.fromEntries(OPERATIONS.map(name => [name, bestQuarter(all.map(times => times[name]))]))
}

async function round () {
  const history = new History()
  let ran = 0
  const queue = fairlane((payload, done) => {
    ran++
    done()
  }, { concurrency: 10, observers: history })
  queue.pause()
  const times = {}
  const time = async (name, run) => {
    const begun = performance.now()
    await run()
    times[name] = performance.now() - begun
  }
  const ids = Array.from({ length: COUNT }, () => 1 + Math.floor(Math.random() * COUNT))
  await time('insert', () => { for (let i = 0; i < COUNT; i++) queue.push(i) })
  await time('update', () => {
    queue.resume()
    return queue.onIdle()
  })
  await time('select', () => {
    for (const id of ids) if (history.get(id).id !== id) throw new Error(`job ${id} was not found`)
  })
  let attempts = 0
  await time('sum', () => {
    for (let first = 1; first <= COUNT; first += RANGE) attempts += history.sum('attempts', { first, last: first + RANGE - 1 })
  })
  await time('remove', () => {
    for (let id = 1; id <= COUNT; id++) if (!history.remove(id)) throw new Error(`job ${id} was not removed`)
  })
  const left = Object.values(history.counts()).reduce((sum, n) => sum + n)
  if (ran !== COUNT || attempts !== COUNT || left !== 0) throw new Error(`miscounted: ${ran} ran, ${attempts} attempts, ${left} records left`)
  return times
}

/** The mean of the least quarter of some times. */
function bestQuarter (times) {
  const best = times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length / 4))
  return best.reduce((sum, ms) => sum + ms) / best.length
}

module.exports = { runFive, bestQuarter, OPERATIONS, COUNT }
