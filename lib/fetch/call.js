'use strict'

// One call: what fetch was given, and who waits for the response. The option `type` is given it, and it is the payload of the job.

const { typeError, describe } = require('../arguments/errors')
const { isOf } = require('../arguments/fields')
const { discard } = require('./body')
const { isIdempotent, isSentOnce } = require('./repeating')

class Call {
  // private: not for those who look at payloads
  #settle = undefined // of the caller's promise, until it is settled
  #wasSent = false

  /** @param {any} input @param {object} [init] as fetch has them */
  constructor (input, init) {
    const { fairlane, ...rest } = copyOf(init)
    this.input = isOf(input, URL) ? new URL(input) : input
    this.init = withOwnParts(rest) // what the wrapped fetch is given
    this.fairlane = fairlane
    this.method = normalMethod(rest.method ?? this.request?.method ?? 'GET')
    this.type = undefined // these three as read
    this.until = 'headers'
    this.maxAttempts = 1
    this.response = undefined // of the attempt before, while it is not known whether there is another one
    this.failure = undefined // of the last attempt: what its job has failed with, and what fetch has
  }

  /** The input, if it is a Request. */
  get request () {
    const { input } = this
    return typeof input === 'object' && input !== null && typeof input.url === 'string' ? input : undefined
  }

  /** Absolute, where it can be read. */
  get url () {
    const text = this.#text
    return parsed(text)?.href ?? text
  }

  /** 'null' for what has none, as by the URL standard. */
  get origin () {
    return parsed(this.#text)?.origin ?? 'null'
  }

  /** A copy of the headers. */
  get headers () {
    return new Headers(this.init.headers ?? this.request?.headers)
  }

  /** The caller's; null means none, also where a Request has one. */
  get signal () {
    const { signal = this.request?.signal } = this.init
    return signal ?? undefined
  }

  /** What the signal of the job aborts with, in the words of the caller. */
  abortReason (reason) {
    return this.signal?.aborted ? this.signal.reason : reason
  }

  /** Whether the caller has its response, or its error. */
  get isSettled () {
    return this.#settle === undefined
  }

  /** Whether it may be made more than once. @param {boolean} [retry] what the caller says */
  mayRepeat (retry = isIdempotent(this.method)) {
    return retry && !(this.init.body == null ? this.#hasOwnBody() : isSentOnce(this.init.body))
  }

  expect (resolve, reject) {
    this.#settle = { resolve, reject }
  }

  /**
   * Calls fetch, as a function, since that of browsers may be no method.
   * @param {Function} fetch
   * @param {AbortController | undefined} controller that aborts with the job, if there is more to it than that
   * @param {AbortSignal} signal of the job
   */
  send (fetch, controller, signal) {
    this.#wasSent = true
    return fetch(this.input, { ...this.init, signal: controller === undefined ? signal : bothOf(this.signal, controller) })
  }

  /** The caller has its response, and nobody here keeps it any more. */
  resolve (response) {
    const settle = this.#settle
    this.#settle = this.response = undefined
    settle?.resolve(response)
  }

  /** The job has failed: with the response of the last attempt the call has not. */
  fail (err) {
    if (err.code === 'FAIRLANE_ERR_RESPONSE' && this.response !== undefined) {
      this.resolve(this.response)
      return
    }
    this.drop()
    const settle = this.#settle
    this.#settle = undefined
    settle?.reject(this.#errorOf(err))
  }

  /** Nobody reads the response of the attempt before. */
  drop () {
    const { response } = this
    this.response = undefined
    if (response !== undefined) discard(response.body)
  }

  // private from here on

  get #text () {
    return this.request?.url ?? String(this.input)
  }

  #errorOf (err) {
    if (err.code === 'FAIRLANE_ERR_ABORTED' && this.signal?.aborted) {
      if (!this.#wasSent) discard(this.init.body ?? this.request?.body, this.signal.reason)
      return this.signal.reason
    }
    return this.failure?.err === err ? this.failure.reason : err
  }

  /** A Request has a body that can be sent once. Not every runtime tells whether it has one. */
  #hasOwnBody () {
    const { request } = this
    return request !== undefined && request.body !== null && this.method !== 'GET' && this.method !== 'HEAD'
  }
}

/** A copy, with what it has inherited: it may be a Request, which has all by its class. */
function copyOf (init = null) {
  if (init === null) return {}
  if (typeof init !== 'object') throw typeError('FAIRLANE_ERR_ARGUMENT', `the init of a call must be an object, not ${describe(init)}`)
  const copy = {}
  for (const name in init) copy[name] = init[name]
  return copy
}

/**
 * fetch reads these while it is called, and a call is sent later: its caller may change them meanwhile, as in a loop over pages.
 * @param {object} init the caller's copy, which is changed
 */
function withOwnParts (init) {
  if (init.headers !== undefined) init.headers = copyOfHeaders(init.headers)
  if (isOf(init.body, URLSearchParams)) init.body = new URLSearchParams(init.body)
  return init
}

/** Those of another make stay as they are. */
function copyOfHeaders (headers) {
  if (isOf(headers, Headers)) return new Headers(headers)
  if (Array.isArray(headers)) return headers.map(pair => Array.isArray(pair) ? [...pair] : pair)
  return isPlain(headers) ? { ...headers } : headers
}

function isPlain (value) {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** As fetch has it, but that it takes none in lower case for another one. */
function normalMethod (method) {
  return String(method).toUpperCase()
}

/** In a page a path is one of its origin. */
function parsed (text) {
  try {
    return new URL(text, globalThis.location?.href)
  } catch {}
}

/** A signal that aborts by both: by the caller's for as long as the body is read. */
function bothOf (signal, controller) {
  if (signal === undefined) return controller.signal
  if (isOf(signal, AbortSignal) && typeof AbortSignal.any === 'function') return AbortSignal.any([signal, controller.signal])
  signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return controller.signal
}

module.exports = { Call }
