'use strict'

const assert = require('node:assert/strict')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')

const COLUMNS = ['id', 'type', 'state', 'attempts', 'accepted_at', 'started_at', 'ended_at', 'error', 'cost']

/** A database that understands what exportTo() says to it; Node 20 has no other. */
class FakeDatabase {
  constructor () {
    this.said = []
    this.rows = new Map()
  }

  exec (sql) {
    this.said.push(sql)
  }

  prepare (sql) {
    this.said.push(sql)
    if (sql.startsWith('SELECT cost') && this.isOld) throw new Error('no such column: cost')
    return {
      run: (...values) => {
        if (this.rows.size === this.mostRows) throw new Error('the disk is full')
        this.rows.set(values[0], values)
      }
    }
  }
}

function example () {
  const history = new History({ keep: 0 })
  const clock = fakeClock(5)
  const ledger = history[OBSERVE](undefined, undefined, { clock, hasIds: true })
  const types = ['a', undefined, 'b"; DROP TABLE jobs; --']
  for (let id = 1; id <= 60000; id++) ledger.accepted(id, types[id % 3])
  for (let id = 1; id <= 60000; id++) {
    if (id % 1000 === 0) continue
    ledger.started(id)
    if (id % 5 === 0) ledger.charged(id, id)
    clock.advance(1)
    ledger.ended(id, id % 7 === 0, new Error(`of ${id}`))
  }
  return history
}

/** What the table is to hold, by the list. */
function expected (history) {
  return [...history.list({ limit: Infinity })].reverse().map(job => {
    const { id, type, state, attempts, acceptedAt, startedAt, endedAt, error, cost } = job
    return [id, type ?? null, state, attempts, acceptedAt, startedAt ?? null, endedAt ?? null, error ?? null, cost ?? null]
  })
}

describe('exportTo', function () {
  it('writes what the list shows, in one transaction, and goes on behind an id', function () {
    const history = example()
    const database = new FakeDatabase()
    assert.equal(history.exportTo(database), 60000)
    assert.deepEqual([...database.rows.values()], expected(history))
    assert.equal(database.said[0], 'BEGIN')
    assert.equal(database.said.at(-1), 'COMMIT')
    assert.match(database.said[1], /^CREATE TABLE IF NOT EXISTS "jobs" \(/)

    const rest = new FakeDatabase()
    assert.equal(history.exportTo(rest, { table: 'a "table"', after: 59000 }), 60000)
    assert.deepEqual([...rest.rows.values()], expected(history).filter(([id]) => id > 59000))
    assert.match(rest.said[1], /"a ""table"""/)
    assert.equal(history.exportTo(rest, { after: 60000 }), 60000)
    assert.equal(new History().exportTo(rest), undefined)
  })

  it('adds the column of costs to a table that was made before there were any', function () {
    const history = example()
    assert(expected(history).some(row => row.at(-1) === 59995))
    const database = new FakeDatabase()
    database.isOld = true
    history.exportTo(database)
    assert.deepEqual([...database.rows.values()], expected(history))
    assert.equal(database.said.filter(sql => sql === 'ALTER TABLE "jobs" ADD COLUMN cost INTEGER').length, 1)
    const fresh = new FakeDatabase()
    history.exportTo(fresh)
    assert.equal(fresh.said.filter(sql => sql.startsWith('ALTER')).length, 0)
  })

  it('takes back what it has written if the database fails, and says how it has', function () {
    const database = new FakeDatabase()
    database.mostRows = 5
    assert.throws(() => example().exportTo(database), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.message === 'the disk is full')
    assert.equal(database.said.at(-1), 'ROLLBACK')
  })

  it('says so too if the database has taken it back itself, as SQLite does when the disk is full', function () {
    const database = new FakeDatabase()
    database.mostRows = 5
    database.exec = sql => { if (sql === 'ROLLBACK') throw new Error('cannot rollback - no transaction is active') }
    assert.throws(() => example().exportTo(database), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.message === 'the disk is full')
  })

  it('leaves a transaction alone that is not its own', function () {
    const database = new FakeDatabase()
    const failure = new Error('cannot start a transaction within a transaction')
    database.exec = sql => {
      database.said.push(sql)
      throw failure
    }
    assert.throws(() => example().exportTo(database), { name: 'FairlaneError', code: 'FAIRLANE_ERR_IO', cause: failure })
    assert.deepEqual(database.said, ['BEGIN'])
  })

  it('writes all or nothing to a disk that becomes full', function () {
    const { DatabaseSync } = sqlite() ?? this.skip()
    const database = new DatabaseSync(':memory:')
    const history = example()
    assert.equal(history.exportTo(database, { table: 'first', after: 59990 }), 60000)
    database.exec('PRAGMA max_page_count = 20')
    assert.throws(() => history.exportTo(database, { table: 'second' }), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.errcode === 13) // SQLITE_FULL
    assert.deepEqual(database.prepare('SELECT name FROM sqlite_master').all().map(({ name }) => name), ['first'])
    database.exec('PRAGMA max_page_count = 1000000')
    assert.equal(history.exportTo(database, { table: 'second' }), 60000)
    database.close()
  })

  it('works with node:sqlite', function () {
    const { DatabaseSync } = sqlite() ?? this.skip()
    const history = example()
    const database = new DatabaseSync(':memory:')
    database.exec('CREATE TABLE jobs (id INTEGER PRIMARY KEY, type TEXT, state TEXT, attempts INTEGER, ' +
      'accepted_at REAL, started_at REAL, ended_at REAL, error TEXT)') // as before there were costs
    history.exportTo(database)
    assert.equal(history.exportTo(database), 60000)
    const rows = database.prepare('SELECT * FROM jobs ORDER BY id').all()
    assert.deepEqual(rows.map(row => COLUMNS.map(name => row[name])), expected(history))
    database.close()
  })
})

/** Undefined before Node 22.13. */
function sqlite () {
  try {
    return require('node:sqlite')
  } catch {
    return undefined
  }
}
