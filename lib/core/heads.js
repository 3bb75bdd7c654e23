'use strict'

// The jobs that are to start next, of each type: what those ask who want to know for how long these have waited.

const MOST_LOOKED_AT = 1000 // jobs of a lane that types share: behind these, no type is looked for

/**
 * Calls visit(number, payload) for the first job of each type that waits in a list of lanes, or of a window. For types that share a lane,
 * as far as they are near its head. O(lanes), of a window O(jobs).
 * @param {object} list Lanes or Window
 * @param {string[]} [only] those of these types, at least. O(these), of a window O(jobs)
 */
function eachHead (list, visit, only) {
  if (list.lanes === undefined) {
    eachInWindow(list, visit)
    return
  }
  for (const lane of only === undefined ? list.all() : new Set(only.map(type => list.find(type)))) {
    if (lane === undefined || lane.size === 0) continue
    if (lane.isShared) eachInShared(lane, visit)
    else visit(lane.headSeq, lane.head[lane.headAt])
  }
}

function eachInWindow ({ numbers, payloads, records, types }, visit) {
  const seen = new Set()
  for (let i = 0; i < records.size() && seen.size < types.size; i++) {
    const record = records.peekAt(i)
    if (record === undefined || seen.has(record)) continue
    seen.add(record)
    visit(numbers.peekAt(i), payloads.peekAt(i))
  }
}

function eachInShared (lane, visit) {
  const seen = new Set()
  let count = 0
  lane.scan((block, at) => {
    if (++count > MOST_LOOKED_AT) return
    const { type, payload } = block[at]
    if (seen.has(type)) return
    seen.add(type)
    visit(block[at + 2], payload)
  })
}

module.exports = { eachHead }
