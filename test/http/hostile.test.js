'use strict'

// Clients and handlers that do everything that ends a request, at random, over real sockets. In the end every slot is free, and each
// request was handled, refused, exempt, an error, or gone: once. npm run test:long plays 20,000 requests.

const assert = require('node:assert/strict')
const { seedFromEnvironment, seeded } = require('../support/random')
const { rounds } = require('../support/rounds')
const { turn, turns } = require('../support/turns')
const { captureUncaught } = require('../support/uncaught')
const { assertFree, rawClient, served, until } = require('./served')

const AT_ONCE = 60
const SLOTS = 3

const handlers = {
  end: (request, response) => response.end('ok'),
  async later (request, response) {
    await turns(5)
    response.end('later')
  },
  async stream (request, response) {
    for (let i = 0; i < 5; i++) {
      response.write('part')
      await turn()
    }
    response.end()
  },
  destroy: (request, response) => response.destroy(),
  socket: (request, response) => request.socket.destroy(),
  never () {},
  half: (request, response) => response.write('half'),
  async late (request, response) { // says all that it may say after its time is over
    await new Promise(resolve => response.once('close', resolve))
    response.setHeader('X-Late', 'yes')
    response.write('late')
    response.end('late')
  },
  async released (request, response, admit) {
    admit.release(request)
    await turns(3)
    response.end()
  },
  body (request, response) {
    request.resume().on('end', () => response.end()).on('error', () => {})
  },
  throws () { throw new Error('thrown') }
}
const NAMES = [...Object.keys(handlers), 'end', 'later', 'stream', 'exempt', 'fails', 'asked'] // these ways are of the admission

describe('an admission in front of hostile clients and handlers', function () {
  this.timeout(600000)
  const seed = seedFromEnvironment()
  let site, uncaught
  before(() => { uncaught = captureUncaught() })
  after(() => uncaught.release())

  it(`frees every slot, and counts each request once (SEED=${seed})`, async function () {
    const random = seeded(seed)
    const wayOf = ({ url }) => url.slice(1).split('?')[0]
    site = await served({
      concurrency: SLOTS,
      maxWaiting: 20,
      maxWaitingPerType: 3,
      maxWaitMs: 100,
      timeoutMs: 20,
      exempt: request => wayOf(request) === 'exempt' && (random.chance(0.5) || Promise.resolve(true)),
      tenant (request) {
        if (wayOf(request) === 'fails') throw new Error('no tenant')
        const { tenant } = request.headers
        return wayOf(request) === 'asked' ? turns(2).then(() => tenant) : tenant
      }
    }, {
      handler (request, response) {
        const way = wayOf(request)
        return (handlers[way] ?? handlers.end)(request, response, site.admit)
      }
    })

    /** One client, which asks for some things and leaves in some way. @returns {Promise<number>} of how many requests it has sent */
    async function visit () {
      const client = rawClient(site.port)
      const count = random.chance(0.3) ? 1 + random.below(4) : 1
      const headers = `tenant: t${random.below(6)}\r\n`
      const paths = Array.from({ length: count }, () => `/${random.pick(NAMES)}`)
      if (random.chance(0.2)) client.socket.write(`POST /body HTTP/1.1\r\nHost: here\r\n${headers}Content-Length: 5\r\n\r\n${random.chance(0.5) ? 'hello' : 'he'}`)
      else client.ask(paths, headers)
      const patience = random.chance(0.4) ? random.below(20) : 2000 // turns; nobody answers where a handler throws
      for (let i = 0; i < patience && !client.isClosed && client.statuses().length < count; i++) await turn()
      if (random.chance(0.5)) client.socket.end()
      else if (random.chance(0.5)) client.socket.resetAndDestroy()
      client.end()
      await until(() => client.isClosed)
      return count
    }

    for (let sent = 0, total = rounds(1000); sent < total;) {
      const counts = await Promise.all(Array.from({ length: AT_ONCE }, visit))
      sent += counts.reduce((sum, count) => sum + count, 0)
    }

    await assertFree(site.admit, assert)
    const { refused, gone, exempt, accepted } = site.admit.stats()
    const refusedCount = Object.values(refused).reduce((sum, count) => sum + count, 0)
    assert.equal(site.handled.length + site.errors.length + refusedCount + gone, site.arrived.length)
    assert.equal(site.handled.filter(({ request }) => wayOf(request) === 'exempt').length, exempt)
    assert(accepted > 100 && refusedCount > 0 && gone > 0 && exempt > 0, JSON.stringify(site.admit.stats()))
    assert(uncaught.seen.every(({ message }) => message === 'thrown'), uncaught.seen.find(({ message }) => message !== 'thrown')?.stack)

    const { length } = site.handled
    const answers = Array.from({ length: SLOTS }, () => site.get('/end', 'x')) // at once: on a busy machine the time for more may be over
    await site.until(length + SLOTS)
    assert(site.admit.stats().running <= SLOTS)
    assert((await Promise.all(answers)).every(({ status }) => status === 200))
    await site.admit.close()
    await site.end()
  })
})
