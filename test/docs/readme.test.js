'use strict'

// The two programs of README.md that examples.test.js cannot judge: one prints times, and one is a server.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { connect } = require('node:net')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { node, root } = require('../support/child')
const { pages, codeBlocks } = require('./pages')

const { text } = pages().find(({ path }) => path === 'README.md')
const blocks = codeBlocks(text)

describe('the demonstration in README.md', function () {
  const [{ code }] = blocks

  it('shows that a quiet tenant waits for all others without a scheduler, and for hardly any with one', async function () {
    const { code: exitCode, stdout, stderr } = await node(['--input-type=module', '--eval', code])
    assert.equal(exitCode, 0, stderr)
    const [, without, equal] = stdout.match(/^no scheduler: .* (\d+) ms\nequal: .* (\d+) ms\n$/)
    assert(without > 5 * equal, stdout)
  })

  it('is the program that npm start runs', function () {
    const { scripts } = require('../../package.json')
    const [, file] = scripts.start.match(/^node (\S+)$/)
    assert.equal(readFileSync(join(root, file), 'utf8'), code)
  })
})

describe('the server in README.md', function () {
  const { code } = blocks.find(({ code }) => code.includes('.listen('))
  let child
  let port

  beforeEach(async function () {
    const program = code.replace('server.listen(8080)', 'server.listen(0, \'127.0.0.1\', () => console.log(server.address().port))')
    assert.notEqual(program, code)
    child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, '--input-type=module', '--eval', program], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    const [output] = await once(child.stdout, 'data')
    port = Number(output)
  })

  afterEach(async function () {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  /** The answers to requests that arrive together: they are one write, and the last one closes the connection. */
  async function answersTo (paths, headers = '') {
    const request = (path, i) => `GET ${path} HTTP/1.1\r\nHost: service\r\n${headers}${i === paths.length - 1 ? 'Connection: close\r\n' : ''}\r\n`
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    socket.write(paths.map(request).join(''))
    let text = ''
    for await (const part of socket) text += part
    return text.split(/(?=HTTP\/1\.1 )/)
  }

  it('answers', async function () {
    const [answer] = await answersTo(['/ada'])
    assert.match(answer, /^HTTP\/1\.1 200 [^]*hello \/ada/)
  })

  it('answers a tenant that has too much waiting with 429, and when to come back', async function () {
    const answers = await answersTo(Array.from({ length: 100 }, (_, i) => `/job${i}`), 'X-Api-Key: greedy\r\n')
    assert.equal(answers.length, 100)
    const refused = answers.filter(answer => answer.startsWith('HTTP/1.1 429 '))
    assert(refused.length > 0)
    for (const answer of refused) assert.match(answer, /Retry-After: [1-9]\d*\r\n[^]*FAIRLANE_ERR_TYPE_FULL/)
    assert.equal(answers.filter(answer => answer.startsWith('HTTP/1.1 200 ')).length, 100 - refused.length)
  })
})
