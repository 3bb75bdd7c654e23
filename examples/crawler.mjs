// node crawler.mjs http://example.com/ [limit]
//
// Visits the pages of a site, each once, at most eight at a time and fifty in a second, and prints how many links each has. A site that wants to be
// left alone for a while is. Ctrl-C stops it at once.
// `map` takes an address from the frontier when a result is asked for. The frontier grows by the links that results bring.

import fairlane from 'fairlane'
import { fairFetch } from 'fairlane/fetch'

const [start, limit = '100'] = process.argv.slice(2)

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const queue = fairlane(visit, { concurrency: 8, settleBy: 'promise', signal: stop.signal })
const fetch = fairFetch(globalThis.fetch, { ratePerType: { limit: 50, intervalMs: 1000 }, timeoutMs: 10000, until: 'body', maxAttempts: 3 })

/** The runner. Its signal aborts when the crawler is stopped, and ends the request. */
async function visit (address, { signal }) {
  const response = await fetch(address, { signal })
  const isPage = response.headers.get('content-type')?.startsWith('text/html')
  const text = isPage ? await response.text() : ''
  if (!isPage) await response.body?.cancel() // else it has its slot until it is collected as garbage
  const links = [...text.matchAll(/href="([^"#]+)/g)].map(([, link]) => new URL(link, address).href)
  return { address, status: response.status, links: links.filter(link => new URL(link).origin === new URL(start).origin) }
}

/** Addresses to visit, each once; it ends when all have been visited and no result is outstanding. */
class Frontier {
  #found = []
  #seen = new Set()
  #outstanding = 0
  #wake = () => {}

  add (addresses) {
    for (const address of addresses) {
      if (this.#seen.has(address) || this.#seen.size >= Number(limit)) continue
      this.#seen.add(address)
      this.#found.push(address)
    }
  }

  visited () {
    this.#outstanding--
    this.#wake()
  }

  async * [Symbol.asyncIterator] () {
    for (;;) {
      for (; this.#found.length > 0; this.#outstanding++) yield this.#found.shift()
      if (this.#outstanding === 0) return
      await new Promise(resolve => { this.#wake = resolve })
    }
  }
}

const frontier = new Frontier()
frontier.add([new URL(start).href])
let count = 0
for await (const { status, value, reason } of queue.map(frontier, { ordered: false, settled: true })) {
  if (stop.signal.aborted) break
  if (status === 'fulfilled') {
    frontier.add(value.links)
    count++
    console.log(`${value.status} ${value.address}: ${value.links.length} links`)
  } else {
    console.error(reason.message)
  }
  frontier.visited()
}
console.log(`${stop.signal.aborted ? 'stopped' : 'done'} after ${count} pages`)
