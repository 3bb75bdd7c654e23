'use strict'

// The programs of examples/ as processes of their own. frameworks.js runs those that need other packages.

const assert = require('node:assert/strict')
const { scryptSync } = require('node:crypto')
const { readdirSync, readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { codeBlocks, links } = require('../docs/pages')
const { root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { startProgram, startServer } = require('../support/programs')

const read = path => readFileSync(join(root, path), 'utf8')

describe('the examples', function () {
  it('are listed in their README.md, each of them', function () {
    const programs = readdirSync(join(root, 'examples'), { recursive: true }).filter(file => file.endsWith('.mjs'))
    const listed = links(read('examples/README.md')).map(({ path }) => path).filter(path => path.endsWith('.mjs'))
    assert.deepEqual(listed.sort(), programs.map(file => file.replaceAll('\\', '/')).sort())
  })

  it('service.mjs is the program of docs/guides/service.md, which is tested with that page', function () {
    assert.equal(read('examples/service.mjs'), codeBlocks(read('docs/guides/service.md'))[0].code)
  })
})

describe('the hashing module', function () {
  it('is the one of docs/reference/threads.md', function () {
    assert.equal(read('examples/hashing/hash.mjs'), codeBlocks(read('docs/reference/threads.md')).find(({ language }) => language === 'mjs').code)
  })
})

describe('the crawler', function () {
  let program, site
  let atOnce, mostAtOnce, visits, respond

  beforeEach(async function () {
    atOnce = mostAtOnce = 0
    visits = []
    respond = (response, html) => response.end(html)
    site = await startServer((request, response) => {
      visits.push(request.url)
      mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      response.on('close', () => { atOnce-- })
      const hrefs = request.url === '/' ? Array.from({ length: 30 }, (_, i) => `/page${i}`) : ['/', '/page1', 'http://elsewhere.invalid/', '/page1#top']
      response.writeHead(request.url === '/page7' ? 404 : 200, { 'Content-Type': 'text/html' })
      respond(response, hrefs.map(href => `<a href="${href}">`).join())
    })
  })

  afterEach(async function () {
    await program.end()
    await site.end()
  })

  it('visits each page of the site once, at most eight at a time', async function () {
    program = startProgram(['examples/crawler.mjs', `${site.origin}/`])
    assert.deepEqual(await program.exit, [0, null])
    assert.deepEqual(visits.toSorted(), ['/', ...Array.from({ length: 30 }, (_, i) => `/page${i}`)].toSorted())
    assert(mostAtOnce <= 8, `${mostAtOnce} at once`)
    assert.equal(program.lines.at(-1), 'done after 31 pages')
    assert(program.lines.includes(`404 ${site.origin}/page7: 3 links`))
  })

  it('visits no more pages than it is told to', async function () {
    program = startProgram(['examples/crawler.mjs', `${site.origin}/`, '5'])
    await program.exit
    assert.equal(visits.length, 5)
  })

  it('stops at once when it is interrupted, though the site does not answer', async function () {
    respond = (response, html) => { if (visits.length === 1) response.end(html); else if (visits.length === 9) program.child.kill('SIGINT') }
    program = startProgram(['examples/crawler.mjs', `${site.origin}/`])
    assert.deepEqual(await program.exit, [0, null])
    assert.equal(program.lines.at(-1), 'stopped after 1 pages')
    assert.equal(visits.length, 9)
  })
})

describe('the webhook fan-out', function () {
  let program, receivers
  const open = { slow: [], quick: [] }
  const counts = { slow: 0, quick: 0 }
  const most = { slow: 0, quick: 0 }
  let bodies, statuses, whenReceived

  // The slow one answers when it is told to; the quick one in the turn after.
  beforeEach(async function () {
    bodies = []
    statuses = [] // of the next answers of the quick one, if not 200
    for (const name of ['slow', 'quick']) open[name].length = counts[name] = most[name] = 0
    receivers = await startServer((request, response) => {
      const name = request.url.slice(1)
      open[name].push(response)
      counts[name]++
      if (name === 'quick') request.setEncoding('utf8').on('data', text => bodies.push(text))
      response.writeHead(name === 'quick' ? statuses.shift() ?? 200 : 200, { 'Retry-After': '1' })
      most[name] = Math.max(most[name], open[name].length)
      if (name === 'quick') setImmediate(() => answer('quick'))
      whenReceived()
    })
    program = startProgram(['examples/webhooks.mjs'], { env: { RECEIVERS: `${receivers.origin}/slow=1,${receivers.origin}/quick=3` } })
  })

  afterEach(async function () {
    await program.end()
    await receivers.end()
  })

  const answer = name => open[name].shift().end()
  const received = async (name, count) => {
    while (counts[name] < count) await new Promise(resolve => { whenReceived = resolve })
  }

  it('sends to each receiver no more at once than its cap, and a receiver that hangs holds up no other', async function () {
    whenReceived = () => {}
    const origin = `http://127.0.0.1:${await program.line()}`
    for (let i = 0; i < 20; i++) assert.equal((await fetch(origin, { method: 'POST', body: '{}' })).status, 202)
    await received('quick', 20)
    assert.deepEqual([counts.slow, open.slow.length], [1, 1])
    for (let i = 2; i <= 20; i++) {
      answer('slow')
      await received('slow', i)
    }
    assert.equal(most.slow, 1)
    assert(most.quick <= 3, `${most.quick} at once`)
    program.child.kill('SIGTERM')
    answer('slow')
    assert.deepEqual(await program.exit, [0, null])
  })

  it('sends an event again to a receiver that has answered 429', async function () {
    whenReceived = () => {}
    const origin = `http://127.0.0.1:${await program.line()}`
    const post = body => fetch(origin, { method: 'POST', body })
    statuses.push(429)
    await post('"first"')
    await received('quick', 1)
    await post('"second"')
    await received('quick', 3)
    program.child.kill('SIGTERM')
    answer('slow')
    await received('slow', 2)
    answer('slow')
    assert.deepEqual(await program.exit, [0, null])
    assert.deepEqual(bodies.sort(), ['"first"', '"first"', '"second"'])
  })
})

describe('the mailer', function () {
  let folder, service, program
  let received, answer

  beforeEach(async function () {
    folder = temporaryFolder()
    received = []
    service = await startServer(async (request, response) => {
      let text = ''
      for await (const part of request) text += part
      const mail = { id: request.headers['idempotency-key'], ...JSON.parse(text) }
      received.push(mail)
      response.writeHead(answer(mail)).end()
    })
  })

  afterEach(async function () {
    await program.end()
    await service.end()
    rmSync(folder, { recursive: true })
  })

  const mails = Array.from({ length: 40 }, (_, i) => ({ tenant: `tenant-${i % 3}`, to: `user${i}`, text: 'hello' }))
  const start = input => startProgram(['examples/mailer.mjs', join(folder, 'mails')], {
    env: { MAIL_API: service.origin, BACKOFF_MS: '1' }, input: input.map(mail => `${JSON.stringify(mail)}\n`).join('')
  })

  it('sends each mail, and those that fail again', async function () {
    const failed = new Set()
    answer = ({ id }) => failed.has(id) || !failed.add(id) ? 200 : 503
    program = start(mails)
    assert.deepEqual(await program.exit, [0, null])
    assert.equal(received.length, 80)
    assert.equal(program.lines.filter(line => line.endsWith('is sent')).length, 40)
    assert.equal(program.lines.filter(line => line.endsWith('the mail service answered 503')).length, 40)
  })

  it('has a dead letter for a mail that cannot be sent, and sends the others', async function () {
    answer = ({ to }) => to === 'user7' ? 400 : 200
    program = start(mails)
    assert.deepEqual(await program.exit, [0, null])
    assert.equal(received.filter(({ to }) => to === 'user7').length, 8)
    assert.deepEqual(program.lines.filter(line => line.includes('dead letter')), ['mail 8 is a dead letter: the mail service answered 400'])
  })

  it('sends every mail that it has taken when it is killed and started again, the same mail by the same id', async function () {
    answer = () => {
      if (received.length === 20) program.child.kill('SIGKILL')
      return 200
    }
    program = start(mails)
    assert.deepEqual(await program.exit, [null, 'SIGKILL'])
    program = start([])
    assert.deepEqual(await program.exit, [0, null])
    const recipients = new Map(received.map(({ id, to }) => [id, to]))
    assert(received.every(({ id, to }) => recipients.get(id) === to))
    const sent = [...recipients.values()]
    assert.equal(new Set(sent).size, sent.length)
    assert.deepEqual(sent.toSorted(), mails.slice(0, sent.length).map(({ to }) => to).toSorted())
    assert(sent.length >= 20)
  })
})

describe('the hashing service', function () {
  let program, origin

  beforeEach(async function () {
    program = startProgram(['examples/hashing/service.mjs'])
    origin = `http://127.0.0.1:${await program.line()}`
  })

  afterEach(async function () {
    await program.end()
  })

  const hash = (password, tenant, options) => fetch(origin, { method: 'POST', body: password, headers: { 'X-Api-Key': tenant }, ...options })
  const stats = async () => (await fetch(origin)).json()

  it('answers two tenants with hashes of their passwords, which can be checked', async function () {
    for (const tenant of ['ada', 'bob']) {
      const [type, salt, key] = (await (await hash(`password of ${tenant}`, tenant)).text()).split(':').map(part => part.trim())
      assert.equal(type, tenant)
      assert.equal(scryptSync(`password of ${tenant}`, Buffer.from(salt, 'hex'), 32, { N: 2 ** 14 }).toString('hex'), key)
    }
  })

  it('answers a quiet tenant before most of the jobs of one that floods', async function () {
    let answered = 0
    const flood = Array.from({ length: 40 }, (_, i) => hash(`${i}`, 'noisy').then(async response => { answered += (await response.text()).length > 0 ? 1 : 0 }))
    while ((await stats()).queue.accepted < 40);
    const left = flood.length - answered
    await (await hash('a password', 'quiet')).text()
    assert(flood.length - answered > left / 2, `of ${left}, all but ${flood.length - answered} came first`)
    await Promise.all(flood)
  })

  it('stops the jobs of clients that go away, and ends when it is told to', async function () {
    const leaving = new AbortController()
    const flood = Array.from({ length: 60 }, (_, i) => hash(`${i}`, 'leaving', { signal: leaving.signal }).catch(err => err.name))
    while ((await stats()).queue.accepted < 60);
    leaving.abort()
    await Promise.all(flood)
    while ((await stats()).queue.waiting > 0);
    const { queue } = await stats()
    assert(queue.cancelled > 0)
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.exit, [0, null])
  })
})
