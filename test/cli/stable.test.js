'use strict'

// What docs/reference/stability.md promises of the command line: its commands and options, its exit codes, and the fields of what it prints
// as JSON. A change of these lists is a change for programs that read it.

const assert = require('node:assert/strict')
const { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { COMMANDS, OPTIONS } = require('../../lib/cli/commands')
const { distributed } = require('../../lib/distributed')
const { PersistentQueue } = require('../../lib/log')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { freePort } = require('../support/ports')
const { describeWithRedis, startRedis } = require('../support/redis')
const { cli, start } = require('./cli')

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
const PRINTED_AT_BROKER = {
  status: ['queue', ...COUNTS, 'types'],
  types: ['type', ...COUNTS],
  'dead list': JOB,
  'dead list --payloads': [...JOB, 'payload'],
  schedules: ['name', 'nextAt', 'lastAt'],
  export: JOB,
  'dead retry --type a': ['retried', 'skipped'],
  'dead delete --all': ['deleted', 'skipped']
}
const EXIT_CODES = {
  'status FOLDER': 0,
  'dead show FOLDER 99': 1,
  'status FOLDER/none': 2,
  'status FOLDER --verbose': 2,
  unknown: 2
}

/** What stands in the first element, or in the whole. */
async function fieldsOf (args) {
  const { stdout } = await cli([...args, '--json'])
  const [first] = [JSON.parse(args[0] === 'export' ? stdout.split('\n')[0] : stdout)].flat()
  return first
}

const namesIn = object => Object.keys(object).sort()

describe('programs that use the command line', () => {
  let base
  beforeEach(() => {
    base = temporaryFolder()
    cpSync(join(root, 'test/durable/folders/0.2.0/jobs'), base, { recursive: true })
  })
  afterEach(() => rmSync(base, { recursive: true }))

  const wordsOf = line => line.split(' ').map(word => word.replace('FOLDER', base))

  it('find these commands and options', () => {
    const taken = Object.fromEntries([...COMMANDS].map(([name, { options }]) => [name, options]))
    assert.deepEqual(taken, TAKEN)
    assert.deepEqual(Object.keys(OPTIONS).sort(), [...new Set([...Object.values(TAKEN).flat(), 'version'])].sort())
  })

  for (const [line, fields] of Object.entries(PRINTED)) {
    it(`read these fields of ${line}`, async () => {
      assert.deepEqual(namesIn(await fieldsOf(wordsOf(line))), [...fields].sort())
    })
  }

  for (const [line, code] of Object.entries(EXIT_CODES)) {
    it(`get the exit code ${code} of ${line}`, async () => {
      assert.equal((await cli(wordsOf(line))).code, code)
    })
  }

  it('read these fields of the error of a dead letter', async () => {
    assert.deepEqual(namesIn((await fieldsOf(wordsOf('dead list FOLDER'))).error), ['code', 'message', 'name'])
  })

  it('read these fields of damage, and of what is cut', async () => {
    const file = join(base, '0000000001.log')
    const whole = readFileSync(file)
    rmSync(join(base, 'closed')) // as a crash leaves it
    truncateSync(file, whole.length - 1)
    assert.deepEqual(namesIn((await fieldsOf(wordsOf('verify FOLDER'))).cut), ['bytes', 'file', 'offset'])
    writeFileSync(file, whole.fill(0xff, 100, 101))
    assert.deepEqual(namesIn((await fieldsOf(wordsOf('verify FOLDER'))).damage[0]), ['bytes', 'file', 'offset', 'what'])
  })

  it('read these fields of a queue of bytes', async () => {
    const path = join(base, 'bytes')
    const queue = await PersistentQueue.open(path)
    await queue.push([Buffer.from('a')])
    await queue.close()
    const about = [...FOLDER, 'serializer', 'openIn', 'isOpen', 'waiting', 'oldestWaitMs']
    assert.deepEqual(namesIn(await fieldsOf(['status', path])), about.sort())
    assert.deepEqual(namesIn(await fieldsOf(['verify', path])), [...FOLDER, 'isWhole', 'entries'].sort())
  })

  it('read the address of the page', async () => {
    const { world, code } = start(['board', base, '--json'])
    while (!world.stdout.text.includes('\n')) await new Promise(setImmediate)
    world.emit('SIGTERM')
    await code
    assert.deepEqual(namesIn(JSON.parse(world.stdout.text)), ['url'])
  })

  it('read these fields of an error', async () => {
    const { stderr } = await cli(['status', join(base, 'none'), '--json'])
    assert.deepEqual(Object.keys(JSON.parse(stderr).error).sort(), ['code', 'file', 'message', 'offset', 'pid'])
  })
})

describeWithRedis('programs that use the command line for a queue at a broker', function () {
  let redis, target

  before(async () => {
    const port = await freePort()
    redis = await startRedis(['--port', String(port)])
    target = ['--connection', `redis://127.0.0.1:${port}`, '--name', 'mails']
    const schedules = { often: { everyMs: 3600000 } }
    const queue = await distributed(async () => { throw new Error('no') }, { connection: redis.connection, name: 'mails', maxAttempts: 1, schedules })
    for (const type of ['a', 'b']) await queue.pushType(type, { type })
    await queue.onIdle()
    await queue.close()
  })
  after(() => redis.stop())

  for (const [line, fields] of Object.entries(PRINTED_AT_BROKER)) {
    it(`read these fields of ${line}`, async () => {
      assert.deepEqual(namesIn(await fieldsOf([...line.split(' '), ...target])), [...fields].sort())
    })
  }
})
