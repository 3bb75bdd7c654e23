'use strict'

// Servers behind an admission, one of each framework, by the ways that it has itself to be asked and to answer. `load` requires what was
// installed for the test; `act(path)` promises what a request to that path is answered, or HALF: a text whose end never comes.

const { createServer } = require('node:http')
const { PassThrough } = require('node:stream')

const HALF = Symbol('half')

const sites = {
  connect (load, admit, act) {
    const app = load('connect')()
    app.use(admit)
    app.use(async (request, response) => {
      const text = await act(request.url)
      if (text === HALF) response.write('half')
      else response.end(text)
    })
    app.use((err, request, response, next) => {
      response.statusCode = 500
      response.end(err.message)
    })
    return createServer(app)
  },

  express: (load, admit, act) => express(load('express'), admit, act),
  express4: (load, admit, act) => express(load('express4'), admit, act),

  async fastify (load, admit, act) {
    const app = load('fastify')()
    app.addHook('onRequest', admit.fastify)
    app.get('/*', async ({ url }) => streamed(await act(url)))
    await app.ready()
    return app.server
  },

  hono (load, admit, act) {
    const { Hono } = load('hono')
    const app = new Hono()
    app.get('*', async context => {
      const text = await act(context.req.path)
      return text === HALF ? new Response(new ReadableStream({ start: controller => controller.enqueue(Buffer.from('half')) })) : context.text(text)
    })
    return load('@hono/node-server').createAdaptorServer({ fetch: admit.fetch(app.fetch) })
  },

  koa (load, admit, act) {
    const app = new (load('koa'))()
    app.silent = true
    app.use(admit.koa)
    app.use(async context => { context.body = streamed(await act(context.url)) })
    return createServer(app.callback())
  }
}

module.exports = { HALF, sites }

function express (module, admit, act) {
  const app = module()
  app.use(admit)
  app.use(async (request, response) => {
    const text = await act(request.path)
    if (text === HALF) response.write('half')
    else response.status(200).json(text)
  })
  app.use((err, request, response, next) => response.status(500).send(err.message))
  return createServer(app)
}

function streamed (text) {
  if (text !== HALF) return text
  const stream = new PassThrough()
  stream.write('half')
  return stream
}
