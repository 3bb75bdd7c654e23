'use strict'

// bull-board with our adapter, in a real browser.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createBullBoard } = require('@bull-board/api')
const { ExpressAdapter } = require('@bull-board/express')
const express = require('express')
const { bullBoardQueue } = require('../../lib/board/bull-board')
const { History } = require('../../lib/history')
const { Bench } = require('../durable/bench')
const { describeWithChromium } = require('../support/chromium')
const { atBrowser } = require('./pages')

const MARKUP = '<b>50%</b>/x'

describeWithChromium('bull-board with a queue of fairlane, in Chromium,', function () {
  const { open } = atBrowser()
  let bench, history, queue, handler

  // jobs 1 and 2 are dead letters, 3 is done, 4 delayed, 5 running; 6 and 7 wait
  beforeEach(async function () {
    bench = new Bench()
    bench.clock.advance(Date.UTC(2026, 0, 1))
    history = new History()
    queue = await bench.open({ scheduler: 'equal', concurrency: 1, maxAttempts: 1, observers: history })
    await end(1, MARKUP, 'failed', () => bench.gate.fail(Object.assign(new Error(`no ${MARKUP}`), { code: 'E_NO' })))
    await end(2, 'a', 'failed', () => bench.gate.fail(new TypeError('neither')))
    await end(3, 'a', 'done', () => bench.gate.release())
    await queue.pushType('a', { number: 4 }, { delayMs: 60000 })
    await queue.pushType('a', { number: 5 })
    await bench.gate.until(4)
    for (const number of [6, 7]) await queue.pushType('a', { number })
    const serverAdapter = new ExpressAdapter().setBasePath('/jobs')
    createBullBoard({
      queues: [bullBoardQueue(queue, { name: 'mails', history }), bullBoardQueue(queue, { name: `mails:${MARKUP}`, type: MARKUP, history })],
      serverAdapter,
      options: { validateResponses: true }
    })
    handler = express().use('/jobs', serverAdapter.getRouter())
  })

  afterEach(() => queue.close({ timeoutMs: 0 }))

  async function end (number, type, event, settle) {
    await queue.pushType(type, { number })
    await bench.gate.until(number)
    const told = once(queue, event)
    settle()
    await told
  }

  const openQueue = (name, status) => {
    return open(handler, { path: `/jobs/queue/${encodeURIComponent(name)}${status === undefined ? '' : `?status=${status}`}`, until: 'main a[href*="status=failed"]' })
  }
  const job = (page, id) => page.locator('main div').filter({ has: page.locator(`a[href*="/${id}?"], a[href$="/${id}"]`) }).filter({ has: page.getByRole('tab', { name: 'Logs' }) }).last()
  const answered = (page, call) => Promise.all([page.waitForResponse(response => response.url().endsWith(`/${call}`)), confirmed(page)])
  const confirmed = page => page.getByRole('button', { name: 'Confirm' }).click()
  const fromMenu = async (page, item) => {
    await page.locator('main [aria-haspopup=menu]').first().click()
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
  const said = (page, text) => page.waitForFunction(text => document.querySelector('main')?.textContent.includes(text), text)
  const tabs = page => page.$$eval('main ul a[href*="status="]', links => Object.fromEntries(links.map(link => [...link.children].map(({ textContent }) => textContent).filter(Boolean))))

  it('shows the counts of the history, and the newest failures with their errors', async function () {
    const page = await openQueue('mails', 'failed')
    await job(page, 2).waitFor()
    const { running, waiting, done, failed, delayed } = history.counts()
    assert.deepEqual(await tabs(page), { ACTIVE: `${running}`, WAITING: `${waiting}`, COMPLETED: `${done}`, FAILED: `${failed}`, DELAYED: `${delayed}` })
    for (const words of ['TypeError: neither', `E_NO: no ${MARKUP}`]) await said(page, words)
    const text = await page.textContent('main')
    assert(text.indexOf('TypeError: neither') < text.indexOf(`E_NO: no ${MARKUP}`), text)
    assert.equal(await page.locator('main b').count(), 0)
  })

  it('shows the jobs of one tenant, whatever its name is', async function () {
    const page = await openQueue('mails', 'failed')
    await page.getByRole('link', { name: MARKUP.replace('%', '％') }).click()
    await page.locator('main a[href*="status=failed"]').click()
    await page.getByText('neither').waitFor({ state: 'detached' })
    await job(page, 1).waitFor()
    assert.deepEqual((await tabs(page)).FAILED, '1')
    assert.equal(await page.getByText('neither').count(), 0)
  })

  it('shows the versions of a job as its logs, and its payload as long as the queue has it', async function () {
    const page = await open(handler, { path: '/jobs/queue/mails/1', until: '[role=tab]' })
    await page.getByRole('tab', { name: 'Logs' }).click()
    await said(page, 'failed, attempt 1')
    const text = await page.textContent('main')
    const lines = history.versions(1).map(({ state, attempt }) => `${state}, attempt ${attempt}`)
    assert.deepEqual(lines, ['waiting, attempt 0', 'running, attempt 1', 'failed, attempt 1'])
    for (const line of lines) assert(text.includes(line), text)
    await page.getByRole('tab', { name: 'Data' }).click()
    await said(page, 'jobData:{number:1}')
  })

  it('retries a dead letter, and removes another one', async function () {
    const page = await openQueue('mails', 'failed')
    await job(page, 1).locator('ul button').first().click()
    await confirmed(page)
    await job(page, 1).waitFor({ state: 'detached' })
    assert.equal(history.get(1).state, 'waiting')
    await job(page, 2).locator('ul button').last().click()
    await confirmed(page)
    await job(page, 2).waitFor({ state: 'detached' })
    assert.deepEqual([await queue.deadLetters(), history.get(2)], [[], undefined])
  })

  it('pauses the queue, and cancels what waits', async function () {
    const page = await openQueue('mails')
    await fromMenu(page, 'Pause')
    await answered(page, 'pause')
    assert.equal(queue.paused, true)
    await fromMenu(page, 'Empty')
    await answered(page, 'empty')
    assert.deepEqual([queue.waiting, history.counts().cancelled], [0, 3])
    await fromMenu(page, 'Resume')
    await answered(page, 'resume')
    assert.equal(queue.paused, false)
  })
})
