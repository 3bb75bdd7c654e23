'use strict'

// Requests of fetch handlers, as Hono, Bun and Deno have them: a Request comes in, a Response goes out. The slot is free when the body of
// that has been read, was cancelled or has failed.

const { failure } = require('../arguments/errors')
const { promiseOf } = require('../platform/promised')
const { problemOf, timingOf } = require('./answers')
const { Visit } = require('./visit')

class WebVisit extends Visit {
  /** @param {() => any} handle calls the handler */
  constructor (admission, request, handle, { resolve, reject }) {
    super(admission, request)
    this.handle = handle
    this.resolve = resolve
    this.reject = reject
    this.waitedMs = -1 // if it is to be told so
    this.body = undefined // of the answer, while it is read
    this.isCut = false // it has been answered, or ended, by the queue
  }

  arrive () {
    const { signal } = this.request
    if (signal === undefined || signal === null) return true
    if (signal.aborted) return false
    this.admission.signals.add(signal, this)
    return true
  }

  isGone () {
    return this.request.signal?.aborted === true
  }

  mustPark () {
    return false
  }

  pass () {
    let answer
    try {
      answer = this.handle()
    } catch (err) {
      this.rejected(err)
      return
    }
    Promise.resolve(answer).then(response => this.responded(response), err => this.rejected(err))
  }

  fail (err) {
    this.leave()
    this.reject(err)
  }

  vanish () {
    this.fail(this.request.signal.reason)
  }

  leave () {
    this.admission.signals.remove(this.request.signal, this)
  }

  tellWait (ms) {
    this.waitedMs = ms
  }

  closesConnection () {}

  refuse (err) {
    this.leave()
    const { refusal } = this.admission
    try {
      const answer = refusal === undefined ? undefined : refusal(this.request, undefined, err)
      this.resolve(promiseOf(answer)?.then(answer => answer ?? problem(err)) ?? answer ?? problem(err))
    } catch (err) {
      this.fail(failure(err))
    }
  }

  interrupt (err) {
    this.isCut = true
    if (this.body === undefined) this.resolve(problem(err))
    else this.body.cut(err)
    this.free()
  }

  free (err, isLater) {
    this.leave()
    return super.free(err, isLater)
  }

  // private from here on

  rejected (err) {
    this.threw(err)
    this.reject(err)
  }

  responded (response) {
    if (this.isCut) return discard(response)
    try {
      this.resolve(this.watched(response))
    } catch (err) {
      this.rejected(err)
    }
  }

  /** A response whose body frees the slot; without one it is free now. */
  watched (response) {
    const { admission, request, waitedMs } = this
    let answer = response
    if (this.done === undefined || admission.freesAtHeaders || request.method === 'HEAD' || !isReadable(response)) {
      this.free()
      if (waitedMs === -1 || response?.headers === undefined || !canBeMade(response)) return response
      answer = new Response(response.body, response)
    } else {
      this.body = new Body(response.body, this)
      answer = new Response(this.body.stream, response)
    }
    if (waitedMs !== -1) answer.headers.append('Server-Timing', timingOf(waitedMs))
    return answer
  }
}

/** The body of an answer, on its way to the client. */
class Body {
  constructor (source, visit) {
    this.visit = visit
    this.reader = source.getReader()
    this.controller = undefined
    this.stream = new ReadableStream({
      start: controller => { this.controller = controller },
      pull: () => this.pull(),
      cancel: reason => this.cancel(reason)
    }, { highWaterMark: 0 }) // nothing is read before somebody wants it
  }

  /** What is left of it is not sent: whoever reads it gets an error. */
  cut (err) {
    this.controller.error(err)
    this.reader.cancel(err).catch(() => {})
  }

  // private from here on

  async pull () {
    const { controller, reader, visit } = this
    try {
      const { done, value } = await reader.read()
      if (!done) return controller.enqueue(value)
      controller.close()
      visit.free()
    } catch (err) { // of the source; or it was cut meanwhile, which is told already
      controller.error(err)
      visit.threw(err)
    }
  }

  cancel (reason) {
    this.visit.free()
    return this.reader.cancel(reason)
  }
}

function isReadable (response) {
  return response?.body instanceof ReadableStream && !response.body.locked
}

/** An error, and a change of protocols, cannot be made again: nobody can be told in them how long they have waited. */
function canBeMade ({ body, status }) {
  return body || (status >= 200 && status <= 599)
}

/** A response that comes too late. */
function discard (response) {
  if (isReadable(response)) response.body.cancel().catch(() => {})
}

function problem (err) {
  const { status, headers, body } = problemOf(err)
  return new Response(body, { status, headers })
}

module.exports = { WebVisit }
