'use strict'

const assert = require('node:assert/strict')
const { Syncer } = require('../../lib/log/syncer')

describe('what has the disk write the log', () => {
  it('begins no sync while one is under way, whose end begins the next', () => {
    const ends = []
    const settled = []
    const log = {
      fd: 3,
      segment: 1,
      offset: 0,
      error: undefined,
      files: { sync: (fd, end) => ends.push(end) },
      settle: group => settled.push(group),
      settleEarly () {},
      writeOut () { log.syncer.syncWritten() }
    }
    log.syncer = new Syncer(log)
    const write = group => {
      log.offset += 10
      log.syncer.add(group)
      log.syncer.syncWritten()
    }
    write('first')
    write('second')
    write('third')
    assert.equal(ends.length, 1)
    ends[0](null)
    assert.deepEqual([settled, ends.length], [['first'], 2])
    ends[1](null)
    assert.deepEqual([settled, ends.length], [['first', 'second', 'third'], 2])
    assert(log.syncer.isDone)
  })
})
