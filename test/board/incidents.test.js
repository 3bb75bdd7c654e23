'use strict'

// Three incidents, as somebody meets them who has never seen this service: what is wrong is found from what the page shows, and from
// nothing else, within a minute.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { describeWithChromium } = require('../support/chromium')
const { quiet } = require('../support/turns')
const { atBrowser } = require('./pages')

const MINUTE_MS = 60000
const QUIET = ['acme', 'globex', 'initech']
const RUNS_MS = 100

describeWithChromium('somebody who has only the page finds', function () {
  const { open } = atBrowser()

  /** A service on a clock that the test moves: a job takes as many ms as its payload says. */
  function service (options) {
    const clock = fakeClock()
    const metrics = new Metrics({ name: 'mails', clock: 'exact' })
    const history = new History({ clock: 'exact' })
    const runner = (ms, done) => { if (ms < Infinity) clock.setTimeout(done, ms) }
    const queue = fairlane(runner, { concurrency: 4, clock, ...options, observers: [metrics, history] })
    async function pass (ms, everySecond = () => {}) {
      for (let at = 0; at < ms; at += 1000) {
        everySecond()
        for (let i = 0; i < 10; i++) {
          clock.advance(100)
          await quiet()
        }
      }
    }
    return { queue, pass, handler: board(queue, { metrics, history }) }
  }

  /** What a reader makes of the page: the first sentence that names a cause, and what the table of tenants says of who is named. */
  async function conclude (page) {
    const begun = performance.now()
    const sentences = await page.locator('#findings li').allInnerTexts()
    const causes = { 'a flood': / of the slot time in the last minute/, 'stuck runners': /are held by runners that go on/, 'a tenant out of rate': /has used up its rate/ }
    const found = sentences.flatMap(sentence => {
      return Object.entries(causes).filter(([, words]) => words.test(sentence)).map(([cause]) => ({ cause, sentence }))
    })
    const rows = await page.locator('#types tbody tr').all()
    const told = await Promise.all(rows.map(async row => ({
      type: await row.locator('th').innerText(),
      cells: Object.fromEntries(await row.locator('td').evaluateAll(cells => cells.map(cell => [cell.dataset.label, cell.textContent])))
    })))
    const named = told.filter(({ type }) => found[0]?.sentence.includes(type))
    return { cause: found[0]?.cause, named, others: told, tookMs: performance.now() - begun }
  }

  it('a flood of slow jobs: who has the slots, and who waits for them', async function () {
    const { queue, pass, handler } = service({ scheduler: 'fair' })
    await pass(10000, () => { for (const type of QUIET) queue.pushType(type, RUNS_MS) })
    for (let i = 0; i < 400; i++) queue.pushType('bulk import', 45000)
    await pass(120000, () => { for (const type of QUIET) queue.pushType(type, RUNS_MS) })
    const { cause, named: [{ type, cells }], others, tookMs } = await conclude(await open(handler))
    assert.deepEqual([cause, type], ['a flood', 'bulk import'])
    assert(parseFloat(cells.share) > 50, cells.share)
    assert.equal(others[0].type, type) // who has most stands first
    const waits = others.find(({ type }) => type === QUIET[0]).cells
    assert.match(waits['why it waits'], /^all slots are taken: bulk import [34]/)
    assert(tookMs < MINUTE_MS)
  })

  it('runners that are stuck and hold all slots: whose they are, and since when nothing moves', async function () {
    const { queue, pass, handler } = service({ scheduler: 'equal', timeoutMs: 5000 })
    await pass(10000, () => { for (const type of QUIET) queue.pushType(type, RUNS_MS) })
    for (let i = 0; i < 4; i++) queue.pushType('umbrella', Infinity)
    await pass(90000, () => { for (const type of QUIET) queue.pushType(type, RUNS_MS) })
    const page = await open(handler)
    const { cause, named: [{ type, cells }], tookMs } = await conclude(page)
    assert.deepEqual([cause, type, cells.running, cells.overdue], ['stuck runners', 'umbrella', '4', '4'])
    const [since] = /No job has started or ended for [\d.]+ min/.exec(await page.textContent('#findings'))
    assert(parseFloat(since.match(/[\d.]+/)) > 1, since)
    assert.match(await page.textContent('#runs'), /umbrella/)
    assert(tookMs < MINUTE_MS)
  })

  it('a tenant that is out of rate, while the others go on: who it is, and when its next job starts', async function () {
    const { queue, pass, handler } = service({ scheduler: 'equal', ratePerType: new Map([['hooli', { limit: 10, intervalMs: 60000 }]]) })
    for (let i = 0; i < 50; i++) queue.pushType('hooli', RUNS_MS)
    await pass(30000, () => { for (const type of QUIET) queue.pushType(type, RUNS_MS) })
    const { cause, named: [{ type, cells }], others, tookMs } = await conclude(await open(handler))
    assert.deepEqual([cause, type, cells.waiting], ['a tenant out of rate', 'hooli', '40'])
    assert.match(cells['why it waits'], /^rate: next start in (29|30|31) s$/)
    for (const { type, cells } of others) assert.equal(cells['why it waits'] === '', type !== 'hooli')
    assert(tookMs < MINUTE_MS)
  })
})
