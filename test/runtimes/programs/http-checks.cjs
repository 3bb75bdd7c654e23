'use strict'

// What an admission of `fairlane/http` has to do with the Request and the Response of every runtime. Plain JavaScript without a module of
// Node, since browsers run it too. Each check is given `admission`.

const BODY = 'a text'

module.exports = {
  async 'http: a slot is held until the body has been read, and those behind it wait, and some are refused' ({ admission }) {
    const { admit, ask } = served(admission, { concurrency: 1, maxWaitingPerType: 1 }, () => new Response(BODY, { status: 201, headers: { a: 'b' } }))
    const first = await ask()
    equal([first.status, first.headers.get('a'), first.headers.get('server-timing'), admit.stats().running], [201, 'b', null, 1])
    const second = ask()
    const third = await ask()
    equal([third.status, third.headers.get('content-type'), Number(third.headers.get('retry-after')) >= 1], [429, 'application/problem+json', true])
    equal((await third.json()).code, 'FAIRLANE_ERR_TYPE_FULL')
    equal(await first.text(), BODY)
    equal(/^queue;dur=/.test((await second).headers.get('server-timing')), true)
    await (await second).body.cancel()
    await free(admit)
  },

  async 'http: a client that leaves while it waits is never handled, and one that is handled frees its slot' ({ admission }) {
    let count = 0
    const { admit, ask } = served(admission, { concurrency: 1 }, () => { count++; return new Promise(() => {}) })
    const [handled, waiting] = [new AbortController(), new AbortController()]
    ask({ signal: handled.signal })
    const left = ask({ signal: waiting.signal })
    waiting.abort()
    equal(await left.catch(({ name }) => name), 'AbortError')
    handled.abort()
    await free(admit)
    equal([count, admit.stats().gone], [1, 1])
  },

  async 'http: a request whose time is over is answered 503, or its body fails' ({ admission }) {
    const { admit, ask } = served(admission, { timeoutMs: 20 }, ({ url }) => url.endsWith('silent')
      ? new Promise(() => {})
      : new Response(new ReadableStream({ start: controller => controller.enqueue(new Uint8Array(3)) })))
    equal((await ask({}, 'silent')).status, 503)
    const reader = (await ask()).body.getReader() // Chromium's text() has an error of its own
    equal((await reader.read()).done, false)
    equal(await reader.read().catch(({ code }) => code), 'FAIRLANE_ERR_TIMEOUT')
    await free(admit)
  },

  async 'http: errors reject, and what waits is run before it closes' ({ admission }) {
    const { admit, ask } = served(admission, { concurrency: 1 }, ({ url }) => {
      if (url.endsWith('throws')) throw new Error('expected')
      return new Response(null)
    })
    equal(await ask({}, 'throws').catch(({ message }) => message), 'expected')
    const answers = [ask(), ask(), ask()]
    await admit.close()
    equal((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200])
    equal((await ask()).status, 503)
  }
}

function served (admission, options, handler) {
  const admit = admission({ tenant: request => request.headers.get('tenant'), ...options })
  const fetch = admit.fetch(handler)
  return { admit, ask: (init, path = '') => fetch(new Request(`http://localhost/${path}`, init)) }
}

async function free (admit) {
  for (let i = 0; i < 1000 && admit.queue.length > 0; i++) await new Promise(resolve => setTimeout(resolve, 1))
  const { running, waiting, accepted, done, failed, cancelled } = admit.stats()
  equal([running, waiting, done + failed + cancelled], [0, 0, accepted])
}

function equal (seen, expected) {
  const [left, right] = [seen, expected].map(value => JSON.stringify(value))
  if (left !== right) throw new Error(`${left} is not ${right}`)
}
