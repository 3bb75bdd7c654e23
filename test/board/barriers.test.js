'use strict'

// Whether anything of the page keeps anybody out, by axe-core, in both browsers, light and dark, on a screen and on a phone; and the page
// by the keyboard alone.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { board } = require('../../lib/board')
const { describeWithChromium } = require('../support/chromium')
const { describeWithFirefox, openFirefox } = require('../support/firefox')
const { startServer } = require('../support/programs')
const { turn } = require('../support/turns')
const { atBroker } = require('./at-broker')
const { inChromium, inFirefox } = require('./browsers')
const { example } = require('./example')
const { atBrowser } = require('./pages')

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const FINDINGS = '(async () => (await axe.run(document)).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))()'
const SCREENS = { 'a screen': { width: 1280, height: 800 }, 'a phone': { width: 380, height: 740 } }
const [TAB, ENTER] = ['\uE004', '\uE007'] // as WebDriver has them

async function handlerOf (options) {
  const { queue, metrics, history } = await example()
  return { queue, handler: board({ mails: { queue, metrics, history, showPayloads: true, ...options }, other: { queue, metrics } }) }
}

describeWithChromium('the page for tenants, in Chromium, for everybody,', function () {
  const { open } = atBrowser()

  for (const colorScheme of ['light', 'dark']) {
    for (const [what, viewport] of Object.entries(SCREENS)) {
      it(`has no barrier that axe finds, ${colorScheme}, on ${what}, and needs no scrolling sideways`, async function () {
        const { queue, handler } = await handlerOf()
        const page = await open(handler, { colorScheme, viewport })
        await page.evaluate(AXE)
        assert.deepEqual(await page.evaluate(FINDINGS), [])
        await page.getByText(/^Dead letters: /).click()
        await page.getByRole('button', { name: 'Payload job' }).first().waitFor()
        assert.deepEqual(await page.evaluate(FINDINGS), [])
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true)
        await page.getByRole('button', { name: 'Payload job' }).first().click()
        await page.getByRole('dialog').waitFor()
        assert.deepEqual(await page.evaluate(FINDINGS), [])
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: 'Set…' }).first().click()
        await page.getByRole('dialog').waitFor()
        assert.deepEqual(await page.evaluate(FINDINGS), [])
        await queue.close({ timeoutMs: 0 })
      })
    }
  }

  it('is worked by the keyboard alone: everything that does something is reached by Tab, in order, and is seen to have the focus', async function () {
    const { queue, handler } = await handlerOf()
    const page = await open(handler, { viewport: SCREENS['a screen'] })
    await page.getByText(/^Dead letters: /).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Payload job' }).first().waitFor()
    await page.evaluate(() => {
      document.activeElement.blur()
      window.getSelection().removeAllRanges()
    })
    const all = await page.$$eval('a, button, input, select, summary', elements => elements.filter(element => element.checkVisibility()).length)
    const reached = []
    for (let i = 0; i <= all; i++) { // once it is nowhere, between the last one and the first one
      await page.keyboard.press('Tab')
      reached.push(await page.evaluate(() => {
        const { activeElement } = document
        activeElement.seen = true
        const { outlineStyle, outlineWidth } = window.getComputedStyle(activeElement)
        return [activeElement.tagName, outlineStyle, outlineWidth]
      }))
    }
    assert.deepEqual(reached.filter(([name, style, width]) => name !== 'BODY' && (style !== 'solid' || width !== '2px')), [])
    const missed = await page.$$eval('a, button, input, select, summary', elements => {
      return elements.filter(element => element.checkVisibility() && !element.seen).map(element => element.outerHTML)
    })
    assert.deepEqual(missed, [])
    await queue.close({ timeoutMs: 0 })
  })
})

