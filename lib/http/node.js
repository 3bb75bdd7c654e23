'use strict'

// HOT (bench: http-admission). Requests of node:http and node:http2, and of what is built on these: connect, express.

const { promiseOf } = require('../platform/promised')
const { problemOf, timingOf } = require('./answers')
const { connectionOf } = require('./connection')
const { resetResponse, silence } = require('./cut')
const { Visit } = require('./visit')

// Headers that a handler may have set for an answer that is not sent.
const OF_BODIES = /^(?:content-|transfer-|accept-ranges$|cache-control$|etag$|expires$|last-modified$|trailer$)/i

class NodeVisit extends Visit {
  /** @param {Function | undefined} next undefined: of a framework that goes on by other means */
  constructor (admission, request, response, next) {
    super(admission, request)
    this.response = response
    this.next = next
    this.connection = undefined
  }

  arrive () {
    const { admission: { key }, request: { httpVersionMajor, socket }, response } = this
    if (isClosed(response)) return false
    response.on('close', () => this.closed())
    if (httpVersionMajor === 2 || typeof socket?.on !== 'function') return true
    if (socket.destroyed) return false
    this.connection = connectionOf(socket, key)
    this.connection.add(this)
    return true
  }

  mustPark () {
    return this.connection !== undefined && !this.connection.isFirst(this)
  }

  pass () {
    const returned = this.next()
    if (returned === undefined) return
    promiseOf(returned)?.then(undefined, err => {
      this.threw(err)
      throw err // an unhandled rejection, as it would be without this
    })
  }

  fail (err) {
    this.next(err)
  }

  vanish () {}

  leave () {
    this.connection?.remove(this)
  }

  tellWait (ms) {
    this.response.appendHeader('Server-Timing', timingOf(ms))
  }

  closesConnection () {
    const { connection, response } = this
    if (connection !== undefined && connection.isLast(this) && !response.headersSent) response.shouldKeepAlive = false
  }

  refuse (err) {
    const { refusal } = this.admission
    try {
      if (isClosed(this.response)) return this.vanish()
      if (refusal === undefined) return this.answer(err)
      promiseOf(this.refuseBy(refusal, err))?.then(undefined, err => this.fail(err))
    } catch (err) {
      this.fail(err)
    }
  }

  interrupt (err) {
    const { response } = this
    if (response.headersSent) return resetResponse(response)
    for (const name of response.getHeaderNames()) if (OF_BODIES.test(name)) response.removeHeader(name)
    this.send(this.problem(err))
    silence(response)
  }

  proceed () {
    if (this.admission.freesAtHeaders) this.watchHeaders()
    super.proceed()
  }

  // private from here on

  closed () {
    this.left()
    this.connection?.remove(this)
  }

  answer (err) {
    if (!this.response.headersSent) this.send(this.problem(err))
  }

  refuseBy (refusal, err) {
    return refusal(this.request, this.response, err)
  }

  problem (err) {
    const problem = problemOf(err)
    if (this.connection !== undefined && this.admission.queue.closed) problem.headers.Connection = 'close'
    return problem
  }

  send ({ status, title, headers, body }) {
    const { request, response } = this
    if (request.httpVersionMajor !== 2) response.statusMessage = title
    response.writeHead(status, headers)
    response.end(body)
  }

  /** The head of an answer is always sent by writeHead(), also where nobody has called it. */
  watchHeaders () {
    const { response } = this
    const { writeHead } = response
    response.writeHead = (...args) => {
      const returned = writeHead.apply(response, args)
      this.free()
      return returned
    }
  }
}

/** Whether a response has closed already, and tells nobody any more. */
function isClosed (response) {
  return response.destroyed === true || response.closed === true || response.stream?.destroyed === true
}

module.exports = { NodeVisit }
