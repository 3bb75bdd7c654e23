'use strict'

// npm run screenshots
//
// Takes the pictures of docs/pictures/README.md.

const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { board } = require('../../lib/board')
const { root } = require('../support/child')
const { describeWithChromium } = require('../support/chromium')
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
})