describeWithFirefox('the page for tenants, in Firefox,', function () {
  for (const isDark of [false, true]) {
    describe(isDark ? 'dark' : 'light', function () {
      let browser, server

      before(async function () { browser = await openFirefox({ isDark }) })
      after(() => browser?.close())
      afterEach(() => server.end())

      async function open (handler, screen) {
        server = await startServer(handler)
        await browser.go(`${server.origin}/`, SCREENS[screen])
        await browser.until('document.querySelectorAll("#types tbody tr").length > 0')
      }

      for (const screen of Object.keys(SCREENS)) {
        it(`shows all on ${screen}, has no barrier that axe finds, and needs no scrolling sideways`, async function () {
          const { queue, handler } = await handlerOf()
          await open(handler, screen)
          assert.equal(await browser.evaluate('matchMedia("(prefers-color-scheme: dark)").matches'), isDark)
          await browser.evaluate('document.getElementById("dead-title").click()')
          await browser.until('document.querySelectorAll("#letters tbody tr").length > 0')
          assert.equal(await browser.evaluate('document.querySelectorAll("#charts path[d]").length'), 5)
          assert.equal(await browser.evaluate('document.querySelectorAll("#schedules tbody tr").length'), 1)
          await browser.run(AXE)
          assert.deepEqual(await browser.evaluate(FINDINGS), [])
          assert.equal(await browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
          assert.deepEqual(browser.errors, [])
          await queue.close({ timeoutMs: 0 })
        })
      }

      it('does what its buttons are for, by the keyboard alone', async function () {
        const { queue, handler } = await handlerOf()
        await open(handler, 'a screen')
        await browser.press(TAB, ENTER)
        await browser.until('document.getElementById("status").textContent === "pause: done"')
        assert.equal(queue.paused, true)
        await browser.evaluate('document.querySelector("#types th button").focus()')
        await browser.press(ENTER)
        await browser.until('document.querySelector("#types th").getAttribute("aria-sort") === "ascending"')
        assert.deepEqual(browser.errors, [])
        await queue.close({ timeoutMs: 0 })
      })
    })
  }
})

describeWithChromium('the page when something is wrong, in Chromium,', () => whenWrong(inChromium))
describeWithFirefox('the page when something is wrong, in Firefox,', () => whenWrong(inFirefox))

function whenWrong (inBrowser) {
  for (const isDark of [false, true]) {
    describe(isDark ? 'dark' : 'light', function () {
      const { open } = inBrowser({ isDark })

      for (const screen of Object.keys(SCREENS)) {
        it(`has no barrier that axe finds on ${screen}: an action is refused, a queue does not answer, one is empty, many are deleted`, async function () {
          const asked = []
          const hanging = atBroker({ types: () => new Promise(() => { asked.push(1) }) })
          const dead = atBroker({
            types: [{ type: 'a', waiting: 1, delayed: 0, running: 0, dead: 9 }],
            deadLetters: async () => [{ id: '1:a', type: 'a', attempts: 1, error: new Error('no') }],
            deleteDead: () => new Promise(() => {}),
            pauseGlobal: async () => { throw new Error('away') }
          })
          const page = await open({ dead: { queue: dead }, empty: { queue: atBroker() }, hanging: { queue: hanging } }, { screen })
          const check = async () => {
            assert.deepEqual(await page.evaluate(FINDINGS), [])
            assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
          }
          await page.driver.run(AXE)
          await page.use('Pause a')
          await page.said('pauseGlobal: away')
          await check()
          await page.use('Dead letters: 9')
          await page.until('document.querySelectorAll("#letters tbody tr").length > 0')
          await page.use('Delete all matches')
          await page.until('!document.getElementById("dead-sweep").hidden')
          await check()
          await page.evaluate('void (location.hash = "empty")')
          await page.until('document.title.includes("empty")')
          await check()
          await page.evaluate('void (location.hash = "hanging")')
          while (asked.length === 0) await turn()
          page.clock.advance(2000)
          await page.until('document.getElementById("content").hidden')
          await page.until('document.getElementById("status").textContent.includes("has not answered for 2 s")')
          await check()
        })
      }
    })
  }
}
