'use strict'

// What docs/reference/stability.md promises of the command line: its commands and options, and the fields of what it prints as JSON. A
// change of these lists is a change for programs that read it.

const assert = require('node:assert/strict')
const { cpSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { COMMANDS, OPTIONS } = require('../../lib/cli/commands')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { cli } = require('./cli')

const ANY = ['path', 'connection', 'name', 'json', 'help']
const SOME = [...ANY, 'type', 'error']
const TAKEN = {
  status: ANY,
  types: [...ANY, 'limit'],
  'dead list': [...SOME, 'limit', 'payloads'],
  'dead show': [...ANY, 'payloads'],
  'dead retry': [...SOME, 'all'],
  'dead delete': [...SOME, 'all'],
  schedules: ANY,
  verify: ['path', 'json', 'help'],
  export: [...ANY, 'type', 'payloads'],
  board: [...ANY, 'port', 'read-only']
}

const COUNTS = ['waiting', 'delayed', 'running', 'dead']
const JOB = ['id', 'type', 'state', 'attempts', 'pushedAt', 'dueAt', 'diedAt', 'error', 'key', 'priority', 'cost', 'schedule']
const FOLDER = ['folder', 'kind', 'bytes', 'segments', 'damage', 'cut']
const PRINTED = {
  'status FOLDER': [...FOLDER, ...COUNTS, 'serializer', 'openIn', 'isOpen', 'types', 'oldestWaitMs'],
  'types FOLDER': ['type', ...COUNTS],
  'dead list FOLDER': JOB,
  'dead list FOLDER --payloads': [...JOB, 'payload'],
  'dead show FOLDER 5': JOB,
  'schedules FOLDER': ['name', 'nextAt', 'lastAt'],
  'verify FOLDER': [...FOLDER, 'isWhole', 'entries'],
  'export FOLDER': JOB,
  'dead retry FOLDER 5': ['retried', 'skipped'],
  'dead delete FOLDER --all': ['deleted', 'skipped']
}

describe('programs that use the command line', () => {
  let base
  beforeEach(() => {
    base = temporaryFolder()
    cpSync(join(root, 'test/durable/folders/0.2.0/jobs'), base, { recursive: true })
  })
  afterEach(() => rmSync(base, { recursive: true }))

  it('find these commands and options', () => {
    const taken = Object.fromEntries([...COMMANDS].map(([name, { options }]) => [name, options]))
    assert.deepEqual(taken, TAKEN)
    assert.deepEqual(Object.keys(OPTIONS).sort(), [...new Set([...Object.values(TAKEN).flat(), 'version'])].sort())
  })

  for (const [line, fields] of Object.entries(PRINTED)) {
    it(`read these fields of ${line}`, async () => {
      const { stdout } = await cli([...line.split(' ').map(word => word === 'FOLDER' ? base : word), '--json'])
      const [first] = [JSON.parse(line.startsWith('export') ? stdout.split('\n')[0] : stdout)].flat()
      assert.deepEqual(Object.keys(first).sort(), [...fields].sort())
    })
  }

  it('read these fields of an error', async () => {
    const { stderr } = await cli(['status', join(base, 'none'), '--json'])
    assert.deepEqual(Object.keys(JSON.parse(stderr).error).sort(), ['code', 'file', 'message', 'offset', 'pid'])
  })
})
