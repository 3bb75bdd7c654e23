'use strict'

// Who keeps a record of each job: fairlane without any, fairlane/history, and what a program does by hand: an object per job in a Map, or
// rows that are written to SQLite some later.
//
// `open(folder, keep)` gives `options` of the queue, and either `history`, or the calls by which the program records what happens:
// accepted(id, type), started(id), ended(id). `close()` throws unless the last `keep` jobs, or all if they are fewer, are on record as
// done.

const path = require('node:path')
const fairlane = require('../..')

const KEEP = 100000
const BATCH = 1000

const recorders = {
  fairlane: { package: 'fairlane', open: () => ({ options: {}, close () {} }) },
  history: { package: 'fairlane', open: (folder, keep) => withHistory({ keep }) },
  'history, exact': { package: 'fairlane', open: (folder, keep) => withHistory({ keep, clock: 'exact' }) },
  'Map of objects': { package: null, open: (folder, keep) => withMap(keep, () => {}) },
  'node:sqlite': { package: 'node:sqlite', peer: 'node:sqlite', open: withSqlite }
}

function withHistory ({ keep = KEEP, clock }) {
  const { History } = require('../../lib/history')
  const history = new History({ keep, clock })
  return {
    options: { observers: history },
    history,
    close (count) {
      const { done, ...others } = history.counts()
      if (done < Math.min(count, keep) || Object.values(others).some(n => n > 0)) throw new Error(`${done} of ${count} jobs are on record as done`)
    }
  }
}

/** Twice as many as are to be kept are, before the oldest go. @param {(job: object) => void} whenEnded */
function withMap (keep = KEEP, whenEnded) {
  const jobs = new Map()
  let endedCount = 0
  return {
    options: {},
    jobs,
    accepted (id, type) {
      jobs.set(id, { id, type, state: 'waiting', attempts: 0, acceptedAt: performance.now(), startedAt: undefined, endedAt: undefined, error: undefined })
      if (jobs.size > 2 * keep) for (const old of jobs.keys()) if (jobs.size <= keep || !jobs.delete(old)) break
    },
    started (id) {
      const job = jobs.get(id)
      job.state = 'running'
      job.attempts++
      job.startedAt = performance.now()
    },
    ended (id) {
      const job = jobs.get(id)
      job.state = 'done'
      job.endedAt = performance.now()
      endedCount++
      whenEnded(job)
    },
    close (count) {
      if (endedCount !== count || jobs.size < Math.min(count, keep)) throw new Error(`${endedCount} of ${count} jobs are on record as done`)
    }
  }
}

/** Live jobs in a Map, those that have ended in a table, a thousand in a transaction. */
function withSqlite (folder) {
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(path.join(folder, 'jobs.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  database.exec('CREATE TABLE jobs (id INTEGER PRIMARY KEY, type TEXT, state TEXT, attempts INTEGER, accepted REAL, started REAL, ended REAL)')
  const insert = database.prepare('INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?)')
  let batch = []
  const map = withMap(KEEP, job => {
    map.jobs.delete(job.id)
    batch.push(job)
    if (batch.length === BATCH) write()
  })
  const write = () => {
    database.exec('BEGIN')
    for (const { id, type = null, state, attempts, acceptedAt, startedAt, endedAt } of batch) {
      insert.run(id, type, state, attempts, acceptedAt, startedAt, endedAt)
    }
    database.exec('COMMIT')
    batch = []
  }
  return {
    ...map,
    close (count) {
      write()
      const { n } = database.prepare("SELECT count(*) AS n FROM jobs WHERE state = 'done'").get()
      database.close()
      if (n !== count) throw new Error(`${n} of ${count} jobs are in the table as done`)
    }
  }
}

/**
 * A queue whose jobs are on record; payloads are ids.
 * @param {{ options: object, accepted?: Function, started?: Function, ended?: Function }} recorder
 * @param {(payload: number, done: Function) => void} runner
 * @param {object} options of the queue
 * @returns {{ queue: object, push: (id: number, type?: string) => void }}
 */
function recorded (recorder, runner, options) {
  const { accepted, started, ended } = recorder
  const tracked = accepted === undefined
    ? runner
    : (id, done) => {
        started(id)
        runner(id, () => {
          ended(id)
          done()
        })
      }
  const queue = fairlane(tracked, { ...options, ...recorder.options })
  const push = options.scheduler === undefined ? id => queue.push(id) : (id, type) => queue.pushType(type, id)
  if (accepted === undefined) return { queue, push }
  return {
    queue,
    push (id, type) {
      accepted(id, type)
      push(id, type)
    }
  }
}

module.exports = { recorders, recorded }
