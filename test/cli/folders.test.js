'use strict'

// Each command against folders of queues on disk.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const { join } = require('node:path')
const { durable } = require('../../lib/durable')
const { PersistentQueue } = require('../../lib/log')
const { temporaryFolder } = require('../support/folders')
const gates = require('../support/gates')
const { cli } = require('./cli')

const HOUR_MS = 3600000
const READERS = [['status'], ['types'], ['dead', 'list'], ['dead', 'show'], ['schedules'], ['verify'], ['export']]

describe('the command line, of a queue on disk,', function () {
  let base, path, queue

  beforeEach(() => {
    base = temporaryFolder()
    path = join(base, 'mails')
  })
  afterEach(async () => {
    await queue?.close({ timeoutMs: 0 })
    queue = undefined
    fs.rmSync(base, { recursive: true })
  })

  const fail = async payload => { throw Object.assign(new Error(`no ${payload}`), { code: payload === 'other' ? undefined : 'E_NO' }) }

  async function make (use, { runner = fail, ...options } = {}) {
    queue = await durable(runner, { path, ack: 'os', maxAttempts: 1, ...options })
    await use(queue)
    await close()
  }

  async function close () {
    await queue.close({ timeoutMs: 0 })
    queue = undefined
  }

  /** Dead letters 1 to 3, then waiting and delayed jobs. */
  async function filled (options) {
    await make(async queue => {
      for (const [type, payload] of [['a', 'one'], ['b', 'two'], ['a', 'other']]) await queue.pushType(type, payload)
      await queue.onIdle()
      queue.pause()
      await queue.pushType('a', { to: 'ada' })
      await queue.pushType('c', 'later', { delayMs: HOUR_MS })
      await queue.push(new Map([[1, 2]]))
    }, options)
  }

  describe('says by status', function () {
    it('how many jobs there are', async () => {
      await filled()
      const { code, stdout, stderr } = await cli(['status', path])
      assert.deepEqual([code, stderr], [0, ''])
      const lines = stdout.replace(/\S+ K?B in/, '1 B in').replace(/\d+ m?s$/m, '1 s').split('\n')
      assert.deepEqual(lines, [
        `folder   ${path}`, 'open     no', 'on disk  1 B in 1 segment', 'waiting  3, 1 of these delayed', '         the oldest one for 1 s',
        'running  0', 'dead     3', 'types    3', ''
      ])
      const about = JSON.parse((await cli(['status', path, '--json'])).stdout)
      const { waiting, delayed, running, dead, types, segments, serializer, kind, isOpen } = about
      assert.deepEqual([waiting, delayed, running, dead, types, segments, serializer, kind, isOpen], [3, 1, 0, 3, 3, 1, 'structured', 'jobs', false])
      assert(about.oldestWaitMs >= 0 && about.oldestWaitMs < HOUR_MS)
    })

    it('that there are none', async () => {
      await make(() => {})
      const { code, stdout } = await cli(['status', path])
      assert.equal(code, 0)
      assert.match(stdout, /^waiting {2}0\nrunning {2}0$/m)
    })

    it('which process has it open, and what runs there', async () => {
      const gate = gates()
      queue = await durable(gate.runner, { path, segmentBytes: 1024, concurrency: 1 })
      for (let i = 0; i < 20; i++) await queue.pushType('a', 'x'.repeat(100))
      await gate.until(1)
      const { stdout } = await cli(['status', path])
      assert.match(stdout, new RegExp(`^open {5}in process ${process.pid}$`, 'm'))
      assert.match(stdout, /^on disk .* segments$/m)
      assert.match(stdout, /^running {2}1$/m)
      assert.equal(JSON.parse((await cli(['status', path, '--json'])).stdout).openIn, process.pid)
    })

    it('of a queue of bytes how many payloads there are', async () => {
      const bytes = await PersistentQueue.open(path)
      await bytes.push([Buffer.from('a')])
      await bytes.close()
      assert.match((await cli(['status', path])).stdout, /^waiting {2}1\n$/m)
      assert.match((await cli(['verify', path])).stdout, /^whole: \d+ B in 1 segment, with 1 payloads/)
      for (const command of [['types'], ['dead', 'list'], ['dead', 'show', '1'], ['schedules'], ['export']]) {
        const { code, stderr } = await cli([...command, '--path', path])
        assert.equal(code, 2)
        assert.match(stderr, /is a queue of bytes/)
      }
    })
  })

  describe('lists by types', function () {
    it('those that have jobs, so many as it is told', async () => {
      await filled()
      assert.equal((await cli(['types', path])).stdout, [
        'TYPE    WAITING  DELAYED  RUNNING  DEAD',
        'a             1        0        0     2',
        'b             0        0        0     1',
        'c             1        1        0     0',
        '(none)        1        0        0     0',
        ''
      ].join('\n'))
      const { stdout, stderr } = await cli(['types', path, '--limit', '1'])
      assert.equal(stdout.split('\n').length, 3)
      assert.equal(stderr, '… and 3 more\n')
      const types = JSON.parse((await cli(['types', path, '--json'])).stdout)
      assert.deepEqual(types.map(({ type }) => type), ['a', 'b', 'c', null])
    })

    it('nothing where there is none', async () => {
      await make(() => {})
      assert.deepEqual(await cli(['types', path]), { code: 0, stdout: '', stderr: '' })
      assert.deepEqual(JSON.parse((await cli(['types', path, '--json'])).stdout), [])
    })
  })

  describe('lists by dead list', function () {
    const idsOf = ({ stdout }) => JSON.parse(stdout).map(({ id }) => id)

    it('dead letters, by type and error', async () => {
      await filled()
      const { stdout } = await cli(['dead', 'list', path])
      assert.match(stdout, /^ID {2}TYPE {2}ATTEMPTS {2}DIED {18}ERROR\n1 {3}a {12}1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}E_NO: no one\n2 .*\n3 .* Error: no other\n$/)
      assert.deepEqual(idsOf(await cli(['dead', 'list', path, '--json'])), [1, 2, 3])
      assert.deepEqual(idsOf(await cli(['dead', 'list', path, '--json', '--type', 'a'])), [1, 3])
      assert.deepEqual(idsOf(await cli(['dead', 'list', path, '--json', '--error', 'E_NO: no'])), [1, 2])
      assert.deepEqual(idsOf(await cli(['dead', 'list', path, '--json', '--limit', '2'])), [1, 2])
      assert.deepEqual(idsOf(await cli(['dead', 'list', path, '--json', '--type', 'a', '--error', 'other'])), [3])
    })

    it('payloads on request only', async () => {
      await filled()
      assert(!(await cli(['dead', 'list', path])).stdout.includes('"one"'))
      assert.match((await cli(['dead', 'list', path, '--payloads'])).stdout, /PAYLOAD\n.* "one"\n/)
      const letters = JSON.parse((await cli(['dead', 'list', path, '--payloads', '--json'])).stdout)
      assert.deepEqual(letters.map(({ payload }) => payload), ['one', 'two', 'other'])
    })

    it('many, as wide as the first ones', async () => {
      await make(async queue => {
        for (let i = 0; i < 250; i++) queue.pushType('a', 'one')
        await queue.onIdle()
      })
      const { stdout } = await cli(['dead', 'list', path])
      assert.equal(stdout.split('\n').length, 252)
    })
  })

  describe('shows by dead show', function () {
    it('what is known of some', async () => {
      await filled()
      const { code, stdout, stderr } = await cli(['dead', 'show', path, '2', '--payloads'])
      assert.deepEqual([code, stderr], [0, ''])
      for (const line of ['id            2', 'type          b', 'attempts      1', 'error         E_NO: no two', 'payload       two']) {
        assert(stdout.includes(`${line}\n`), line)
      }
      assert.match(stdout, /^diedAt {8}\d{4}-/m)
      const [letter] = JSON.parse((await cli(['dead', 'show', '--path', path, '2', '--json'])).stdout)
      assert.deepEqual([letter.id, letter.error, letter.payload], [2, { name: 'Error', code: 'E_NO', message: 'no two' }, undefined])
    })

    it('that there is none of an id', async () => {
      await filled()
      for (const id of ['4', '99', 'x', '-0', '1e3', '0x1']) {
        const { code, stdout, stderr } = await cli(['dead', 'show', '--path', path, '--', id])
        assert.deepEqual([code, stdout, stderr], [1, '', `there is no dead letter ${id}\n`])
      }
    })

    it('payloads that JSON does not hold, bytes, and such as cannot be read', async () => {
      const payloads = { date: new Date(0), bytes: Buffer.from('abc'), nothing: undefined, big: { n: 1n }, json: { a: [1] } }
      await make(async queue => {
        for (const [type, payload] of Object.entries(payloads)) await queue.pushType(type, payload)
        await queue.onIdle()
      })
      const letters = JSON.parse((await cli(['dead', 'list', path, '--json', '--payloads'])).stdout)
      const shownOf = ({ payload, payloadText, payloadBytes }) => payload ?? payloadText ?? payloadBytes
      const shown = Object.fromEntries(letters.map(letter => [letter.type, shownOf(letter)]))
      assert.deepEqual(shown, { date: '1970-01-01T00:00:00.000Z', bytes: 'YWJj', nothing: 'undefined', big: '{ n: 1n }', json: { a: [1] } })
      assert.match((await cli(['dead', 'list', path, '--payloads'])).stdout, /YWJj$/m)
      assert.match((await cli(['dead', 'show', path, '5', '--payloads'])).stdout, /^payload {7}\{ a: \[ 1 \] \}$/m)
      fs.renameSync(join(path, 'serializer-structured'), join(path, 'serializer-json'))
      assert.match(JSON.parse((await cli(['dead', 'list', path, '--json', '--payloads'])).stdout)[0].payloadError, /JSON/)
      assert.match((await cli(['dead', 'list', path, '--payloads'])).stdout, /cannot be read: /)
    })
  })

  describe('changes by dead retry and dead delete', function () {
    const left = async () => JSON.parse((await cli(['dead', 'list', path, '--json'])).stdout).map(({ id }) => id)

    it('those of some ids', async () => {
      await filled()
      assert.deepEqual(await cli(['dead', 'retry', path, '1']), { code: 0, stdout: 'retried 1\n', stderr: '' })
      assert.deepEqual(await left(), [2, 3])
      assert.deepEqual(await cli(['dead', 'delete', '--path', path, '3', '2']), { code: 0, stdout: 'deleted 2\n', stderr: '' })
      assert.deepEqual(await left(), [])
      const ran = []
      await make(queue => queue.clear({ type: 'c' }) >= 0 && queue.flush(), { runner: async payload => { ran.push(payload) } })
    })

    it('those of a type, with an error, or all', async () => {
      await filled()
      assert.equal((await cli(['dead', 'retry', path, '--type', 'a', '--error', 'E_NO'])).stdout, 'retried 1\n')
      assert.deepEqual(await left(), [2, 3])
      assert.deepEqual(JSON.parse((await cli(['dead', 'delete', path, '--error', 'other', '--json'])).stdout), { deleted: 1, skipped: [] })
      assert.equal((await cli(['dead', 'delete', path, '--all'])).stdout, 'deleted 1\n')
      assert.equal((await cli(['dead', 'delete', path, '--all'])).stdout, 'deleted 0\n')
      assert.deepEqual(await left(), [])
    })

    it('all but those whose keys others have by now, without a type too', async () => {
      await make(async queue => {
        for (const key of ['k', 'l']) await queue.push('one', { key, keyUntil: 'settled' })
        await queue.onIdle()
        queue.pause()
        await queue.push('two', { key: 'k', keyUntil: 'settled' })
      })
      assert.match((await cli(['dead', 'list', path])).stdout, /^1 {3}\(none\) /m)
      const { code, stdout, stderr } = await cli(['dead', 'retry', path, '--all'])
      assert.deepEqual([code, stdout], [1, 'retried 1\n'])
      assert.match(stderr, /other jobs have their keys: 1\n$/)
    })

    it('more than fit into a page', async () => {
      await make(async queue => {
        for (let i = 0; i < 2100; i++) queue.pushType('a', 'one')
        await queue.onIdle()
      }, { concurrency: 100 })
      assert.equal((await cli(['dead', 'delete', path, '--all'])).stdout, 'deleted 2100\n')
      assert.deepEqual(await left(), [])
    })

    it('none that are none any more', async () => {
      await filled()
      const { code, stdout, stderr } = await cli(['dead', 'delete', path, '1', '99', 'x'])
      assert.deepEqual([code, stdout], [1, 'deleted 1\n'])
      assert.match(stderr, /^not deleted, .*: 99, x\n$/)
      assert.deepEqual(JSON.parse((await cli(['dead', 'retry', path, '99', '--json'])).stdout), { retried: 0, skipped: ['99'] })
    })

    it('nothing of a folder that is open, and says in which process', async () => {
      queue = await durable(fail, { path, maxAttempts: 1 })
      await queue.push('one')
      await queue.onIdle()
      for (const command of [['dead', 'retry', path, '1'], ['dead', 'delete', path, '--all'], ['board', path]]) {
        const { code, stdout, stderr } = await cli(command)
        assert.deepEqual([code, stdout], [1, ''])
        assert.match(stderr, /^fairlane: The queue is already open, in this process .*FAIRLANE_ERR_LOCKED/)
        const { error } = JSON.parse((await cli([...command, '--json'])).stderr)
        assert.deepEqual([error.code, error.pid], ['FAIRLANE_ERR_LOCKED', process.pid])
      }
      assert.deepEqual((await queue.deadLetters()).length, 1)
    })
  })

  it('lists its schedules', async () => {
    await make(queue => queue.flush(), { schedules: { often: { everyMs: HOUR_MS }, nightly: { cron: '0 3 * * *' } } })
    assert.match((await cli(['schedules', path])).stdout, /^NAME {5}NEXT {18}LAST\n(often|nightly) +\d{4}-/)
    const all = JSON.parse((await cli(['schedules', path, '--json'])).stdout)
    assert.deepEqual(all.map(({ name, lastAt }) => [name, lastAt]).sort(), [['nightly', null], ['often', null]])
    for (const { nextAt } of all) assert(nextAt > Date.now())
  })

  it('exports jobs and dead letters as lines of JSON', async () => {
    await filled()
    const linesOf = ({ stdout }) => stdout.trimEnd().split('\n').map(line => JSON.parse(line))
    const jobs = linesOf(await cli(['export', path]))
    assert.deepEqual(jobs.map(({ id, state, type }) => [id, state, type]), [
      [1, 'dead', 'a'], [2, 'dead', 'b'], [3, 'dead', 'a'], [4, 'waiting', 'a'], [5, 'delayed', 'c'], [6, 'waiting', null]
    ])
    assert(jobs.every(job => !('payload' in job)))
    assert.deepEqual(linesOf(await cli(['export', path, '--payloads', '--json'])).map(({ payload, payloadText }) => payload ?? payloadText), [
      'one', 'two', 'other', { to: 'ada' }, 'later', 'Map(1) { 1 => 2 }'
    ])
    assert.deepEqual(linesOf(await cli(['export', path, '--type', 'c'])).map(({ id }) => id), [5])
  })

  it('exports a hundred thousand jobs, each once', async () => {
    await make(async queue => {
      queue.pause()
      for (let i = 0; i < 100; i++) await queue.pushAll(Array.from({ length: 1000 }, (_, j) => ({ type: `t${j % 7}`, payload: 1000 * i + j })))
    }, { serialize: 'json' })
    const { stdout } = await cli(['export', path, '--payloads'])
    const payloads = new Set(stdout.trimEnd().split('\n').map(line => JSON.parse(line).payload))
    assert.equal(payloads.size, 100000)
    assert.equal(JSON.parse((await cli(['status', path, '--json'])).stdout).waiting, 100000)
  })

  describe('that is damaged', function () {
    beforeEach(async () => {
      await filled({ segmentBytes: 1024 })
      const file = join(path, fs.readdirSync(path).find(name => name.endsWith('.log')))
      const bytes = fs.readFileSync(file)
      bytes[100] ^= 1
      fs.writeFileSync(file, bytes)
    })

    it('says where by verify and status, and fails', async () => {
      for (const command of ['verify', 'status']) {
        const { code, stdout } = await cli([command, path])
        assert.equal(code, 1)
        assert.match(stdout, /^damaged {2}0000000001\.log, offset \d+, \d+ bytes: no whole frame begins here$/m)
      }
      const report = JSON.parse((await cli(['verify', path, '--json'])).stdout)
      assert.deepEqual([report.isWhole, report.damage[0].file], [false, '0000000001.log'])
    })

    it('is listed as far as it is whole, which is said, and fails', async () => {
      for (const command of [['types'], ['dead', 'list'], ['schedules'], ['export']]) {
        const { code, stdout, stderr } = await cli([...command, '--path', path, '--json'])
        assert.equal(code, 1)
        if (command[0] !== 'export') assert(Array.isArray(JSON.parse(stdout)))
        assert.match(stderr, /^The folder is damaged, so something is missing/)
      }
    })

    it('is not opened, and shown in colour to a terminal', async () => {
      const { code, stderr } = await cli(['dead', 'delete', path, '--all', '--json'])
      const { error } = JSON.parse(stderr)
      assert.deepEqual([code, error.code, error.file.endsWith('0000000001.log')], [1, 'FAIRLANE_ERR_CORRUPT', true])
      assert((await cli(['verify', path], { isTerminal: true })).stdout.includes('\x1b[31mdamaged'))
    })
  })

  it('is not whole by verify if a segment is missing', async () => {
    await make(async queue => {
      queue.pause()
      for (let i = 0; i < 30; i++) await queue.push('x'.repeat(100))
    }, { segmentBytes: 1024 })
    assert.match((await cli(['verify', path])).stdout, /^whole: .* segments, with 30 jobs/)
    fs.rmSync(join(path, '0000000002.log'))
    const { code, stdout } = await cli(['verify', path])
    assert.equal(code, 1)
    assert.match(stdout, /^damaged {2}0000000002\.log, offset 0: a segment is missing$/m)
    assert.match(stdout, /^not whole: /m)
  })

  it('is whole by verify, though a crash has left something at its end', async () => {
    await filled()
    fs.rmSync(join(path, 'closed'))
    fs.appendFileSync(join(path, '0000000001.log'), 'half')
    const { code, stdout } = await cli(['verify', path])
    assert.equal(code, 0)
    assert.match(stdout, /^cut {6}0000000001\.log, offset \d+, 4 bytes: .*\nwhole: /)
  })

  it('is not changed by what only reads', async () => {
    await filled({ schedules: { often: { everyMs: HOUR_MS } } })
    const contents = () => fs.readdirSync(path).map(name => [name, fs.readFileSync(join(path, name), 'latin1'), fs.statSync(join(path, name)).mtimeMs])
    const before = contents()
    for (const command of READERS) await cli([...command, '--path', path, ...command[1] === 'show' ? ['1'] : []])
    assert.deepEqual(contents(), before)
  })

  it('is wrongly named: exit code 2', async () => {
    fs.mkdirSync(join(base, 'empty'))
    fs.writeFileSync(join(base, 'file'), 'text')
    for (const [folder, message] of [['nowhere', 'There is no folder'], ['empty', 'There is no queue'], ['file', 'There is no folder']]) {
      for (const command of [...READERS, ['dead', 'retry'], ['board']]) {
        const { code, stdout, stderr } = await cli([...command, join(base, folder), ...['show', 'retry'].includes(command[1]) ? ['1'] : []])
        assert.deepEqual([code, stdout], [2, ''], stderr)
        assert(stderr.startsWith(`fairlane: ${message}`), stderr)
      }
    }
    assert(!fs.existsSync(join(base, 'nowhere')))
  })

  it('cannot be read: exit code 1', async () => {
    await filled()
    const { openSync } = fs
    fs.openSync = () => { throw Object.assign(new Error('permission denied'), { code: 'EACCES' }) }
    try {
      const { code, stderr } = await cli(['status', path])
      assert.equal(code, 1)
      assert.match(stderr, /permission denied \(FAIRLANE_ERR_IO\)/)
    } finally {
      fs.openSync = openSync
    }
  })

  it('has names and errors that steer no terminal, and are the same in JSON', async () => {
    const type = 'a\x1b[2J\x9b31m\u202eb\n'
    await make(async queue => {
      await queue.pushType(type, 'x')
      await queue.onIdle()
    }, { runner: async () => { throw new Error('\x1b]0;title\x07') } })
    for (const command of [['types'], ['dead', 'list', '--payloads'], ['dead', 'show', '--payloads', '1'], ['export'], ['dead', 'list', '--json']]) {
      const { stdout } = await cli([...command, '--path', path])
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/)
    }
    assert.equal(JSON.parse((await cli(['dead', 'list', '--json', path])).stdout)[0].type, type)
    assert.equal((await cli(['types', path])).stdout.split('\n').length, 3)
  })

  it('has names of any length', async () => {
    await make(queue => queue.pause().pushType('t'.repeat(60000), 1))
    const { stdout } = await cli(['types', path])
    assert(stdout.split('\n').every(line => line.length < 200))
    assert.equal(JSON.parse((await cli(['types', path, '--json'])).stdout)[0].type.length, 60000)
  })
})
