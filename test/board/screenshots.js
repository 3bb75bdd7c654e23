'use strict'

// npm run screenshots
//
// Takes the pictures of docs/pictures/README.md.

const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { board } = require('../../lib/board')
const { root } = require('../support/child')
const { describeWithChromium, openChromium } = require('../support/chromium')
const { example } = require('./example')
const { atBrowser } = require('./pages')

const FOLDER = join(root, 'docs/pictures')

describeWithChromium('the pictures of the documentation', function () {
  const { open } = atBrowser()

  for (const colorScheme of ['light', 'dark']) {
    it(`has the page as it is where one wants it ${colorScheme}`, async function () {
      const { queue, metrics, history, now } = await example()
      const { now: systemNow } = Date
      Date.now = now // by which the page says for how long jobs have run
      const handler = board(queue, { metrics, history, showPayloads: true })
      const page = await open(handler, { colorScheme, viewport: { width: 1280, height: 600 } })
      await page.getByText(/^Dead letters: /).click()
      await page.getByRole('button', { name: 'Payload job' }).first().waitFor()
      await page.evaluate(() => document.activeElement.blur())
      mkdirSync(FOLDER, { recursive: true })
      await page.screenshot({ path: join(FOLDER, `board-${colorScheme}.png`), fullPage: true })
      Date.now = systemNow
      await queue.close({ timeoutMs: 0 })
    })
  }

  it('has the playground', async function () {
    const browser = await openChromium()
    try {
      const page = await browser.newPage({ locale: 'en-GB', viewport: { width: 1100, height: 700 } })
      await page.goto(String(pathToFileURL(join(root, 'docs/playground/index.html'))))
      await page.locator('#speed').selectOption('100×')
      await page.waitForFunction('parseFloat(document.getElementById("time").textContent) > 12')
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.screenshot({ path: join(FOLDER, 'playground.png') })
    } finally {
      await browser.close()
    }
  })
})
