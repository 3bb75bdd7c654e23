'use strict'

// What docs/reference/command-line.md shows is what the program prints, and it has all that the program takes.

const assert = require('node:assert/strict')
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const { COMMANDS, OPTIONS } = require('../../lib/cli/commands')
const { durable } = require('../../lib/durable')
const { root, node } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { pages, codeBlocks } = require('./pages')

const { text } = pages().find(({ path }) => path === 'docs/reference/command-line.md')

describe('docs/reference/command-line.md', function () {
  let folder

  before(async () => {
    folder = temporaryFolder()
    const fail = async () => { throw Object.assign(new Error('no such address'), { code: 'E_SMTP' }) }
    const queue = await durable(fail, { path: join(folder, 'mails'), maxAttempts: 1, concurrency: 1 })
    for (const type of ['tenant-a', 'tenant-b']) await queue.pushType(type, { to: 'ada' })
    await queue.onIdle()
    queue.pause()
    await queue.pushType('tenant-a', { to: 'bob' })
    await queue.pushType('tenant-c', { to: 'eve' }, { delayMs: 3600000 })
    await queue.close()
  })
  after(() => rmSync(folder, { recursive: true }))

  it('shows what the program prints', async () => {
    const [{ code: session }] = codeBlocks(text)
    const shown = session.split(/^\$ npx fairlane /m).slice(1)
    assert(shown.length > 3)
    for (const one of shown) {
      const [line, ...output] = one.split('\n')
      const { code, stdout, stderr } = await node([join(root, 'lib/cli/index.js'), ...line.split(' ')], { cwd: folder })
      assert.deepEqual([code, stderr], [0, ''], line)
      assert.equal(timeless(stdout), timeless(output.join('\n')), line)
    }
  })

  it('has each command and each option', () => {
    for (const name of COMMANDS.keys()) assert.match(text, new RegExp(`^\\| \`${name}[ \`]`, 'm'), name)
    for (const option of Object.keys(OPTIONS)) assert(text.includes(`--${option}`), option)
  })

  it('says of each command whether it reads a folder that is open', () => {
    for (const [name, { reads }] of COMMANDS) {
      assert.match(text, new RegExp(`^\\| \`${name}[ \`].*\\| ${reads ? 'is read' : 'is refused'} \\|$`, 'm'), name)
    }
  })
})

/** But for what is another one each time: where the folder is, how large, and when. */
function timeless (output) {
  return output.replace(/^(folder +).*/m, '$1FOLDER').replace(/[\d.]+ K?B in/, 'SIZE in').replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'TIME').replace(/for \d+ \w+/, 'for A WHILE')
}
