'use strict'

// What `fairlane/fetch` has to do with the fetch of every runtime, at the server of fetch-server.cjs. Plain JavaScript without a module of
// Node, since browsers run it too. Each check is given `fairFetch`, and the `origin` of that server.

let count = 0

/** An address whose answers are its own. */
function address (origin, kind) {
  return `${origin}/fetch/${kind}/${Date.now()}-${count++}`
}

module.exports = {
  async 'fetch: calls are made again' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { maxAttempts: 3, backoffMs: 1 })
    const response = await fetch(address(origin, 'busy'), { method: 'PUT', body: 'sent' })
    equal([response.status, await response.text(), fetch.queue.stats().retried], [200, 'sent', 1])
  },

  async 'fetch: calls are made again whose connections are cut' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { maxAttempts: 9, backoffMs: 1 })
    equal((await fetch(address(origin, 'cut'))).status, 200)
  },

  async 'fetch: calls that are wrong are not' ({ fairFetch, origin }) {
    let madeCount = 0
    const fetch = fairFetch((...call) => {
      madeCount++
      return globalThis.fetch(...call)
    }, { maxAttempts: 3, backoffMs: 1 })
    const wrong = [['http://'], [origin, { body: 'sent' }], [origin, { headers: { 'a b': 'c' } }]]
    for (const call of wrong) await rejected(fetch(...call), err => err instanceof TypeError)
    equal(madeCount, wrong.length)
  },

  async 'fetch: calls that may change something twice are not, whatever attempts they have' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { backoffMs: 1 })
    const maxAttempts = 3
    const calls = [{ method: 'POST', fairlane: { maxAttempts } }, { fairlane: { maxAttempts, retry: false } }]
    for (const call of calls) equal((await fetch(address(origin, 'busy'), call)).status, 503)
    equal(fetch.queue.stats().retried, 0)
  },

  async 'fetch: a service that says 429 is left alone' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { maxAttempts: 2, backoffMs: 1, concurrency: 1 })
    const begin = Date.now()
    const path = address(origin, 'limited')
    equal((await Promise.all([fetch(path), fetch(path)])).map(({ status }) => status), [200, 200])
    equal(Date.now() - begin >= 990, true)
  },

  async 'fetch: a signal ends calls with its reason' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { concurrency: 1 })
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = fetch(address(origin, 'stall'), { signal: controller.signal })
    const waiting = fetch(address(origin, 'stall'), { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 20)
    for (const promise of [running, waiting]) await rejected(promise, err => err === reason)
    await fetch.queue.onIdle()
  },

  async 'fetch: a time limit ends calls' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { timeoutMs: 20 })
    await rejected(fetch(address(origin, 'stall')), ({ code }) => code === 'FAIRLANE_ERR_TIMEOUT')
    await fetch.queue.onIdle()
  },

  async 'fetch: a slot is held until the body has been read, cancelled or has failed' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { until: 'body', concurrency: 1 })
    const path = address(origin, 'text')
    const response = await fetch(path)
    equal([response.status, response.ok, response.url, fetch.queue.running], [200, true, path, 1])
    equal([await response.clone().text(), await response.text()], ['text', 'text'])
    await fetch.queue.onIdle()
    await (await fetch(address(origin, 'endless'))).body.cancel()
    await fetch.queue.onIdle()
    const half = await fetch(address(origin, 'half'))
    await rejected(half.text(), () => true)
    await fetch.queue.onIdle()
    equal(fetch.queue.stats().failed, 1)
  },

  async 'fetch: a Request has its type and its body' ({ fairFetch, origin }) {
    const fetch = fairFetch(globalThis.fetch, { type: ({ headers }) => headers.get('x-tenant') })
    const types = []
    fetch.queue.on('done', ({ type }) => types.push(type))
    const request = new Request(address(origin, 'echo'), { method: 'POST', body: 'sent', headers: { 'X-Tenant': 'a' } })
    equal(await (await fetch(request)).text(), 'sent')
    equal(types, ['a'])
  }
}

async function rejected (promise, test) {
  try {
    await promise
  } catch (err) {
    if (test(err)) return
    throw err
  }
  throw new Error('it was not rejected')
}

function equal (seen, expected) {
  const [left, right] = [seen, expected].map(value => JSON.stringify(value))
  if (left !== right) throw new Error(`${left} is not ${right}`)
}
