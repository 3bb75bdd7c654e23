// node crawler.mjs http://example.com/ [limit]
//
// Visits the pages of a site, each once, at most eight at a time, and prints how many links each has. Ctrl-C stops it at once.
// `map` takes an address from the frontier when a result is asked for. The frontier grows by the links that results bring.

import fairlane from 'fairlane'

const [start, limit = '100'] = process.argv.slice(2)

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const queue = fairlane(visit, { concurrency: 8, settleBy: 'promise', timeoutMs: 10000, signal: stop.signal })

/** The runner. Its signal aborts when the page takes too long and when the crawler is stopped, and ends the request. */
async function visit (address, { signal }) {
  const response = await fetch(address, { signal })
  const text = response.headers.get('content-type')?.startsWith('text/html') ? await response.text() : ''
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
