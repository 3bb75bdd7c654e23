'use strict'

// Walks through lanes: which jobs wait there, and takes out those that pass a test. In a shared lane, payload and type of a job stand in a
// TypedPayload (overflow.js).

const { Fifo } = require('./fifo')
const { REMOVED } = require('./lane')

module.exports = { jobsIn, takeOutOf }

/** The jobs that wait in some lanes, in arrival order. O(jobs × log lanes). */
function jobsIn (lanes) {
  const jobs = []
  for (const lane of lanes) {
    lane.scan((block, at) => {
      jobs.push({
        payload: lane.isShared ? block[at].payload : block[at],
        whenSettled: block[at + 1],
        number: block[at + 2],
        type: lane.isShared ? block[at].type : lane.type
      })
    })
  }
  return jobs.sort(byNumber)
}

/**
 * Takes out the jobs of some lanes that pass a test, of which the scheduler is told later.
 * @param {object} list the Lanes that these are of
 * @param {(payload: any, type: string) => boolean} test
 * @returns {Fifo} a list of them
 */
function takeOutOf (list, lanes, test) {
  const found = search(list, lanes, test)
  const removed = new Fifo()
  if (list.keepsTypes) removed.types = []
  const losers = new Set()
  for (const { lane, block, at, number } of found) {
    if (block[at + 2] !== number || block[at + 1] === REMOVED) continue // test has removed the job, or had it move
    const whenSettled = block[at + 1]
    if (list.recorder !== null) list.recorder.removed(number)
    removed.types?.push(lane.isShared ? block[at].type : lane.type)
    removed.pushOf(list.generationOf(number), list.takeOut(lane, block, at), whenSettled)
    losers.add(lane)
    if (!lane.isPaused) list.removals.push(lane)
  }
  if (list.scanCount === 0) for (const lane of losers) lane.compactIfSparse()
  return removed
}

function search (list, lanes, test) {
  list.scanCount++
  try {
    return placesOf(lanes, list, test)
  } finally {
    list.scanCount--
  }
}

/**
 * Where the jobs of some lanes are that pass test(payload, type), in arrival order. test may push and unshift.
 * @param {Iterable<object>} lanes
 * @param {{ firstNumber: number, nextNumber: number }} list tells which jobs wait before test is called: test is not asked about those that
 *   it pushes
 */
function placesOf (lanes, { firstNumber, nextNumber }, test) {
  const found = []
  for (const lane of lanes) {
    lane.scan((block, at) => {
      const number = block[at + 2]
      if (number < firstNumber || number >= nextNumber) return
      const isFound = lane.isShared ? test(block[at].payload, block[at].type) : test(block[at], lane.type)
      if (isFound) found.push({ lane, block, at, number })
    })
  }
  return found.sort(byNumber)
}

function byNumber (a, b) {
  return a.number - b.number
}
