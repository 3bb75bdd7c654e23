'use strict'

// How what is printed looks, to terminals and to others.

const assert = require('node:assert/strict')
const { Writable } = require('node:stream')
const { openText } = require('../../lib/cli/commands/damage')
const { Output } = require('../../lib/cli/output')
const { Progress } = require('../../lib/cli/progress')
const { durationText, errorLine, shown, sizeText, timeText } = require('../../lib/cli/text')
const { cli } = require('./cli')

const COLUMNS = [{ title: 'NAME', of: ({ name }) => name }, { title: 'COUNT', of: ({ count }) => String(count), isNumber: true }]

function streams ({ isTTY = false, env = {} } = {}) {
  const made = [0, 1].map(() => {
    const stream = new Writable({ write (chunk, encoding, callback) { stream.text += chunk; callback() } })
    return Object.assign(stream, { text: '', isTTY })
  })
  return { stdout: made[0], stderr: made[1], env }
}

describe('the output of the command line', function () {
  for (const [title, options, isBold] of [
    ['a terminal', { isTTY: true }, true],
    ['a terminal that has none', { isTTY: true, env: { TERM: 'dumb' } }, false],
    ['who wants none', { isTTY: true, env: { NO_COLOR: '1' } }, false],
    ['who says nothing of it', { isTTY: true, env: { NO_COLOR: '' } }, true],
    ['a file', {}, false]
  ]) {
    it(`has ${isBold ? '' : 'no '}colour for ${title}`, async () => {
      const world = streams(options)
      await new Output(world).table(COLUMNS, [{ name: 'a', count: 1 }])
      assert.equal(world.stdout.text, `${isBold ? '\x1b[1m' : ''}NAME  COUNT${isBold ? '\x1b[0m' : ''}\na         1\n`)
    })
  }

  it('shows a bar to a terminal, now and then, and takes it away', () => {
    const [real, world] = [performance.now, streams({ isTTY: true })]
    let now = 0
    performance.now = () => now
    try {
      const progress = new Progress(world.stderr)
      progress.clear()
      progress.tell('reading', 1, 4)
      assert.equal(world.stderr.text, '')
      now = 100
      progress.tell('reading', 1, 4)
      progress.tell('reading', 2, 4)
      assert.equal(world.stderr.text, `\r\x1b[Kreading [${'#'.repeat(8)}${'.'.repeat(22)}] 25 %`)
      now = 200
      progress.tell('reading', 9, 4)
      progress.clear()
      assert(world.stderr.text.endsWith(`\r\x1b[Kreading [${'#'.repeat(30)}] 100 %\r\x1b[K`))
      now = 300
      progress.tell('reading', 0, 0)
      assert(world.stderr.text.endsWith('100 %'))
    } finally {
      performance.now = real
    }
  })

  it('shows no bar to others', () => {
    const { stderr } = streams()
    const progress = new Progress(stderr)
    progress.lastAt = -Infinity
    progress.tell('reading', 1, 4)
    assert.equal(stderr.text, '')
  })

  it('ends without a word when nobody reads it any more', async () => {
    const { stdout } = streams()
    stdout._write = (chunk, encoding, callback) => callback(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }))
    const { code, stderr } = await cli(['help'], { stdout: Object.assign(stdout, { end: call => call() }) })
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('ends without a word when nobody reads it while it waits for room', async () => {
    const world = streams()
    const output = new Output(world)
    world.stdout.write = () => false
    const written = output.write('much')
    world.stdout.emit('error', Object.assign(new Error('broken pipe'), { code: 'EPIPE' }))
    await assert.rejects(written, { code: 'EPIPE' })
    await assert.rejects(output.write('more'), { code: 'EPIPE' })
    output.end()
  })

  it('fails with all else that it fails with', async () => {
    const { stdout } = streams()
    stdout.write = () => { stdout.emit('error', Object.assign(new Error('no space'), { code: 'ENOSPC' })) }
    const { code, stderr } = await cli(['help'], { stdout: Object.assign(stdout, { end: call => call() }) })
    assert.equal(code, 1)
    assert.match(stderr, /no space/)
  })

  it('goes on without a standard error', async () => {
    const world = streams()
    const output = new Output(world)
    world.stderr.emit('error', new Error('broken pipe'))
    await output.write('all')
    output.end()
    world.stdout.emit('error', new Error('too late'))
    assert.equal(world.stdout.text, 'all\n')
  })

  it('tells times, durations, sizes and errors', () => {
    assert.deepEqual([0, undefined, Infinity, 1e300].map(timeText), ['1970-01-01 00:00:00Z', '', '', ''])
    assert.deepEqual([0, 1, 999, 1000, 61000, 7200000, 1e9].map(durationText), ['0 ms', '1 ms', '999 ms', '1 s', '1 min', '2 h', '11 d'])
    assert.deepEqual([0, 999, 1000, 1.5e9, 1e18].map(sizeText), ['0 B', '999 B', '1.00 KB', '1.50 GB', '1.00e+6 TB'])
    assert.deepEqual([undefined, { code: 'E', name: 'X', message: 'm' }, { name: 'X', message: '' }].map(errorLine), ['', 'E: m', 'X: '])
  })

  it('tells who has a folder open, if that is known', () => {
    const told = [{ isOpen: false }, { isOpen: true }, { isOpen: true, openIn: 7 }].map(openText)
    assert.deepEqual(told, ['no', 'yes', 'in process 7'])
  })

  it('escapes what steers a terminal, hides, or turns text round', () => {
    assert.equal(shown('\x00\t\n\x1b[31m\x7f\x9b\u200b\u202e\u2066\ufeff\ud800'), '\\u0000\\u0009\\u000a\\u001b[31m\\u007f\\u009b\\u200b\\u202e\\u2066\\ufeff\\ud800')
    assert.equal(shown('Ä 名前 😀 ...'), 'Ä 名前 😀 ...')
  })
})
