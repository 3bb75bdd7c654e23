'use strict'

// HOT (bench: http-admission). Requests of node:http and node:http2, and of what is built on these: connect, express.

const { failure } = require('../arguments/errors')
const { defer } = require('../platform/clock')
const { promiseOf } = require('../platform/promised')
const { failureOf, problemOf, timingOf } = require('./answers')
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
    response.stream?.once('end', () => this.ended())
    if (httpVersionMajor === 2 || typeof socket?.on !== 'function') return true
    if (socket.destroyed) return false
    this.connection = connectionOf(socket, key)
    this.connection.add(this)
    return true
  }

  /** Or somebody else has answered it while it waited: then its client has what it gets, read or not. */
  isGone () {
    const { connection, response, since } = this
    return isClosed(response) || connection?.socket.destroyed === true || (since !== -1 && response.writableEnded === true)
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

  /** What goes on and takes no error would go on with the request, which has no slot. */
  fail (err) {
    const { next, response } = this
    if (next.length > 0) return next(typeof err === 'string' ? new Error(err) : err) // 'route' of express is no error
    this.admission.warnOf(err)
    if (isClosed(response) || response.writableEnded) return
    if (response.headersSent) resetResponse(response)
    else this.sendInstead(failureOf(err))
  }

  vanish () {}

  /** It keeps its place on its connection until it is answered: nobody behind it can be answered before. */
  leave () {}

  /** Unless somebody else has begun to answer meanwhile. */
  tellWait (ms) {
    if (!this.response.headersSent) this.response.appendHeader('Server-Timing', timingOf(ms))
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
      promiseOf(this.refuseBy(refusal, err))?.then(undefined, err => this.fail(failure(err)))
    } catch (err) {
      this.fail(failure(err))
    }
  }

  interrupt (err) {
    const { connection, response } = this
    if (connection !== undefined && connection.isTakenFrom(this)) return connection.socket.destroy()
    if (response.headersSent) return resetResponse(response)
    this.sendInstead(this.problem(err))
    silence(response)
  }

  proceed () {
    if (this.admission.freesAtHeaders) this.watchHeaders()
    super.proceed()
  }

  // private from here on

  closed () {
    this.left(isFinished(this.response))
    this.connection?.remove(this)
  }

  /**
   * All of the request has come. If the stream has closed by then, its client may have reset it without an error while an answer was on its
   * way: Node before 26 waits for the end of that, which does not come, and does not tell. An answer that was sent is told within the turn.
   */
  ended () {
    if (this.response.stream.closed) defer(() => this.closed())
  }

  /** In the place of what a handler has begun to say. */
  sendInstead (problem) {
    const { response } = this
    for (const name of response.getHeaderNames()) if (OF_BODIES.test(name)) response.removeHeader(name)
    this.send(problem)
  }

  answer (err) {
    if (!this.response.headersSent) this.send(this.problem(err))
  }

  refuseBy (refusal, err) {
    return refusal(this.request, this.response, err)
  }

  /** While the queue closes the last answer of a connection ends that: those behind it could not be sent. */
  problem (err) {
    const { admission, connection } = this
    const problem = problemOf(err)
    if (connection !== undefined && admission.queue.closed && connection.isLast(this)) problem.headers.Connection = 'close'
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

/** Whether a response has closed already, and tells nobody any more. A stream of HTTP/2 closes some turns before. */
function isClosed (response) {
  const { stream } = response
  if (response.destroyed === true || response.closed === true) return true
  return stream !== undefined && (stream.closed === true || stream.destroyed === true || stream.session?.destroyed === true)
}

/** Whether all of an answer was sent before its response closed. Streams of HTTP/2 that were reset are finished, too. */
function isFinished ({ writableFinished, stream }) {
  return stream === undefined ? writableFinished === true : stream.rstCode === 0 && !stream.aborted
}

module.exports = { NodeVisit }
