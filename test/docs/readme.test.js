'use strict'

// The programs of README.md and docs/start that examples.test.js cannot judge: one prints times, and the others are servers.

const assert = require('node:assert/strict')
const { connect } = require('node:net')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { node, root } = require('../support/child')
const { startProgram } = require('../support/programs')
const { pages, codeBlocks, links } = require('./pages')

const [{ text }] = pages()
const blocks = codeBlocks(text)
const servers = pages()
  .filter(({ path }) => path === 'README.md' || path.startsWith('docs/start/'))
  .flatMap(({ path, text }) => codeBlocks(text).filter(({ code }) => code.includes('server.listen(8080)')).map(({ code, line }) => ({ path, code, line })))

describe('README.md', function () {
  it('is read in a few minutes', () => assert(text.split('\n').length <= 180))

  it('leads to each guide, none of which is long', function () {
    const guides = pages().filter(({ path }) => path.startsWith('docs/guides/'))
    const targets = links(text).map(({ path }) => path)
    assert.deepEqual(guides.map(({ path }) => path).filter(path => !targets.includes(path)), [])
    assert.deepEqual(guides.filter(({ text }) => text.split('\n').length > 150).map(({ path }) => path), [])
  })
})

describe('docs/README.md', function () {
  it('leads to each page for users', function () {
    const { text } = pages().find(({ path }) => path === 'docs/README.md')
    const targets = new Set(links(text).map(({ path }) => `docs/${path}`))
    const isListed = path => /^docs\/(start|guides|reference|why)\//.test(path)
    assert.deepEqual(pages().map(({ path }) => path).filter(path => isListed(path) && !targets.has(path)), [])
  })
})

describe('the demonstration in README.md', function () {
  const { code } = blocks.find(({ code }) => code.includes('no scheduler'))

  it('shows that a quiet tenant waits for all others without a scheduler, and for hardly any with one', async function () {
    const { code: exitCode, stdout, stderr } = await node(['--input-type=module', '--eval', code])
    assert.equal(exitCode, 0, stderr)
    const [, without, equal] = stdout.match(/^no scheduler: .* (\d+) ms\nequal: .* (\d+) ms\n$/)
    assert(without > 5 * equal, stdout)
  })

  it('is the program that npm start runs first', function () {
    const { scripts } = require('../../package.json')
    const [, first, second] = scripts.start.match(/^node (\S+) && node (\S+)$/)
    assert.equal(readFileSync(join(root, first), 'utf8'), code)
    assert.equal(second, 'examples/shares.mjs')
  })
})

describe('examples/shares.mjs', function () {
  let stdout

  before(async function () {
    const env = { NO_COLOR: undefined, FORCE_COLOR: undefined, NODE_DISABLE_COLORS: undefined }
    const { code, stdout: printed, stderr } = await node(['examples/shares.mjs'], { env })
    assert.equal(code, 0, stderr)
    stdout = printed
  })

  it('prints what the pages show', function () {
    const shown = pages().flatMap(({ text }) => codeBlocks(text)).filter(({ language, code }) => language === '' && code.includes('█'))
    assert.equal(shown.length, 2)
    for (const { code, line } of shown) assert(stdout.includes(code), `line ${line}: ${stdout}`)
  })

  it('prints at most 80 characters a line, and colours none where there is no terminal', function () {
    for (const line of stdout.split('\n')) assert(line.length <= 80 && !line.includes('\u001b'), line)
  })

  it('halves by groups and by costs what one customer has nearly alone without', function () {
    assert.deepEqual(Array.from(stdout.matchAll(/(\d+) %/g), ([, percent]) => Number(percent)), [99, 1, 50, 50, 90, 10, 50, 50])
  })
})

describe('the servers in README.md and docs/start', function () {
  it('are there', () => assert.deepEqual(servers.map(({ path }) => path), ['README.md', 'docs/start/getting-started.md', 'docs/start/getting-started.md']))

  for (const { path, code, line } of servers) describe(`${path} line ${line}`, () => serve(code))
})

function serve (code) {
  let program
  let port
  let pagePort

  beforeEach(async function () {
    const shown = code
      .replace('server.listen(8080)', "server.listen(0, '127.0.0.1', () => console.log('server', server.address().port))")
      .replace('.listen(8081)', ".listen(0, () => console.log('page', page.address().port))")
    program = startProgram(['--input-type=module', '--eval', shown])
    while (program.lines.length < code.match(/\.listen\(/g).length) await program.line()
    const ports = Object.fromEntries(program.lines.map(line => line.split(' ')))
    port = Number(ports.server)
    pagePort = Number(ports.page)
  })

  afterEach(() => program.end())

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

  if (!code.includes('board(')) return

  it('shows on its page who has asked', async function () {
    await answersTo(['/ada'], 'X-Api-Key: quiet\r\n')
    const { queue: { types } } = await (await fetch(`http://127.0.0.1:${pagePort}/state`)).json()
    assert.deepEqual(types.map(({ type, done }) => [type, done]), [['quiet', 1]])
  })

  it('ends when it is told to', async function () {
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.exit, [0, null])
  })
}
