'use strict'

const assert = require('node:assert/strict')
const { OBSERVE } = require('../../lib/core/internals')
const { History } = require('../../lib/history')
const { fakeClock } = require('../../lib/testing')

const COLUMNS = ['id', 'type', 'state', 'attempts', 'accepted_at', 'started_at', 'ended_at', 'error']

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
    clock.advance(1)
    ledger.ended(id, id % 7 === 0, new Error(`of ${id}`))
  }
  return history
}

/** What the table is to hold, by the list. */
function expected (history) {
  return [...history.list({ limit: Infinity })].reverse().map(({ id, type, state, attempts, acceptedAt, startedAt, endedAt, error }) =>
    [id, type ?? null, state, attempts, acceptedAt, startedAt ?? null, endedAt ?? null, error ?? null])
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

  it('takes back what it has written, and throws what the database throws', function () {
    const database = new FakeDatabase()
    database.mostRows = 5
    assert.throws(() => example().exportTo(database), /the disk is full/)
    assert.equal(database.said.at(-1), 'ROLLBACK')
  })

  it('works with node:sqlite', function () {
    const { DatabaseSync } = sqlite() ?? this.skip()
    const history = example()
    const database = new DatabaseSync(':memory:')
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
