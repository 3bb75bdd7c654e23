'use strict'

const assert = require('node:assert/strict')
const { Syncer } = require('../../lib/log/syncer')

/** A log as the syncer sees it, whose syncs end when a test says so. */
function makeLog () {
  const log = {
    fd: 3,
    segment: 1,
    offset: 0,
    error: undefined,
    ends: [],
    settled: [],
    closed: [],
    files: { sync: (fd, end) => log.ends.push(end), close: fd => log.closed.push(fd) },
    settle: group => log.settled.push(group),
    settleEarly () {},
    writeOut () { log.syncer.syncWritten() }
  }
  log.syncer = new Syncer(log)
  log.write = group => {
    log.offset += 10
    log.syncer.add(group)
    log.syncer.syncWritten()
  }
  return log
}

describe('what has the disk write the log', () => {
  it('begins no sync while one is under way, whose end begins the next', () => {
    const log = makeLog()
    for (const group of ['first', 'second', 'third']) log.write(group)
    assert.equal(log.ends.length, 1)
    log.ends[0](null)
    assert.deepEqual([log.settled, log.ends.length], [['first'], 2])
    log.ends[1](null)
    assert.deepEqual([log.settled, log.ends.length], [['first', 'second', 'third'], 2])
    assert(log.syncer.isDone)
  })

  it('closes a file that was left while it was synced when that has ended', () => {
    const log = makeLog()
    log.write('first')
    log.syncer.leave()
    log.fd = 4
    assert.deepEqual(log.closed, [])
    log.ends[0](null)
    assert.deepEqual(log.closed, [3])
    log.syncer.leave()
    assert.deepEqual(log.closed, [3, 4])
  })

  it('settles what waits for the disk when the file is replaced by one that is synced', () => {
    const log = makeLog()
    log.write('first')
    log.write('second')
    log.fd = 4
    log.offset = 5
    log.syncer.replaced()
    assert.deepEqual([log.settled, log.syncer.isDone], [['first', 'second'], true])
    log.ends[0](null)
    assert.deepEqual([log.settled, log.closed, log.syncer.isDone], [['first', 'second'], [3], true])
  })

  it('settles nothing by a sync that ends when the log has failed', () => {
    const log = makeLog()
    log.write('first')
    log.write('second')
    log.error = new Error('the disk is gone')
    log.ends[0](null)
    assert.deepEqual([log.settled, log.ends.length, log.syncer.takeAll()], [[], 1, ['first', 'second']])
  })
})
