'use strict'

// What it does while it is loaded is in `workerData`: { how, gate, from, times }. Gates are as in jobs.js. The loads are counted, and
// `how` is for `times` of them, from one on. None throws when the gate is open.

const { workerData: { how, gate, from = 0, times = Infinity } } = require('node:worker_threads')

const place = arrive(gate)
const isMeant = place >= from && place < from + times
if (isMeant && how === 'throw' && gate[0] === 0) throw Object.assign(new RangeError('it does not load'), { code: 'LOAD' })
if (isMeant && how === 'exit') process.exit(5)
if (isMeant && how === 'wait') pass(gate, place)
if (isMeant && how === 'loop') for (;;);

module.exports = ({ loop, exit, value, held }) => {
  if (held !== undefined) pass(held, arrive(held))
  if (exit) process.exit(6)
  if (loop) for (;;);
  return value
}

function arrive (numbers) {
  const place = Atomics.add(numbers, 1, 1)
  Atomics.notify(numbers, 1)
  return place
}

function pass (numbers, place) {
  for (let open; (open = Atomics.load(numbers, 0)) <= place;) Atomics.wait(numbers, 0, open)
}
