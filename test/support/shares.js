'use strict'

/*
 * What the log of a simulation says about fairness.
 */

module.exports = { slotTime, share, waits, percentile, jain, extremes, worstExcess, worstShortfall }

/** Slot time that each type got from one time to another: Map type → ms. */
function slotTime (log, fromMs, toMs) {
  const times = new Map()
  for (const { at, kind, type, ms } of log) {
    if (kind !== 'start') continue
    const time = Math.min(at + ms, toMs) - Math.max(at, fromMs)
    if (time > 0) times.set(type, (times.get(type) ?? 0) + time)
  }
  return times
}

/** The share of all slot time that the types which pass the test got. */
function share (log, fromMs, toMs, test) {
  let own = 0
  let all = 0
  for (const [type, ms] of slotTime(log, fromMs, toMs)) {
    all += ms
    if (test(type)) own += ms
  }
  return own / all
}

/** How long the jobs of the types that pass the test waited, in ascending order. */
function waits (log, test) {
  return log.filter(({ kind, type }) => kind === 'start' && test(type)).map(({ waitMs }) => waitMs).sort((a, b) => a - b)
}

function percentile (sorted, p) {
  return sorted[Math.min(Math.floor(p / 100 * sorted.length), sorted.length - 1)]
}

/** Jain's index of fairness: 1 if all values are equal, 1/n if one has all. */
function jain (values) {
  const sum = values.reduce((a, b) => a + b, 0)
  return sum * sum / (values.length * values.reduce((a, b) => a + b * b, 0))
}

/**
 * What the proven bound of `equal` is made of, from the log of one of its runs.
 * @returns {Map<string, { most: number, longest: number }>} for each type the most jobs that ran at once, and one at least, the longest job
 */
function extremes (log) {
  const found = new Map()
  for (const { kind, type, ms } of log) {
    const own = found.get(type) ?? { running: 0, most: 1, longest: 0 }
    found.set(type, own)
    if (kind === 'push') own.longest = Math.max(own.longest, ms)
    if (kind === 'start') own.most = Math.max(own.most, ++own.running)
    if (kind === 'end') own.running--
  }
  return found
}

/**
 * The proven bound of `equal`, checked for each two types over each time in which both stay backlogged, and neither is held:
 * |Wi/wi - Wj/wj| <= mi (Li + Ei) / wi + mj (Lj + Ej) / wj; m: the most jobs of the type that ran at once, L: its longest, E: the
 * longest of all.
 *
 * @param {object[]} log with `hold` and `free` as kinds, too, where types may be held
 * @param {Map<string, number>} weights
 * @param {Map<string, { most: number, longest: number }>} extremes
 * @returns {number} the greatest |Wi/wi - Wj/wj| as a fraction of its bound; up to 1 is within
 */
function worstExcess (log, weights, extremes) {
  const types = [...weights.keys()]
  const longestOfAll = longestIn(extremes)
  let worst = 0
  for (let i = 0; i < types.length; i++) {
    for (let j = 0; j < i; j++) worst = Math.max(worst, greatestDifference(types[i], types[j]) / (term(types[i]) + term(types[j])))
  }
  return worst

  function term (type) {
    const { most, longest } = extremes.get(type)
    return most * (longest + longestOfAll) / weights.get(type)
  }

  function greatestDifference (a, b) {
    const waiting = { [a]: 0, [b]: 0 }
    const running = { [a]: 0, [b]: 0 }
    const held = new Set()
    let greatest = 0
    let time = 0
    let difference = 0
    let range // [least, most] difference while both are backlogged
    for (const { at, kind, type } of log) {
      if (type !== a && type !== b) continue
      difference += (at - time) * (running[a] / weights.get(a) - running[b] / weights.get(b))
      time = at
      if (range !== undefined) range = [Math.min(range[0], difference), Math.max(range[1], difference)]
      waiting[type] += kind === 'push' ? 1 : kind === 'start' ? -1 : 0
      running[type] += kind === 'start' ? 1 : kind === 'end' ? -1 : 0
      if (kind === 'hold') held.add(type)
      if (kind === 'free') held.delete(type)
      if (waiting[a] > 0 && waiting[b] > 0 && held.size === 0) {
        range = range ?? [difference, difference]
      } else if (range !== undefined) {
        greatest = Math.max(greatest, range[1] - range[0])
        range = undefined
      }
    }
    return range === undefined ? greatest : Math.max(greatest, range[1] - range[0])
  }
}

/**
 * What `equal` leaves a type that stays backlogged, whoever else comes and goes, checked over each time in which one does:
 * Wi/wi >= F - mi (Li + Ei) / wi - 6 E / w; F: seven eighths of the slot time of all by the weights of those who waited or ran, summed up;
 * E: the longest job of all, w: the least weight.
 *
 * @param {object[]} log
 * @param {Map<string, number>} weights of the types to check; others have 1
 * @param {Map<string, { most: number, longest: number }>} extremes
 * @returns {number} the greatest F - Wi/wi as a fraction of what is allowed; up to 1 is within
 */
function worstShortfall (log, weights, extremes) {
  const longestOfAll = longestIn(extremes)
  const leastWeight = Math.min(1, ...weights.values())
  const types = new Map() // those with jobs
  let weightSum = 0
  let running = 0
  let fluid = 0
  let time = 0
  let worst = 0
  for (const { at, kind, type } of log) {
    if (running > 0) fluid += 7 / 8 * (at - time) * running / weightSum
    for (const own of types.values()) own.used += (at - time) * own.running / own.weight
    time = at
    const own = types.get(type) ?? come(type)
    own.waiting += kind === 'push' ? 1 : kind === 'start' ? -1 : 0
    own.running += kind === 'start' ? 1 : kind === 'end' ? -1 : 0
    running += kind === 'start' ? 1 : kind === 'end' ? -1 : 0
    if (own.waiting + own.running === 0) leave(type)
    for (const known of weights.keys()) watch(known)
  }
  return worst

  function come (type) {
    const own = { waiting: 0, running: 0, used: 0, weight: weights.get(type) ?? 1, ahead: -Infinity }
    types.set(type, own)
    weightSum += own.weight
    return own
  }

  function leave (type) {
    weightSum -= types.get(type).weight
    types.delete(type)
  }

  function watch (type) {
    const own = types.get(type)
    if (own === undefined) return
    const ahead = own.used - fluid
    own.ahead = own.waiting === 0 ? -Infinity : Math.max(own.ahead, ahead)
    const { most, longest } = extremes.get(type)
    const allowed = most * (longest + longestOfAll) / own.weight + 6 * longestOfAll / leastWeight
    worst = Math.max(worst, (own.ahead - ahead) / allowed)
  }
}

function longestIn (extremes) {
  let longest = 0
  for (const own of extremes.values()) longest = Math.max(longest, own.longest)
  return longest
}
