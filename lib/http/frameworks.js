'use strict'

// Frameworks that have ways of their own to go on, to fail and to answer.

const { NodeVisit } = require('./node')

/** Of koa: a promise that is settled when the handlers behind have ended. */
class KoaVisit extends NodeVisit {
  constructor (admission, context, next, { resolve, reject }) {
    super(admission, context.req, context.res, next)
    this.context = context
    this.resolve = resolve
    this.reject = reject
  }

  pass () {
    this.resolve(this.next())
  }

  fail (err) {
    this.reject(err)
  }

  vanish () {
    this.resolve()
  }

  interrupt (err) {
    this.context.respond = false
    super.interrupt(err)
  }

  // private from here on

  answer (err) {
    const { context } = this
    const { status, headers, body } = this.problem(err)
    context.status = status
    context.body = body
    context.set(headers)
    this.resolve()
  }

  async refuseBy (refusal, err) {
    this.context.respond = false
    await super.refuseBy(refusal, err)
    this.resolve()
  }
}

/** Of fastify: a hook. */
class FastifyVisit extends NodeVisit {
  constructor (admission, request, reply, done) {
    super(admission, request.raw, reply.raw, done)
    this.reply = reply
  }

  fail (err) {
    this.next(err)
  }

  interrupt (err) {
    this.reply.hijack()
    super.interrupt(err)
  }

  // private from here on

  answer (err) {
    const { status, headers, body } = this.problem(err)
    this.reply.code(status).headers(headers).send(body)
  }

  /** What it fails with is fastify's to answer, which it does not do once the reply is taken from it. */
  async refuseBy (refusal, err) {
    await super.refuseBy(refusal, err)
    this.reply.hijack()
  }
}

module.exports = { FastifyVisit, KoaVisit }
