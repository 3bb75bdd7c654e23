'use strict'

// npm run screenshots
//
// Takes the pictures of docs/observe.md.

const { once } = require('node:events')
const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { board } = require('../../lib/board')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { Bench } = require('../durable/bench')
const { root } = require('../support/child')
const { describeWithChromium } = require('../support/chromium')
const { atBrowser } = require('./pages')

const FOLDER = join(root, 'docs/pictures')
const START = Date.UTC(2026, 0, 15, 9, 30)
const TENANTS = { acme: [40, 9], globex: [25, 30], initech: [12, 3], umbrella: [6, 0], hooli: [3, 1] } // [jobs that ended, that wait]

describeWithChromium('the pictures of the documentation', function () {
  const { open } = atBrowser()

  for (const colorScheme of ['light', 'dark']) {
    it(`has the page as it is where one wants it ${colorScheme}`, async function () {
      const { queue, metrics, history } = await example()
      const page = await open(board(queue, { metrics, history }), { colorScheme, viewport: { width: 1080, height: 600 } })
      mkdirSync(FOLDER, { recursive: true })
      await page.screenshot({ path: join(FOLDER, `board-${colorScheme}.png`), fullPage: true })
      await queue.close({ drain: false })
    })
  }

  /** A queue that has been running for a while. */
  async function example () {
    const bench = new Bench()
    const { gate, clock } = bench
    clock.advance(START)
    const [metrics, history] = [new Metrics({ name: 'mails' }), new History()]
    const schedulerOptions = { weights: { acme: 2 }, typeCaps: { globex: 3 } }
    const queue = await bench.open({ scheduler: 'equal', schedulerOptions, concurrency: 4, maxAttempts: 1, observers: [metrics, history] })
    for (const [tenant, [count]] of Object.entries(TENANTS)) for (let i = 0; i < count; i++) await queue.pushType(tenant, i)
    for (let i = 0; i < 86; i++) {
      await gate.until(i + 1)
      clock.advance(20 + 97 * i % 60)
      const isGood = i % 29 !== 28
      const told = once(queue, isGood ? 'done' : 'failed')
      if (isGood) gate.release()
      else gate.fail(Object.assign(new Error('the server of the recipient does not answer'), { code: 'ETIMEDOUT' }))
      await told
    }
    for (const [tenant, [, count]] of Object.entries(TENANTS)) for (let i = 0; i < count; i++) await queue.pushType(tenant, i)
    await gate.until(90)
    clock.advance(15)
    queue.pauseType('initech')
    return { queue, metrics, history }
  }
})
