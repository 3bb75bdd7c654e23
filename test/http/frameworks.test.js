'use strict'

// What frameworks other than those of (request, response, next) are told: by stand-ins that do what koa and fastify do. With the real ones:
// test/examples/frameworks.js.

const assert = require('node:assert/strict')
const express = require('express')
const { createServer } = require('node:http')
const { fakeClock } = require('../../lib/testing')
const { assertFree, served, until } = require('./served')

describe('an admission', function () {
  let site
  afterEach(async () => {
    await assertFree(site.admit, assert)
    await site.end()
  })

  describe('in koa', function () {
    let settled

    /** Does with a context what koa does, as far as it matters: what middleware says is sent when it has ended. */
    const start = async (options, handle) => {
      settled = []
      site = await served(options, {
        async pass (admit, req, res, next) {
          const context = { req, res, respond: true, headers: {}, set (headers) { Object.assign(this.headers, headers) } }
          try {
            await admit.koa(context, async () => {
              next()
              await handle?.(context)
            })
            settled.push('ok')
          } catch (err) {
            settled.push(err.message)
            Object.assign(context, { status: 500, body: err.message })
          }
          if (!context.respond || res.destroyed) return
          res.writeHead(context.status ?? 404, context.headers).end(context.body)
        }
      })
    }

    it('lets requests in, and tells errors', async function () {
      await start({ exempt: ({ url }) => url === '/health', tenant: ({ url }) => { if (url === '/fails') throw new Error('no tenant') } }, context => {
        if (context.req.url === '/throws') throw new Error('thrown')
        context.status = 200
        context.body = 'ok'
      })
      const texts = []
      for (const path of ['/', '/health', '/fails', '/throws']) texts.push((await site.get(path)).text)
      assert.deepEqual(texts, ['ok', 'ok', 'no tenant', 'thrown'])
      assert.deepEqual(settled, ['ok', 'ok', 'no tenant', 'thrown'])
    })

    it('answers those that it refuses by the context, and forgets those whose clients are gone', async function () {
      let go
      await start({ concurrency: 1, maxWaitingPerType: 1 }, context => new Promise(resolve => {
        go = () => {
          Object.assign(context, { status: 200, body: 'ok' })
          resolve()
        }
      }))
      const held = site.get()
      await site.until(1)
      const gone = site.get()
      await until(() => site.admit.stats().waiting === 1)
      const { status, headers, text } = await site.get()
      assert.deepEqual([status, headers['content-type'], JSON.parse(text).code], [429, 'application/problem+json', 'FAIRLANE_ERR_TYPE_FULL'])
      gone.request.destroy()
      await until(() => settled.length === 2)
      const closed = site.admit.close()
      assert.equal((await site.get()).headers.connection, 'close')
      go()
      assert.equal((await held).status, 200)
      assert.equal(await closed, 0)
    })

    it('has refuse() answer, and errors of that told', async function () {
      await start({
        concurrency: 1,
        maxWaitingPerType: 0,
        async refuse ({ url }, response) {
          if (url === '/fails') throw new Error('no answer')
          response.writeHead(418).end()
        }
      }, () => new Promise(() => {}))
      const held = site.get()
      await site.until(1)
      assert.equal((await site.get()).status, 418)
      const fails = site.get('/fails')
      await until(() => settled.length === 2)
      assert.deepEqual(settled, ['ok', 'no answer'])
      fails.request.destroy()
      site.handled[0].response.end()
      await held
    })

    it('answers a request whose time is over', async function () {
      const clock = fakeClock()
      let go
      await start({ timeoutMs: 1000, clock }, () => new Promise(resolve => { go = resolve }))
      const answer = site.get()
      await site.until(1)
      clock.advance(1001)
      assert.equal((await answer).status, 503)
      go()
      await until(() => settled.length === 1)
    })
  })

  describe('in fastify', function () {
    /** Does with a reply what fastify does, as far as it matters. */
    const start = async (options, handle = () => {}) => {
      site = await served(options, {
        pass (admit, request, raw, next) {
          const reply = {
            raw,
            isHijacked: false,
            status: 200,
            fields: {},
            code (status) { this.status = status; return this },
            headers (fields) { Object.assign(this.fields, fields); return this },
            send (text) { if (!this.isHijacked && !raw.writableEnded) raw.writeHead(this.status, this.fields).end(text) },
            hijack () { this.isHijacked = true }
          }
          admit.fastify({ raw: request }, reply, err => {
            if (err !== undefined) return reply.code(500).send(err.message)
            next()
            handle(reply)
          })
        }
      })
    }

    it('lets requests in, refuses some, and tells errors', async function () {
      await start({ concurrency: 1, maxWaitingPerType: 0, tenant: ({ url }) => { if (url === '/fails') throw new Error('no tenant') } })
      const held = site.get()
      await site.until(1)
      const { status, headers, text } = await site.get()
      assert.deepEqual([status, headers['content-type'], JSON.parse(text).code], [429, 'application/problem+json', 'FAIRLANE_ERR_TYPE_FULL'])
      assert.equal((await site.get('/fails')).text, 'no tenant')
      assert.equal(site.admit.release({ raw: site.handled[0].request }), true)
      site.handled[0].response.end()
      await held
    })

    it('tells what refuse() fails with, as long as nothing was sent', async function () {
      const refuse = async ({ url }, response) => {
        if (url === '/answered') response.writeHead(418).end()
        throw new Error('no answer')
      }
      await start({ concurrency: 1, maxWaitingPerType: 0, refuse })
      const held = site.get()
      await site.until(1)
      const { status, text } = await site.get('/fails')
      assert.deepEqual([status, text], [500, 'no answer'])
      assert.equal((await site.get('/answered')).status, 418)
      site.handled[0].response.end()
      await held
    })

    it('has refuse() answer, and answers a request whose time is over', async function () {
      const clock = fakeClock()
      let late
      const refuse = (request, response) => response.writeHead(418).end()
      await start({ concurrency: 1, maxWaitingPerType: 0, timeoutMs: 1000, clock, refuse }, reply => { late = reply })
      const held = site.get()
      await site.until(1)
      assert.equal((await site.get()).status, 418)
      clock.advance(1001)
      assert.equal((await held).status, 503)
      late.send('late')
    })
  })

  it('in express lets requests in, behind other middleware and before routers, and gives errors to its handlers', async function () {
    const { admission } = require('../../lib/http')
    const admit = admission({ concurrency: 1, maxWaitingPerType: 1, tenant: request => request.get('x-fails') && {} })
    const app = express()
    app.use((request, response, next) => next())
    app.use(admit)
    const router = express.Router()
    let go
    router.get('/held', (request, response) => { go = () => response.send('held') })
    router.get('/throws', () => { throw new Error('thrown') })
    router.get('/rejects', async () => { throw new Error('rejected') })
    router.get('/ok', admit, (request, response) => response.json({ ok: true }))
    app.use(router)
    app.use((err, request, response, next) => response.status(500).send(err.code ?? err.message))
    site = await served({}, { make: () => createServer(app) })
    site.admit = admit
    const texts = []
    for (const path of ['/ok', '/throws', '/rejects', '/none']) texts.push((await site.get(path)).text)
    texts.push((await site.get('/ok', undefined, { headers: { 'x-fails': 'yes' } })).text)
    assert.deepEqual(texts.toSpliced(3, 1), ['{"ok":true}', 'thrown', 'rejected', 'FAIRLANE_ERR_TYPE'])
    const held = site.get('/held')
    await until(() => go !== undefined)
    const waiting = site.get('/ok')
    await until(() => admit.stats().waiting === 1)
    assert.equal((await site.get('/ok')).status, 429)
    go()
    assert.deepEqual([(await held).text, (await waiting).text], ['held', '{"ok":true}'])
  })
})
