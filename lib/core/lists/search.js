'use strict'

// Walks through lanes: which jobs wait there, and where those are that pass a test. In a shared lane, payload and type of a job stand in a
// TypedPayload (overflow.js).

module.exports = { jobsIn, placesOf }

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
 * Where the jobs of some lanes are that pass test(payload, type), in arrival order. test may push and unshift.
 * @param {Iterable<object>} lanes
 * @param {{ firstNumber: number, nextNumber: number }} list tells which jobs wait before test is called: test is not asked about those that it pushes
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
