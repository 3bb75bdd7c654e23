'use strict'

// admission(): the queue that the requests of a server go through, what is counted of them, and the ways in for each kind of server.

const fairlane = require('../../index.js')
const { describe, typeError, warn } = require('../arguments/errors')
const { readFunction } = require('../arguments/fields')
const { entranceOf } = require('../core/internals')
const { Signals } = require('../platform/signals')
const { FastifyVisit, KoaVisit } = require('./frameworks')
const { NodeVisit } = require('./node')
const { readAdmissionOptions } = require('./options')
const { Refusals } = require('./refusals')
const { WebVisit } = require('./web')

const ARGUMENT = 'FAIRLANE_ERR_ARGUMENT'

module.exports = { admission }

class Admission {
  constructor (options) {
    const { own, ofQueue } = readAdmissionOptions(options)
    this.tenant = own.tenant
    this.exempt = own.exempt
    this.cost = own.cost
    this.refusal = own.refuse
    this.tellsTimes = own.serverTiming
    this.freesAtHeaders = own.until === 'headers'
    this.key = Symbol('fairlane/http') // of its visit in a request, and of a connection in a socket
    this.queue = fairlane(null, ofQueue)
    this.entrance = entranceOf(this.queue, (request, done) => request[this.key].start(done))
    this.hasTypes = this.queue.scheduler !== null
    this.maxWaitMs = ofQueue.maxWaitMs
    this.outside = new Set() // visits that wait for something else than a slot
    this.isOver = false // the queue has given up, or has closed: whoever still waits is refused
    this.refusals = new Refusals()
    this.refusedCounts = new Map() // by code
    this.goneCount = 0
    this.exemptCount = 0
    this.signals = new Signals((signal, visits) => { for (const visit of visits) visit.left() })
    this.hasWarned = false
    this.queue.on('close', () => this.end())
  }

  /** A request comes. One that this admission knows already goes on. */
  receive (visit) {
    const { request } = visit
    if (request[this.key] !== undefined) return visit.skip()
    request[this.key] = visit
    visit.come()
  }

  /** @returns {boolean} whether the request has held a slot, which is free now */
  release (request) {
    if (typeof request !== 'object' || request === null) {
      throw typeError(ARGUMENT, `release: the request must be an object, not ${describe(request)}`)
    }
    // in the place of Node's request frameworks have their own
    const visit = request[this.key] ?? request.raw?.[this.key] ?? request.req?.[this.key]
    return visit !== undefined && visit.free()
  }

  /** @throws FAIRLANE_ERR_ARGUMENT */
  close (options) {
    const closed = this.queue.close(options)
    for (const payload of this.entrance.running()) payload?.[this.key]?.closesConnection() // others are those of run() and acquire()
    return closed
  }

  stats () {
    return { ...this.queue.stats(), refused: Object.fromEntries(this.refusedCounts), gone: this.goneCount, exempt: this.exemptCount }
  }

  countRefused (code) {
    this.refusedCounts.set(code, (this.refusedCounts.get(code) ?? 0) + 1)
  }

  /** A request was answered with 500, and nobody was given the error. */
  warnOf (err) {
    if (this.hasWarned) return
    this.hasWarned = true
    warn('FAIRLANE_WARN_ADMISSION', 'A request was answered with 500: tenant, exempt, cost or refuse failed, and nothing takes the error. ' +
      `Further cases are not reported. The error was ${describe(err.message ?? err)}`, err.stack)
  }

  // private from here on

  /** The queue has closed. */
  end () {
    this.isOver = true
    this.refusals.flush()
    for (const visit of [...this.outside]) visit.refuseOutside()
  }
}

/**
 * Lets the requests of a server in, fairly among its tenants.
 * @param {object} [options]
 * @returns {Function} a handler (request, response, next) with the members of the documentation (docs/reference/http.md)
 * @throws FAIRLANE_ERR_OPTION, FAIRLANE_ERR_CONCURRENCY, FAIRLANE_ERR_SCHEDULER
 */
function admission (options) {
  const own = new Admission(options)

  function admit (request, response, next) {
    if (!isResponse(response)) throw wrongWay('admit', 'Node\'s request and response; use admit.fastify or admit.koa for those')
    if (typeof next !== 'function') throw wrongNext('admit', next)
    own.receive(new NodeVisit(own, request, response, next))
  }

  return Object.assign(admit, {
    queue: own.queue,

    koa (context, next) {
      if (!isResponse(context?.res)) throw wrongWay('admit.koa', 'the context of koa')
      if (typeof next !== 'function') throw wrongNext('admit.koa', next)
      return new Promise((resolve, reject) => own.receive(new KoaVisit(own, context, next, { resolve, reject })))
    },

    fastify (request, reply, done) {
      if (!isResponse(reply?.raw)) throw wrongWay('admit.fastify', 'the request and the reply of fastify')
      if (typeof done !== 'function') throw wrongNext('admit.fastify', done)
      own.receive(new FastifyVisit(own, request, reply, done))
    },

    fetch (handler) {
      readFunction(handler, 'admit.fetch: the handler', ARGUMENT)
      return function (request, ...rest) {
        return new Promise((resolve, reject) => {
          own.receive(new WebVisit(own, request, () => handler.call(this, request, ...rest), { resolve, reject }))
        })
      }
    },

    release: request => own.release(request),
    close: options => own.close(options),
    stats: () => own.stats()
  })
}

function isResponse (value) {
  return typeof value === 'object' && value !== null && typeof value.on === 'function' && typeof value.writeHead === 'function'
}

function wrongWay (name, what) {
  return typeError(ARGUMENT, `${name} must be given ${what}`)
}

function wrongNext (name, next) {
  return typeError(ARGUMENT, `${name}: next must be a function, not ${describe(next)}`)
}
