'use strict'

// Records into a table of an SQLite database, by what node:sqlite and better-sqlite3 have in common.

const { jobOf } = require('./jobs')
const { ascending } = require('./scan')

const COLUMNS = ['id', 'type', 'state', 'attempts', 'accepted_at', 'started_at', 'ended_at', 'error']

/**
 * Writes the jobs with ids above `after`, in one transaction; one that is in the table already is written anew.
 * @param {object} ledger
 * @param {object} database
 * @param {{ table: string, after: number }} options
 * @returns {number | undefined} the last id that was written; `after` if none was, undefined without that
 * @throws what the database throws: then nothing is written
 */
function exportTo (ledger, database, { table, after }) {
  const name = `"${table.replaceAll('"', '""')}"`
  let last = after === -Infinity ? undefined : after
  database.exec('BEGIN')
  try {
    database.exec(`CREATE TABLE IF NOT EXISTS ${name} (id INTEGER PRIMARY KEY, type TEXT, state TEXT, attempts INTEGER, ` +
      'accepted_at REAL, started_at REAL, ended_at REAL, error TEXT)')
    const insert = database.prepare(`INSERT OR REPLACE INTO ${name} (${COLUMNS.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
    ascending(ledger, after, (rows, row, id) => {
      const { type = null, state, attempts, acceptedAt, startedAt = null, endedAt = null, error = null } = jobOf(ledger, rows, row, id)
      insert.run(id, type, state, attempts, acceptedAt, startedAt, endedAt, error)
      last = id
    })
    database.exec('COMMIT')
  } catch (err) {
    database.exec('ROLLBACK')
    throw err
  }
  return last
}

module.exports = { exportTo }
