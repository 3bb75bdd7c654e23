'use strict'

// Numbers and what they mean, in words. A sentence is a list of texts, and of names as { name }, which are shown apart.

module.exports = { count, finding, percent, reason, time }

function count (value = null) {
  return value === null ? '–' : value.toLocaleString('en')
}

function percent (value = null) {
  return value === null ? '–' : `${(100 * value).toFixed(1)} %`
}

function time (ms = null) {
  if (ms === null) return '–'
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`
  if (ms < 60000) return `${Number((ms / 1000).toPrecision(3))} s`
  if (ms < 3600000) return `${Number((ms / 60000).toPrecision(3))} min`
  return `${Number((ms / 3600000).toPrecision(3))} h`
}

const REASONS = {
  idle: () => [],
  closed: () => ['the queue is closed'],
  paused: () => ['the queue is paused'],
  'type-paused': () => ['paused'],
  outage: () => ['the disk cannot be written'],
  broker: () => ['the broker is unreachable'],
  delayed: ({ untilMs }) => [`delayed: ${next(untilMs)}`],
  backoff: ({ untilMs }) => [`failed: next attempt${within(untilMs)}`],
  cap: ({ running }) => [`at its cap of ${slots(running)}`],
  'group-cap': () => ['its group is at its cap'],
  hold: ({ untilMs }) => [`held: ${next(untilMs)}`],
  'queue-hold': ({ untilMs }) => [`the queue is held: ${next(untilMs)}`],
  rate: ({ untilMs }) => [`rate: ${next(untilMs)}`],
  'queue-rate': ({ untilMs }) => [`rate of the queue: ${next(untilMs)}`],
  slots: ({ holders }) => holders === undefined
    ? ['all slots are taken']
    : ['all slots are taken: ', ...listOf(holders.map(({ type, running }) => [type, count(running)]))],
  scheduler: () => ['the scheduler holds it back'],
  starting: () => ['starts now']
}

/** Why the next job of a type does not start. @returns {(string | { name: string })[]} */
function reason (row) {
  return REASONS[row.because]?.(row) ?? []
}

const FINDINGS = {
  closed: () => ['The queue is closed. It takes no more jobs.'],
  paused: ({ waiting }) => [`The queue is paused, and ${jobs(waiting)}. Nothing starts until it is resumed.`],
  outage: ({ waiting }) => [`The disk cannot be written, and ${jobs(waiting)}. The queue keeps retrying.`],
  broker: ({ waiting }) => [`The broker is unreachable, and ${jobs(waiting)}.`],
  'queue-hold': ({ waiting, untilMs }) => [`The queue is held, and ${jobs(waiting)}: ${next(untilMs)}.`],
  'queue-rate': ({ waiting, untilMs }) => [`The rate of the queue is used up, and ${jobs(waiting)}: ${next(untilMs)}.`],
  standstill: ({ ms, waiting, holders }) => [
    `No job has started or ended for ${time(ms)}, and ${jobs(waiting)}. The slots are held by `, ...listOf(holders), '.'
  ],
  overdue: ({ overdue, running, holders }) => [
    `${count(overdue)} of ${count(running)} slots in use are held by runners that go on after their jobs have ended: `, ...listOf(holders), '.'
  ],
  failing: ({ failures, attempts, types }) => [
    `${count(failures)} of the ${count(attempts)} attempts that ended in the last minute have failed`, types.length > 0 ? ': ' : '',
    ...listOf(types.map(([type, failures, attempts]) => [type, `${count(failures)} of ${count(attempts)}`])), '.'
  ],
  flood: ({ type, share, running, othersCount }) => [
    { name: type }, ` had ${percent(share)} of the slot time in the last minute and holds ${slots(running)} now, while ${types(othersCount)}.`
  ],
  backlog: ({ type, waiting, ofWaiting }) => [{ name: type }, ` has ${count(waiting)} of the ${count(ofWaiting)} waiting jobs.`],
  rate: ({ type, waiting, untilMs }) => [{ name: type }, ` has used up its rate, and ${jobs(waiting)}: ${next(untilMs)}.`],
  hold: ({ type, waiting, untilMs }) => [{ name: type }, ` is held, and ${jobs(waiting)}: ${next(untilMs)}.`],
  cap: ({ type, waiting, running }) => [{ name: type }, ` is at its cap of ${slots(running)}, and ${jobs(waiting)}.`],
  'group-cap': ({ type, waiting }) => ['The group of ', { name: type }, ` is at its cap, and ${jobs(waiting)}.`],
  'type-paused': ({ type, waiting }) => [{ name: type }, ` is paused, and ${jobs(waiting)}.`],
  starving: ({ types, count: number }) => [
    number === 1 ? 'A type starves although others are served: ' : `${count(number)} types starve although others are served: `,
    ...listOf(types.map(([type, sinceMs]) => [type, `no start for ${time(sinceMs)}`])), '.'
  ]
}

/** What stands out, as a sentence. @returns {(string | { name: string })[]} */
function finding (one) {
  return FINDINGS[one.kind](one)
}

function next (untilMs) {
  return untilMs === undefined ? 'the next start is not known' : `next start in ${time(rounded(untilMs))}`
}

function within (untilMs) {
  return untilMs === undefined ? ' later' : ` in ${time(rounded(untilMs))}`
}

/** To whole seconds from one second on: it is as old as the answer. */
function rounded (ms) {
  return ms < 1000 ? Math.ceil(ms) : 1000 * Math.round(ms / 1000)
}

function listOf (pairs) {
  return pairs.flatMap(([type, text], i) => [i === 0 ? '' : ', ', { name: type }, ` ${text}`])
}

function jobs (number) {
  return number === 1 ? '1 job waits' : `${count(number)} jobs wait`
}

function slots (number) {
  return number === 1 ? '1 slot' : `${count(number)} slots`
}

function types (number) {
  return number === 1 ? 'another type waits' : `${count(number)} other types wait`
}
