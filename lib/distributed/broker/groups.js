'use strict'

// What is asked of the broker together, when it is about much.

module.exports = { byPartition, inGroups }

/** @returns {Iterable<object[]>} jobs by the partitions that they are in */
function byPartition (jobs) {
  const all = new Map()
  for (const job of jobs) {
    const { partition } = job.place
    if (!all.has(partition)) all.set(partition, [])
    all.get(partition).push(job)
  }
  return all.values()
}

/** @returns {Generator<object[]>} of at most so much in each, or one thing alone that is larger */
function * inGroups (list, most, sizeOf) {
  let group = []
  let size = 0
  for (const one of list) {
    if (group.length > 0 && size + sizeOf(one) > most) {
      yield group
      group = []
      size = 0
    }
    group.push(one)
    size += sizeOf(one)
  }
  if (group.length > 0) yield group
}
