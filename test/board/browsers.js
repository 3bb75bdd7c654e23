'use strict'

// A page in one browser or the other, and who works it by the keyboard alone. Expressions are texts, which run in the page.

const assert = require('node:assert/strict')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { fakeClock } = require('../../lib/testing')
const { openChromium } = require('../support/chromium')
const { openFirefox } = require('../support/firefox')
const { startServer } = require('../support/programs')
const { turn } = require('../support/turns')

const SCREENS = { 'a screen': { width: 1280, height: 800 }, 'a phone': { width: 380, height: 740 } }
// as WebDriver has them
const KEYS = { Tab: '\uE004', Enter: '\uE007', Shift: '\uE008', Escape: '\uE00C', Space: ' ', ArrowDown: '\uE015', ArrowUp: '\uE013' }
const MOST_STOPS = 200
const FOCUSED = `(() => {
  const { activeElement: it } = document
  const { outlineStyle, outlineWidth } = getComputedStyle(it)
  const { top, bottom } = it.getBoundingClientRect()
  const name = it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent ?? (it.tagName === 'TR' ? it.cells[0] : it).textContent
  return {
    name: it === document.body ? 'nothing' : name.replace(/[\\u2066-\\u2069]/g, ''),
    tag: it.tagName,
    isSeen: it === document.body || (outlineStyle === 'solid' && outlineWidth === '2px' && bottom > 0 && top < innerHeight)
  }
})()`

module.exports = { SCREENS, inChromium, inFirefox }

/** Chromium by playwright-core. To be called in describe(), as inFirefox(). @returns {{ open: (shown, options) => Promise<Page> }} */
function inChromium ({ isDark = false } = {}) {
  return inBrowser(async () => {
    const browser = await openChromium()
    let page
    const driver = {
      errors: [],
      questions: [],
      accepts: true,
      async go (url, viewport) {
        await page?.context().close()
        page = await (await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', colorScheme: isDark ? 'dark' : 'light', viewport })).newPage()
        page.on('console', message => { if (message.type() === 'error') driver.errors.push(message.text()) })
        page.on('pageerror', err => driver.errors.push(err.stack))
        page.on('dialog', dialog => {
          driver.questions.push(dialog.message())
          return driver.accepts ? dialog.accept() : dialog.dismiss()
        })
        await page.goto(url)
      },
      evaluate: expression => page.evaluate(expression),
      run: script => page.evaluate(script),
      async press (...keys) { for (const key of keys) await page.keyboard.press(key) },
      close: () => browser.close()
    }
    return driver
  })
}

function inFirefox ({ isDark = false } = {}) {
  return inBrowser(async () => {
    const browser = await openFirefox({ isDark })
    const { press } = browser
    browser.press = (...keys) => press.call(browser, ...keys.map(key => key.split('+').map(part => KEYS[part] ?? part)))
    return browser
  })
}

function inBrowser (start) {
  let driver, server

  before(async function () { driver = await start() })
  // a page asks again and again: its server is there for as long as it is
  after(async () => {
    await driver?.close()
    await server?.end()
  })

  /**
   * @param {object} shown a queue, or several, as board() takes them
   * @param {{ screen?: string, until?: string }} [options] until: what is true once it is there
   */
  async function open (shown, { screen = 'a screen', until = 'document.querySelectorAll("#types tbody tr").length > 0' } = {}) {
    const clock = fakeClock()
    const handler = handlerOf(readQueues([shown]), clock)
    const states = { count: 0 }
    const serverBefore = server
    server = await startServer((request, response) => {
      if (request.url.startsWith('/state')) response.once('finish', () => { states.count++ })
      handler(request, response)
    })
    Object.assign(driver, { errors: [], questions: [], accepts: true })
    await driver.go(`${server.origin}/`, SCREENS[screen])
    await serverBefore?.end()
    const page = new Page(driver, clock, states)
    await page.until(until)
    return page
  }

  return { open }
}

class Page {
  constructor (driver, clock, states) {
    this.driver = driver
    this.clock = clock // by which answers grow old
    this.states = states // that were answered
  }

  evaluate (expression) { return this.driver.evaluate(expression) }

  async until (expression) {
    while (!await this.evaluate(expression)) await turn()
  }

  press (...keys) { return this.driver.press(...keys) }

  type (text) { return this.driver.press(...text) }

  said (text) { return this.until(`document.getElementById('status').textContent === ${JSON.stringify(text)}`) }

  /** Its next answer is a new one, and is shown. */
  async refresh () {
    this.clock.advance(1000)
    const { count } = this.states
    await this.evaluate('void dispatchEvent(new Event("hashchange"))')
    while (this.states.count === count) await turn()
    await this.evaluate('new Promise(resolve => setTimeout(resolve, 50))')
  }

  /** What has the focus; fails if nobody sees that it has. @returns {Promise<string>} its name; of a row, that in its first cell */
  async focused () {
    const { name, tag, isSeen } = await this.evaluate(FOCUSED)
    assert(isSeen, `${tag} ${name} has the focus, which nobody sees`)
    return tag === 'TR' ? `row ${name}` : name
  }

  /** Fails if the focus is elsewhere, now or once the page has been shown again, and again. */
  async stays (name) {
    for (let i = 0; i < 3; i++) {
      assert.equal(await this.focused(), name)
      await this.refresh()
    }
  }

  /** Goes on by Tab to what has that name. @param {string} [key] 'Shift+Tab' goes back */
  async reach (name, key = 'Tab') {
    const passed = []
    while (passed.length < MOST_STOPS) {
      await this.press(key)
      const found = await this.focused()
      if (found === name) return
      passed.push(found)
    }
    assert.fail(`${name} is not among ${[...new Set(passed)].join(', ')}`)
  }

  /** Goes there and presses it. */
  async use (name, key = 'Enter', towards = 'Tab') {
    await this.reach(name, towards)
    await this.press(key)
  }
}
