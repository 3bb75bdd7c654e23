'use strict'

// A function that imitates fetch, in the hands of a test: it says what it was given, and answers when it is told to.

module.exports = { imitation, answer }

/**
 * @returns {{ fetch: Function, calls: object[], until: (count: number) => Promise<object> }} calls: each has `input`, `init`, `signal`, and
 *   `answer`, `resolve` and `reject`; until: resolves with the last one when there have been so many
 */
function imitation () {
  const calls = []
  const waiting = []
  const fetch = (input, init) => new Promise((resolve, reject) => {
    const { signal } = init
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    calls.push({ input, init, signal, resolve, reject, answer: (...about) => resolve(answer(...about)) })
    for (const { count, tell } of waiting) if (calls.length >= count) tell(calls[count - 1])
  })
  const until = count => new Promise(resolve => {
    if (calls.length >= count) resolve(calls[count - 1])
    else waiting.push({ count, tell: resolve })
  })
  return { fetch, calls, until }
}

/** A response. @param {number} [status] @param {object} [headers] @param {any} [body] */
function answer (status = 200, headers = {}, body = 'body') {
  return new Response(body, { status, headers })
}
