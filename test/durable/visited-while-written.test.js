'use strict'

// A folder is read again and again, without its lock, while another process writes to it, rolls segments, empties them and removes them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { join } = require('node:path')
const { readFolder } = require('../../lib/durable/visit/visit')
const { temporaryFolder } = require('../support/folders')
const { startProgram } = require('../support/programs')
const { rounds } = require('../support/rounds')

const READS = rounds(40)

describe('a folder that is read while a process writes to it', function () {
  it('has each job once that was there all the time, and none that had ended before', async () => {
    const base = temporaryFolder()
    const path = join(base, 'queue')
    const writer = startProgram([join(__dirname, 'visited-writer.js'), path])
    try {
      await writer.line()
      let firstSegments = new Set()
      for (let i = 0; i < READS; i++) {
        await writer.line()
        const told = writer.lines.slice()
        const { folder } = await readFolder(path)
        assert.equal(folder.holder?.pid, writer.child.pid)
        const wantedFrom = folder.snapshot.list().filter(name => name.endsWith('.log')).sort()[0]
        firstSegments = firstSegments.add(wantedFrom)
        check(folder, told)
        folder.close()
      }
      assert(firstSegments.size > 1, 'no segment went meanwhile')
    } finally {
      await writer.end()
    }
    const { folder } = await readFolder(path)
    assert.equal(folder.holder, undefined)
    check(folder, writer.lines)
    folder.close()
    fs.rmSync(base, { recursive: true })
  })
})

function check (folder, told) {
  assert.deepEqual(folder.damage, [])
  const ids = Array.from(folder.jobs(), ({ id }) => id)
  const found = new Set(ids)
  assert.equal(found.size, ids.length)
  for (const line of told) {
    const [what, id] = line.split(' ')
    assert.equal(found.has(Number(id)), what === '+', line)
  }
}
