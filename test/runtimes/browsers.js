'use strict'

// Loads each bundle into a browser, as a page and as a worker, and hears from it what its checks have found. All goes over a server
// on 127.0.0.1: the page asks it for the next one, so a browser that nothing drives (Firefox) does as well as one that is driven.

const { once } = require('node:events')
const { mkdtempSync, readFileSync, rmSync } = require('node:fs')
const { createServer } = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const chromium = require('../support/chromium')
const { start } = require('./child')
const { answerFetch } = require('./programs/fetch-server.cjs')

const PAGE_MS = 60000

module.exports = { visit }

/**
 * @param {'Chromium' | 'Firefox'} name
 * @param {string} program the browser's
 * @param {string} project whose files are served
 * @param {{ script: string, kind: 'page' | 'worker' }[]} pages what to load, `script` as a path in it
 * @returns {Promise<{ passed: number, failed: string[] }[]>} of each page
 */
async function visit (name, program, project, pages) {
  const tour = new Tour(pages, project)
  const profile = mkdtempSync(join(tmpdir(), 'fairlane-browser-'))
  const open = { Chromium: openChromium, Firefox: openFirefox }[name]
  let close
  try {
    const origin = await tour.listen()
    close = await open(program, `${origin}/next?page=0`, profile)
    return await tour.ended
  } finally {
    await close?.()
    tour.close()
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The server, and how far it is: one page after the other, each with its time. */
class Tour {
  constructor (pages, project) {
    this.pages = pages
    this.project = project
    this.results = []
    this.waiting = [] // pages that ask for the next one before the result is there
    this.timer = undefined
    this.ended = new Promise(resolve => { this.end = resolve })
    this.server = createServer((request, response) => this.answer(request, response))
  }

  async listen () {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    this.expect()
    return `http://127.0.0.1:${this.server.address().port}`
  }

  close () {
    clearTimeout(this.timer)
    this.server.close()
    this.server.closeAllConnections()
  }

  expect () {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.told({ passed: 0, failed: [`nothing was heard for ${PAGE_MS} ms`] }), PAGE_MS)
  }

  told (result) {
    this.results.push(result)
    if (this.results.length === this.pages.length) return this.end(this.results)
    this.expect()
    for (const response of this.waiting.splice(0)) response.end()
  }

  async answer (request, response) {
    const path = request.url.slice(1).split('?')[0]
    if (path === 'result') {
      let text = ''
      for await (const part of request.setEncoding('utf8')) text += part
      response.end()
      const { page, ...result } = JSON.parse(text)
      // one that says more than one thing, or too late, is past
      if (page === this.results.length) this.told(result)
    } else if (path === 'over') {
      this.waiting.push(response)
    } else if (path === 'next') {
      response.setHeader('content-type', 'text/html')
      response.end(pageOf(this.pages[this.results.length], this.results.length))
    } else if (path.startsWith('fetch/')) {
      answerFetch(request, response)
    } else {
      this.send(path, response)
    }
  }

  send (path, response) {
    try {
      const text = readFileSync(join(this.project, path))
      response.setHeader('content-type', 'text/javascript')
      response.end(text)
    } catch {
      response.statusCode = 404
      response.end()
    }
  }
}

/** The bundle posts its result itself, with the number in the address of its page or worker. */
function pageOf ({ script, kind }, number) {
  const address = `/${script}?page=${number}`
  const load = kind === 'worker'
    ? `<script>new Worker('${address}', { type: 'module' }).onerror = told</script>`
    : `<script type="module" src="${address}"></script>`
  return `<!doctype html>
<script>
  function told (event) {
    const failed = [event.message || 'it did not load']
    fetch('/result', { method: 'POST', body: JSON.stringify({ page: ${number}, passed: 0, failed }) })
  }
  addEventListener('error', told, true)
  addEventListener('unhandledrejection', ({ reason }) => told({ message: String(reason) }))
  fetch('/over').then(() => location.replace('/next?page=${number + 1}'))
</script>
${load}
`
}

async function openChromium (program, url) {
  const browser = await chromium.openChromium(program)
  try {
    const page = await browser.newPage()
    await page.goto(url)
  } catch (err) {
    await browser.close()
    throw err
  }
  return () => browser.close()
}

async function openFirefox (program, url, profile) {
  const { stop } = start([program, '--headless', '--no-remote', '--profile', profile, url], { timeoutMs: 10 * PAGE_MS })
  return stop
}
