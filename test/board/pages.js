'use strict'

// Pages in Chromium, of servers in this process. An error on a page's console fails its test.

const assert = require('node:assert/strict')
const { openChromium } = require('../support/chromium')
const { startServer } = require('../support/programs')

const LONGEST_MS = 100000 // within the time that mocha gives a test

module.exports = { atBrowser }

/**
 * To be called in describe(): what is opened is closed after each test.
 * @param {(entries: object[]) => void} [whenRun] is told which parts of scripts have run in a page
 * @returns {{ open: Function, serve: Function }} open(handler, { path, until, own, ...options of a context of playwright }): a page, once
 *   there is what the selector `until` says, and on it `errors`; those without options share one, but for `own`; serve(handler): the origin
 *   of a server
 */
function atBrowser (whenRun = () => {}) {
  let browser, shared
  let servers = []
  let pages = new Set()

  before(async function () { browser = await openChromium() })
  after(() => browser?.close())

  afterEach(async function () {
    const opened = [...pages]
    const started = servers
    pages = new Set()
    servers = []
    for (const page of opened) await leave(page)
    await Promise.all(started.map(server => server.end()))
    for (const { errors } of opened) assert.deepEqual(errors, [])
  })

  async function serve (handler) {
    const server = await startServer(handler)
    servers.push(server)
    return server.origin
  }

  async function open (handler, { path = '/', until = '#types tbody tr', own = false, ...options } = {}) {
    const origin = await serve(handler)
    const page = own || Object.keys(options).length > 0 ? await openOwn(options) : shared ??= await openOwn()
    if (!pages.has(page)) await page.coverage.startJSCoverage({ resetOnNavigation: false })
    page.errors = []
    pages.add(page)
    await page.goto(`${origin}${path}`)
    await page.waitForSelector(until, { state: 'attached' })
    return page
  }

  async function openOwn (options) {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options })
    context.setDefaultTimeout(LONGEST_MS)
    const page = await context.newPage()
    page.on('console', message => { if (message.type() === 'error' && !isElsewhere(message.location().url)) page.errors.push(message.text()) })
    page.on('pageerror', err => page.errors.push(err.stack))
    return page
  }

  async function leave (page) {
    whenRun(await page.coverage.stopJSCoverage())
    page.removeAllListeners('dialog')
    if (page === shared) await page.goto('about:blank')
    else await page.context().close()
  }

  return { open, serve }
}

/** Whether something is asked for that this machine does not have, as the fonts of bull-board. */
function isElsewhere (url) {
  return URL.canParse(url) && !['127.0.0.1', 'localhost'].includes(new URL(url).hostname)
}
