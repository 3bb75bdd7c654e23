'use strict'

// Records into a table of an SQLite database, by what node:sqlite and better-sqlite3 have in common.

const { FairlaneError } = require('../arguments/errors')
const { jobOf } = require('./jobs')
const { ascending } = require('./scan')

const COLUMNS = ['id', 'type', 'state', 'attempts', 'accepted_at', 'started_at', 'ended_at', 'error', 'cost']

/**
 * Writes the jobs with ids above `after`, in one transaction; one that is in the table already is written anew.
 * @param {object} ledger
 * @param {object} database
 * @param {{ table: string, after: number }} options
 * @returns {number | undefined} the last id that was written; `after` if none was, undefined without that
 * @throws FAIRLANE_ERR_IO if the database fails, which is the cause: then nothing is written
 */
function exportTo (ledger, database, { table, after }) {
  try {
    database.exec('BEGIN')
  } catch (cause) {
    throw failed(cause) // the transaction that is open there is another's
  }
  try {
    const last = insertAll(ledger, database, `"${table.replaceAll('"', '""')}"`, after)
    database.exec('COMMIT')
    return last
  } catch (cause) {
    takeBack(database)
    throw failed(cause)
  }
}

function insertAll (ledger, database, name, after) {
  let last = after === -Infinity ? undefined : after
  database.exec(`CREATE TABLE IF NOT EXISTS ${name} (id INTEGER PRIMARY KEY, type TEXT, state TEXT, attempts INTEGER, ` +
    'accepted_at REAL, started_at REAL, ended_at REAL, error TEXT, cost INTEGER)')
  addCost(database, name)
  const insert = database.prepare(`INSERT OR REPLACE INTO ${name} (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`)
  ascending(ledger, after, (rows, row, id) => {
    const job = jobOf(ledger, rows, row, id)
    const { type = null, state, attempts, acceptedAt, startedAt = null, endedAt = null, error = null, cost = null } = job
    insert.run(id, type, state, attempts, acceptedAt, startedAt, endedAt, error, cost)
    last = id
  })
  return last
}

/** To a table that was made before there were costs. */
function addCost (database, name) {
  try {
    database.prepare(`SELECT cost FROM ${name} LIMIT 0`)
  } catch {
    database.exec(`ALTER TABLE ${name} ADD COLUMN cost INTEGER`)
  }
}

function takeBack (database) {
  try {
    database.exec('ROLLBACK')
  } catch {} // SQLite has done so where the disk is full; why it had to is what the caller wants to know
}

function failed (cause) {
  return new FairlaneError('FAIRLANE_ERR_IO', 'exportTo: the database failed', { cause })
}

module.exports = { exportTo }
