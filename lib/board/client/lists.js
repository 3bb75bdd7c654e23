'use strict'

// What runs now, schedules, and the newest failures.

const { byId, fillTable, startTable } = require('./dom')
const { isolated, visible } = require('./names')
const { perform } = require('./server')
const { count, time } = require('./words')

const RUNS = [
  { title: 'job', text: ({ id }) => id === undefined ? 'has ended' : visible(String(id)) },
  { title: 'type', kind: 'text', name: ({ type }) => type },
  { title: 'since', kind: 'text', text: ({ startedAt }) => startedAt === undefined ? '–' : new Date(startedAt).toLocaleTimeString() },
  { title: 'for', text: ({ startedAt }) => startedAt === undefined ? '–' : time(Math.max(queue.now - startedAt, 0)) },
  { title: 'attempt', text: ({ attempt }) => count(attempt) },
  { title: 'overdue', text: ({ overdue }) => overdue === true ? 'yes' : overdue > 0 ? count(overdue) : '' },
  { title: 'actions', kind: 'acts', buttons: runButtons }
]
const SCHEDULES = [
  { title: 'schedule', name: ({ name }) => name },
  { title: 'next', kind: 'text', text: ({ nextAt }) => nextAt === undefined ? '–' : new Date(nextAt).toLocaleString() },
  { title: 'last', kind: 'text', text: ({ lastAt }) => lastAt === undefined ? '–' : new Date(lastAt).toLocaleString() },
  { title: 'actions', kind: 'acts', buttons: scheduleButtons }
]
const FAILURES = [
  { title: 'job', text: ({ id }) => String(id) },
  { title: 'type', kind: 'text', name: ({ type }) => type },
  { title: 'failed at', kind: 'text', text: ({ endedAt }) => new Date(endedAt).toLocaleString() },
  { title: 'attempts', text: ({ attempts }) => count(attempts) },
  { title: 'error', kind: 'text', parts: ({ error }) => [{ name: error }] }
]

let queue // that is shown
let refresh

module.exports = { showLists, startLists }

/** @param {() => Promise<void>} whenChanged asks for the state again */
function startLists (whenChanged) {
  refresh = whenChanged
  for (const [id, columns] of [['runs', RUNS], ['schedules', SCHEDULES], ['failures', FAILURES]]) startTable(tableOf(id), columns)
}

function showLists (shown) {
  queue = shown
  const { runs, running, overdueTypes, schedules, failures } = queue
  const known = runs ?? []
  // where it is not known which they are, there are at least their numbers
  const others = known.some(({ overdue }) => overdue) ? [] : overdueTypes
  const shownCount = others.reduce((sum, { overdue }) => sum + overdue, known.length)
  showList('runs', RUNS, [...others, ...known], ({ id, type, startedAt }) => JSON.stringify([id ?? null, type, startedAt ?? null]), runs === null
    ? `${count(running)} running; give the board a history to list them`
    : `Longest-running first: ${count(shownCount)} of ${count(running)}`)
  showList('schedules', SCHEDULES, schedules ?? [], ({ name }) => name, 'Next due first')
  showList('failures', FAILURES, failures ?? [], ({ id }) => String(id), 'From the history of the queue')
}

function showList (id, columns, entries, keyOf, caption) {
  byId(id).hidden = entries.length === 0
  fillTable(tableOf(id), columns, entries, keyOf, caption)
}

function tableOf (id) {
  return byId(id).querySelector('table')
}

function runButtons ({ id, type }) {
  if (id === undefined || !queue.actions.includes('cancel')) return []
  const of = `job ${visible(String(id))} of ${isolated(type)}`
  const cancel = () => confirm(`Cancel ${of}?`) && perform({ queue: queue.name, action: 'cancel', id }, refresh)
  return [{ name: 'Cancel', of, act: cancel }]
}

function scheduleButtons ({ name, paused }) {
  const { actions } = queue
  const press = (label, action, key) => {
    return { key, name: label, of: isolated(name), act: () => perform({ queue: queue.name, action, schedule: name }, refresh) }
  }
  return [
    ...actions.includes('runSchedule') ? [press('Run now', 'runSchedule')] : [],
    ...actions.includes('pauseSchedule') ? [paused ? press('Resume', 'resumeSchedule', 'pause') : press('Pause', 'pauseSchedule', 'pause')] : []
  ]
}
