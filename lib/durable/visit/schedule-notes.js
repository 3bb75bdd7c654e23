'use strict'

// Which schedules a folder has, by the records that say so (../schedule/notes.js), for who only reads it.

const { Calendars, timesOf } = require('../../job/schedule-times')
const { isOver } = require('../schedule/notes')

/**
 * @param {object} folder as of folder.js
 * @returns {{ name: string, type: string | undefined, cron: string | undefined, everyMs: number | undefined,
 *   nextAt: number | undefined, lastAt: number | undefined }[]} nextAt: undefined, too, if it is paused, and without the package croner
 */
function schedulesIn (folder) {
  const { progress, notes } = recordsOf(folder)
  const calendars = new Calendars()
  return [...notes].map(([name, note]) => {
    const { keptAt = folder.now, time = -1, endedAt = 0 } = progress.get(name) ?? {}
    const { type, cron, everyMs, overlap } = note
    // times until the end of the last job are skipped
    const nextAt = nextOf(note, overlap ? keptAt : Math.max(keptAt, endedAt), calendars)
    return { name, type, cron, everyMs, nextAt: note.paused ? undefined : nextAt, lastAt: time < 0 ? undefined : time }
  })
}

/** How far each schedule is, and what it is: the records of one that come later say more, if they are of a later time. */
function recordsOf (folder) {
  const progress = new Map() // name → { keptAt, time, endedAt }; time: of its last job, or, below 0, since when there is the schedule
  const notes = new Map() // name → what it is
  for (const seq of folder.seqs()) {
    const { type, hasOptions } = folder.survey.find(seq)
    if (!hasOptions) continue
    const { schedule, byHand, note } = folder.read(seq).options
    if (schedule !== undefined && !byHand && isNews(progress.get(schedule.name), schedule.time)) {
      const state = folder.reading.live.states.get(seq)
      const { name, time } = schedule
      progress.set(name, { keptAt: Math.abs(time), time, endedAt: isOver(state) ? state.dueAt : 0 })
    }
    if (note !== undefined) {
      const about = JSON.parse(note)
      notes.set(about.name, { ...about, type })
    }
  }
  return { progress, notes }
}

function isNews (known, time) {
  return known === undefined || time < 0 || time >= known.keptAt
}

function nextOf (note, from, calendars) {
  try {
    const next = timesOf(note, note.name, calendars).after(from)
    return next === Infinity ? undefined : next
  } catch {
    return undefined // of an expression, without croner
  }
}

module.exports = { schedulesIn }
