'use strict'

// The page in a real browser.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const express = require('express')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { Bench } = require('../durable/bench')
const { describeWithChromium } = require('../support/chromium')
const { root } = require('../support/child')
const gates = require('../support/gates')
const { PageCoverage } = require('../support/page-coverage')
const { turn } = require('../support/turns')
const { atBroker } = require('./at-broker')
const { atBrowser } = require('./pages')

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>'

describeWithChromium('the page for tenants, in Chromium,', function () {
  const coverage = new PageCoverage(readFileSync(join(root, 'lib/board/client.js'), 'utf8'))
  const { open, serve } = atBrowser(entries => coverage.add(entries))

  /** What the table of types says, as [name, …cells]. */
  function cellsOf (page, table = '#types') {
    return page.$$eval(`${table} tbody tr`, rows => rows.map(row => [...row.cells].map(cell => cell.children.length > 0 ? [...cell.children].map(child => child.textContent) : cell.textContent)))
  }

  const button = (page, name) => page.getByRole('button', { name, exact: true })
  const said = (page, text) => page.waitForFunction(text => document.getElementById('status').textContent.includes(text), text)
  const untilState = (page, nth, text) => page.waitForFunction(([nth, text]) => document.querySelectorAll('#types tbody tr')[nth].cells[10].textContent === text, [nth, text])

  it('shows the shares, waits and counts of the snapshot, and the limits', async function () {
    const { queue, metrics, gate, clock } = observed({ concurrency: 2, schedulerOptions: { weights: { b: 3 }, typeCaps: { a: 1 } } })
    for (const type of 'abbabbbbbb') queue.pushType(type, type)
    await gate.until(2)
    for (const [i, ms] of [1, 30, 700, 2500].entries()) {
      clock.advance(ms)
      gate.release()
      await gate.until(i + 3)
    }
    clock.advance(20000)
    gate.fail(new Error('no'))
    await gate.until(7)
    await assert.rejects(queue.add(1, { type: 'symbol', signal: AbortSignal.abort() }), { code: 'FAIRLANE_ERR_ABORTED' })
    const page = await open(board(queue, { metrics }))
    const { types } = metrics.snapshot()
    const totalMs = types.reduce((sum, { slotMs }) => sum + slotMs, 0)
    const expected = types.sort((a, b) => b.slotMs - a.slotMs).map(({ type, slotMs, running, waiting, waitMs, done, failed }) => [
      type, `${(slotMs / totalMs * 100).toFixed(1)} %`, `${running}`, `${waiting}`, shownTime(waitMs.p50), shownTime(waitMs.p99), type === 'a' ? '1' : '2', type === 'b' ? '3' : '1',
      `${done}`, `${failed}`, '', waiting > 0 ? ['Pause', 'Clear'] : ['Pause']
    ])
    assert.deepEqual(await cellsOf(page), expected)
    assert.deepEqual(await page.$$eval('#types tbody tr', rows => rows.map(row => row.cells[0].style.getPropertyValue('--share'))), types.map(({ slotMs }) => `${slotMs / totalMs * 100}%`))
    assert.equal(await page.title(), 'mails – fairlane')
    assert.match(await page.textContent('#numbers'), /^running2 of 2 slotswaiting3delayed0refused1/)
  })

  it('pauses and resumes a type by its button', async function () {
    const { queue, metrics } = observed()
    queue.pushType('tenant-a', 1).pushType('tenant-b', 1)
    const page = await open(board(queue, { metrics }))
    await button(page, 'Pause tenant-b').click()
    await button(page, 'Resume tenant-b').waitFor()
    assert.deepEqual([queue.isTypePaused('tenant-a'), queue.isTypePaused('tenant-b')], [false, true])
    await untilState(page, 1, 'paused')
    await button(page, 'Resume tenant-b').click()
    await button(page, 'Pause tenant-b').waitFor()
    assert.equal(queue.isTypePaused('tenant-b'), false)
  })

  it('pauses and resumes the queue, and cancels what waits of a type if that is confirmed', async function () {
    const { queue, metrics } = observed()
    queue.pause()
    queue.pushType('tenant-a', 1).pushType('tenant-a', 2)
    const page = await open(board(queue, { metrics }))
    const questions = []
    page.on('dialog', dialog => {
      questions.push(dialog.message())
      return questions.length === 1 ? dialog.dismiss() : dialog.accept()
    })
    await button(page, 'Clear tenant-a').click()
    assert.equal(queue.waiting, 2)
    await button(page, 'Clear tenant-a').click()
    await said(page, 'clearType: done')
    assert.deepEqual([queue.waiting, questions], [0, Array(2).fill('Cancel all waiting jobs of tenant-a?')])
    await button(page, 'Resume the queue').click()
    await button(page, 'Pause the queue').waitFor()
    assert.equal(queue.paused, false)
    await button(page, 'Pause the queue').click()
    await button(page, 'Resume the queue').waitFor()
    assert.equal(queue.paused, true)
  })

  it('retries and deletes a dead letter by its button, and shows the newest failures', async function () {
    const bench = new Bench()
    const [metrics, history] = [new Metrics(), new History()]
    const queue = await bench.open({ scheduler: 'equal', maxAttempts: 1, observers: [metrics, history] })
    for (let i = 1; i <= 3; i++) {
      await queue.pushType('a', i)
      await bench.gate.until(i)
      const failed = once(queue, 'failed')
      bench.gate.fail(new TypeError(MARKUP))
      await failed
    }
    const page = await open(board(queue, { metrics, history }))
    page.on('dialog', dialog => dialog.accept())
    const row = id => [String(id), 'a', '1', `TypeError: ${MARKUP}`, ['Retry', 'Delete']]
    assert.deepEqual(await cellsOf(page, '#dead'), [row(1), row(2), row(3)])
    assert.deepEqual((await cellsOf(page, '#failures')).map(([id, , , , error]) => [id, error]), [3, 2, 1].map(id => [String(id), `TypeError: ${MARKUP}`]))
    await button(page, 'Retry job 1').click()
    await bench.gate.until(4)
    assert.equal(bench.gate.started[3].context.id, 1)
    await button(page, 'Retry job 1').waitFor({ state: 'detached' })
    await button(page, 'Delete job 3').click()
    await button(page, 'Delete job 3').waitFor({ state: 'detached' })
    assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [2])
    await queue.deleteDead(2)
    await button(page, 'Retry job 2').click()
    await said(page, 'retryDead: the job is not there any more')
    assert.equal(await page.isHidden('#dead'), true)
    await queue.close({ timeoutMs: 0 })
  })

  it('shows the names of tenants and queues as text, whatever they are', async function () {
    const { queue, metrics } = observed()
    const names = [MARKUP, '</script><script>document.title=1</script>', '__proto__', 'constructor', '"\'`$\\', 'a\nb', '\u202Ereverse', 'x'.repeat(10000)]
    for (const name of names) queue.pause().pushType(name, 1)
    const page = await open(board({ [MARKUP]: { queue, metrics }, 'a & b': { queue, metrics } }))
    const shown = await page.$$eval('#types tbody th', cells => cells.map(cell => [cell.textContent, cell.children.length]))
    assert.deepEqual(shown.sort(), names.map(name => [name.slice(0, 128), 0]).sort())
    assert.deepEqual(await page.$$eval('#names a', links => links.map(link => link.textContent)), [MARKUP, 'a & b'])
    assert.equal(await page.$$eval('img, main script', found => found.length), 0)
    assert.equal(await page.title(), `${MARKUP} – fairlane`)
    await button(page, `Pause ${MARKUP}`).click()
    await button(page, `Resume ${MARKUP}`).waitFor()
    assert(queue.isTypePaused(MARKUP))
  })

  for (const colorScheme of ['light', 'dark']) {
    it(`is ${colorScheme} for who wants that, and easy to read`, async function () {
      const { queue, metrics } = observed()
      queue.pause().pushType('a', 1)
      const page = await open(board(queue, { metrics }), { colorScheme })
      const back = luminance(await page.$eval('body', body => window.getComputedStyle(body).backgroundColor))
      assert.equal(back < 0.5, colorScheme === 'dark')
      for (const selector of ['body', 'caption', 'thead th', 'button', 'input', '#status']) {
        const text = luminance(await page.$eval(selector, element => window.getComputedStyle(element).color))
        const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05)
        assert(contrast >= 4.5, `${selector}: ${contrast}`)
      }
    })
  }

  it('shows 200 types on the width of a phone, each with the names of its numbers', async function () {
    const { queue, metrics } = observed({ concurrency: 1000 }, { maxTypes: 300 })
    for (let i = 0; i < 220; i++) queue.pushType(i % 2 ? `tenant-${i}-${'long'.repeat(20)}` : `tenant-${i}`, i)
    const page = await open(board(queue, { metrics }), { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    const { rows, width, view } = await page.evaluate(() => ({
      rows: document.querySelectorAll('#types tbody tr').length, width: document.documentElement.scrollWidth, view: window.innerWidth
    }))
    assert.deepEqual([rows, width, view], [200, 360, 360])
    assert.equal(await page.textContent('#types caption'), 'Types by their share of the slot time: 200 of 220')
    const boxes = await page.$$eval('#types tbody tr:first-child td', cells => cells.filter(cell => cell.textContent !== '').map(cell => {
      const { left, right } = cell.getBoundingClientRect()
      return [window.getComputedStyle(cell, '::before').content, left >= 0 && right <= 360]
    }))
    assert.deepEqual(boxes, ['share', 'running', 'waiting', 'wait p50', 'wait p99', 'cap', 'weight', 'done', 'failed', 'actions'].map(name => [`"${name}"`, true]))
    await button(page, 'Pause tenant-0').tap()
    await button(page, 'Resume tenant-0').waitFor()
  })

  it('finds a type that is not among the first', async function () {
    const { queue, metrics, clock, gate } = observed({ concurrency: 1000 }, { maxTypes: 300 })
    for (let i = 0; i < 220; i++) queue.pushType(`tenant-${i}`, i)
    await gate.until(220)
    for (let i = 0; i < 220; i++) {
      clock.advance(1)
      gate.release()
    }
    const page = await open(board(queue, { metrics }))
    assert.equal(await button(page, 'Pause tenant-7').count(), 0)
    await page.getByLabel('Types that contain').fill('ANT-7')
    await button(page, 'Pause tenant-7').waitFor()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 11)
    await page.keyboard.press('Enter')
    assert.equal(await page.textContent('#types caption'), 'Types by their share of the slot time: 11')
  })

  it('asks again every two seconds, keeps the focus where it was though rows change their places, and rests while it is hidden', async function () {
    const { queue, metrics, clock, gate } = observed({ concurrency: 2 })
    for (const type of ['a', 'b']) queue.pushType(type, 1)
    await gate.until(2)
    clock.advance(1)
    gate.release()
    let asked = 0
    const handler = board(queue, { metrics })
    const page = await open((request, response) => {
      asked++
      handler(request, response)
    }, { own: true })
    await page.clock.install()
    await page.reload()
    await button(page, 'Pause a').waitFor()
    await button(page, 'Pause b').focus()
    clock.advance(1)
    gate.release()
    queue.pushType('c', 1)
    await page.clock.runFor(2000)
    await button(page, 'Pause c').waitFor()
    assert.deepEqual((await cellsOf(page)).map(([type]) => type), ['b', 'a', 'c'])
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Pause b')
    const hide = isHidden => page.evaluate(isHidden => {
      Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)
    await hide(true)
    const before = asked
    await page.clock.runFor(60000)
    assert.equal(asked, before)
    queue.pushType('d', 1)
    await hide(false)
    await button(page, 'Pause d').waitFor()
  })

  it('tells if there is no answer, or none of its own, and goes on when there is one again', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const handler = board(queue, { metrics })
    let isOut = false
    const page = await open((request, response) => {
      if (isOut) response.writeHead(200, { 'content-type': 'text/html' }).end('log in')
      else handler(request, response)
    })
    isOut = true
    await page.getByLabel('Types that contain').fill('a')
    await said(page, 'the server answered 200, and no JSON')
    await button(page, 'Pause a').click()
    await said(page, 'pauseType: the server answered 200, and no JSON')
    assert.equal(queue.isTypePaused('a'), false)
    isOut = false
    await page.getByLabel('Types that contain').fill('')
    await page.waitForFunction(() => document.getElementById('status').textContent === '')
    // an answer that comes too late is nobody's
    await page.evaluate(() => {
      const { fetch } = window
      let first = true
      window.fetch = async (...args) => {
        const response = await fetch(...args)
        if (!first) return response
        first = false
        await new Promise(resolve => { window.answerFirst = resolve })
        if (window.failFirst) throw new Error('too late')
        return response
      }
    })
    for (const fails of [false, true]) {
      await page.evaluate(fails => { window.failFirst = fails }, fails)
      await page.getByLabel('Types that contain').fill('none')
      await page.waitForFunction(() => window.answerFirst !== undefined)
      await page.getByLabel('Types that contain').fill('a')
      await button(page, 'Pause a').waitFor()
      await page.evaluate(() => { window.answerFirst() })
    }
    assert.deepEqual((await cellsOf(page)).map(([type]) => type), ['a'])
  })

  it('shows what the server refuses', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const page = await open(board(queue, { metrics }))
    queue.pauseType = () => { throw Object.assign(new TypeError('not now'), { code: 'FAIRLANE_ERR_TYPE' }) }
    await button(page, 'Pause a').click()
    await said(page, 'pauseType: not now')
    assert.match(page.errors.splice(0).join(), /^Failed to load resource: .* 400 \(Bad Request\)$/)
  })

  it('shows several queues, each at an address of its own, and says if one cannot be read', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const away = { snapshot () { throw new Error('away') } }
    const page = await open(board({ mails: { queue, metrics }, 'im/ages?': { queue, metrics, readOnly: true }, broken: { queue, metrics: away } }))
    await page.getByRole('link', { name: 'im/ages?' }).click()
    await page.waitForFunction(() => document.title === 'im/ages? – fairlane')
    assert.equal(new URL(page.url()).hash, '#im%2Fages%3F')
    assert.equal(await page.textContent('[aria-current]'), 'im/ages?')
    // it is read-only
    assert.equal(await page.locator('button:visible').count(), 0)
    await page.getByRole('link', { name: 'broken' }).click()
    await said(page, 'away')
    assert.equal(await page.isVisible('main'), false)
    await page.getByRole('link', { name: 'mails' }).click()
    await button(page, 'Pause a').waitFor()
    await page.evaluate(() => { window.location.hash = '#%' })
    await said(page, 'URI malformed')
  })

  it('says which queue does not answer, shows what it knew of it, and the others', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const clock = fakeClock()
    const asked = []
    let isAway = true
    const hanging = atBroker({
      types: () => isAway ? new Promise(resolve => asked.push(resolve)) : Promise.resolve([{ type: 'b', waiting: 1, delayed: 0, running: 0, dead: 0 }])
    })
    const paths = []
    const handler = handlerOf(readQueues([{ hanging: { queue: hanging }, mails: { queue, metrics } }]), clock)
    const opening = open((request, response) => {
      paths.push(request.url)
      handler(request, response)
    }, { until: '#names a' })
    while (asked.length === 0) await turn()
    clock.advance(5000)
    const page = await opening
    await said(page, 'hanging: The queue has not answered for 5 s.')
    assert.equal(await page.isVisible('main'), false)
    await page.getByRole('link', { name: 'mails' }).click()
    await button(page, 'Pause a').waitFor()
    assert.equal(paths.at(-1), '/state?filter=&queue=mails')
    isAway = false
    asked.pop()([])
    await page.evaluate(() => { window.location.hash = '' })
    await button(page, 'Pause b').waitFor()
    assert.equal(paths.at(-1), '/state?filter=&queue=hanging')
    isAway = true
    await page.getByLabel('Types that contain').fill('b')
    while (asked.length === 0) await turn()
    clock.advance(5000)
    await said(page, 'hanging: The queue has not answered for 5 s.')
    assert.equal(await button(page, 'Pause b').isVisible(), true)
  })

  it('shows a queue at a broker, and pauses a type in all processes', async function () {
    const calls = []
    let paused = false
    const starving = Array.from({ length: 22 }, (_, i) => ({ type: i === 0 ? '' : `t${i}`, sinceMs: 5 }))
    const queue = {
      closed: true,
      concurrency: Infinity,
      scheduler: null,
      ...Object.fromEntries(['pushType', 'pause', 'resume', 'resumeGlobal'].map(name => [name, () => {}])),
      async pauseGlobal (type) {
        calls.push(type)
        paused = true
      },
      types: async () => [{ type: '', waiting: 1234, delayed: 0, running: 1, dead: 0 }],
      counts: async type => type === undefined
        ? { waiting: 1234, delayed: 5, running: 1, dead: 0, types: 1 }
        : { cap: 3, rate: { limit: 1000, intervalMs: 120000 }, paused }
    }
    const page = await open(board(queue, { metrics: { snapshot: () => ({ types: [], refused: {}, name: 'mails', fairness: 0.98765, starving }) } }))
    assert.deepEqual(await cellsOf(page), [['(none)', '0.0 %', '1', '1,234', '–', '–', '3', '–', '0', '0', 'starving, 1,000 in 2 min', ['Pause']]])
    assert.equal(await page.textContent('#numbers'), 'running1 of ∞ slotswaiting1,234delayed5dead letters0refused0fairness0.988' +
      `starving${starving.slice(0, 20).map(({ type }) => type).join(', ')}, … (22 types)stateclosed`)
    await button(page, 'Pause').click()
    starving.length = 1
    await untilState(page, 0, 'paused, starving, 1,000 in 2 min')
    assert.deepEqual(calls, [''])
  })

  it('works where express has it, with a slash at its end and without', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const app = express().use(express.json()).use('/admin/board', board(queue, { metrics }))
    for (const path of ['/admin/board', '/admin/board/']) {
      const page = await open(app, { path })
      await button(page, 'Pause a').click()
      await button(page, 'Resume a').click()
      await button(page, 'Pause a').waitFor()
    }
  })

  it('does nothing for the page of another site, nor within one', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const handler = board(queue, { metrics })
    const answers = []
    const origin = await serve((request, response) => {
      if (request.url === '/act') response.once('finish', () => answers.push([request.method, response.statusCode]))
      handler(request, response)
    })
    const page = await open((request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<link rel=icon href=data:,><p id=evil>'), { until: '#evil' })
    const body = JSON.stringify({ action: 'resume' })
    // another name of this machine is another site
    const target = origin.replace('127.0.0.1', 'localhost')
    const outcomes = await page.evaluate(async ([target, body]) => {
      const tell = promise => promise.then(({ type }) => type, err => err.name)
      return [
        await tell(fetch(`${target}/act`, { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body })),
        await tell(fetch(`${target}/act`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })),
        await tell(fetch(`${target}/state`))
      ]
    }, [target, body])
    assert.deepEqual(outcomes, ['TypeError', 'TypeError', 'TypeError'])
    await page.setContent(`<iframe src="${target}/"></iframe><form method=post enctype=text/plain action="${target}/act"><input name='{"action":"resume","x":"' value='"}'><button>Win</button></form>`)
    await page.waitForFunction(() => window.frames.length === 1)
    await page.click('button')
    await page.waitForURL(`${target}/act`)
    assert.deepEqual(answers, [['POST', 403], ['OPTIONS', 405], ['POST', 403]])
    assert.equal(queue.paused, true)
    assert.match(page.errors.splice(0).join('\n'), /frame-ancestors 'none'/)
  })

  it('has nothing in its script that none of these tests has run', function () {
    assert.deepEqual(coverage.missing(), [])
  })

  /** A queue with metrics, on a clock that stands. */
  function observed (options, metricsOptions) {
    const metrics = new Metrics({ name: 'mails', ...metricsOptions })
    const [gate, clock] = [gates(), fakeClock(1000)]
    return { queue: fairlane(gate.runner, { scheduler: 'equal', clock, ...options, observers: metrics }), metrics, gate, clock }
  }
})

/** As the page has it. */
function shownTime (ms) {
  const [unit, unitMs] = [['min', 60000], ['s', 1000], ['ms', 1]].find(([, least]) => ms >= least || least === 1)
  return `${Number((ms / unitMs).toPrecision(3))} ${unit}`
}

/** Relative luminance, as WCAG 2 has it, of `rgb(r, g, b)`. */
function luminance (color) {
  const [r, g, b] = color.match(/\d+/g).map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
