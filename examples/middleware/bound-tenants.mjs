// Bounds what each tenant does at once in an HTTP server, whatever framework it is made with.

import fairlane from 'fairlane'

/**
 * @param {(request: import('node:http').IncomingMessage) => string} tenantOf
 * @param {import('fairlane').QueueOptions} [options] of the queue that requests go through
 * @returns middleware of the shape `(request, response, next)`. It calls `next` when the request has got a slot. The slot is free again when the
 *   response has ended, or the client has gone away. A tenant that has too much waiting is answered with 429.
 */
export function boundTenants (tenantOf, options) {
  const queue = fairlane(({ response, next }, done) => {
    if (response.closed) return done()
    response.once('close', done)
    next()
  }, {
    settleBy: 'callback',
    scheduler: 'equal',
    concurrency: 100,
    maxWaiting: 1000,
    maxWaitingPerType: 50,
    maxWaitMs: 10000,
    asyncContext: 'push', // what runs behind this has the AsyncLocalStorage context of its request
    ...options
  })

  return (request, response, next) => {
    queue.pushType(tenantOf(request), { response, next }, err => {
      if (!err || response.headersSent) return
      if (err.retryAfterMs) response.setHeader('Retry-After', Math.ceil(err.retryAfterMs / 1000))
      response.writeHead(err.code === 'FAIRLANE_ERR_TYPE_FULL' ? 429 : 503).end(err.code)
    })
  }
}
