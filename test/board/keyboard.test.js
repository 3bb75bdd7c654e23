'use strict'

// The page by the keyboard alone, in both browsers: each of its actions is reached by Tab and done by Enter or Space, the focus is seen at
// each stop on the way, and stays where it was, or near, when the page has been shown again.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { Bench } = require('../durable/bench')
const { describeWithChromium } = require('../support/chromium')
const { describeWithFirefox } = require('../support/firefox')
const gates = require('../support/gates')
const { inChromium, inFirefox, SCREENS } = require('./browsers')
const { example } = require('./example')

const DO_SOMETHING = 'a, button, input, select, summary, pre'

describeWithChromium('the page by the keyboard alone, in Chromium,', () => byKeyboard(inChromium))
describeWithFirefox('the page by the keyboard alone, in Firefox,', () => byKeyboard(inFirefox))

function byKeyboard (inBrowser) {
  const { open } = inBrowser()
  let page, closing

  beforeEach(function () { closing = [] })

  afterEach(async function () {
    for (const queue of closing) await queue.close({ timeoutMs: 0 })
    assert.deepEqual(page.driver.errors, [])
  })

  /** A queue on disk in which something is in each part of the page. */
  async function openExample (options, more) {
    const { queue, metrics, history } = await example()
    closing.push(queue)
    page = await open({ mails: { queue, metrics, history, showPayloads: true, ...more }, other: { queue, metrics, history } }, options)
    return queue
  }

  /** A queue on disk with so many dead letters. */
  async function openDead (count, options) {
    const bench = new Bench()
    const metrics = new Metrics({ name: 'mails' })
    const queue = await bench.open({ scheduler: 'equal', maxAttempts: 1, observers: metrics })
    closing.push(queue)
    for (let i = 0; i < count; i++) {
      await queue.pushType('a', i)
      await bench.gate.until(i + 1)
      const failed = once(queue, 'failed')
      bench.gate.fail(new Error('no'))
      await failed
    }
    queue.pause()
    page = await open({ mails: { queue, metrics, showPayloads: true } }, { until: 'document.getElementById("dead-title").textContent !== "Dead letters"', ...options })
    await page.use(`Dead letters: ${count}`)
    await page.until('document.querySelectorAll("#letters tbody tr").length > 0')
    return queue
  }

  for (const screen of Object.keys(SCREENS)) {
    it(`is reached everywhere by Tab, and backwards, on ${screen}`, async function () {
      await openExample({ screen })
      await page.use('Dead letters: 2')
      await page.until('document.querySelectorAll("#letters tbody tr").length > 0')
      const seen = await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(DO_SOMETHING)})].filter(each => each.getClientRects().length > 0).length`)
      assert(seen > 30, `${seen}`)
      await page.evaluate('void document.querySelector("header button:not([hidden])").focus()')
      for (const key of ['Tab', 'Shift+Tab']) { // there and back: beyond the last one are the buttons of the browser
        await page.evaluate('void document.querySelectorAll("*").forEach(each => { each.isReached = each === document.activeElement })')
        for (let i = 1; i < seen; i++) {
          await page.press(key)
          await page.focused()
          await page.evaluate('void (document.activeElement.isReached = true)')
        }
        const missed = await page.evaluate(`[...document.querySelectorAll(${JSON.stringify(DO_SOMETHING)})]
          .filter(each => each.getClientRects().length > 0 && !each.isReached).map(each => each.outerHTML)`)
        assert.deepEqual(missed, [])
      }
    })

    it(`pauses, resumes, holds and clears a tenant, and sets its cap and its weight, on ${screen}`, async function () {
      const queue = await openExample({ screen })
      await page.use('Pause acme')
      await page.said('pauseType: done')
      assert(queue.isTypePaused('acme'))
      await page.stays('Resume acme')
      await page.press('Space')
      await page.said('resumeType: done')
      assert(!queue.isTypePaused('acme'))
      await page.stays('Pause acme')
      const set = async (field, text, ...keys) => {
        await page.use('Set… acme')
        await page.until('document.getElementById("settings").open')
        await page.stays('hold for this many seconds (0 ends the hold)')
        if (field !== 'hold for this many seconds (0 ends the hold)') await page.reach(field)
        await page.type(text)
        await page.press(...keys)
        await page.until('!document.getElementById("settings").open')
        await page.stays('Set… acme')
        await page.press('Shift+Tab')
      }
      // Enter in a field sets that, and nothing else
      await set('cap (empty: no cap)', '3', 'Enter')
      await page.said('setCap: done')
      assert.deepEqual([queue.scheduler.capOf('acme'), queue.scheduler.weightOf('acme'), queue.heldMs('acme')], [3, 2, 0])
      await set('weight', '5', 'Enter')
      await page.said('setWeight: done')
      assert.deepEqual([queue.scheduler.capOf('acme'), queue.scheduler.weightOf('acme'), queue.heldMs('acme')], [3, 5, 0])
      await set('hold for this many seconds (0 ends the hold)', '30', 'Tab', 'Space')
      await page.said('holdType: done')
      assert.deepEqual([queue.scheduler.capOf('acme'), queue.scheduler.weightOf('acme'), queue.heldMs('acme')], [3, 5, 30000])
      await set('weight', '7', 'Escape')
      assert.equal(queue.scheduler.weightOf('acme'), 5)
      await page.use('Set… acme')
      await page.use('Close')
      await page.stays('Set… acme')
      // what is gone leaves the focus to its row, from which Tab goes on
      await page.reach('Clear acme', 'Shift+Tab')
      await page.press('Enter')
      await page.said('clearType: done')
      assert.deepEqual(page.driver.questions, ['Cancel all waiting jobs of \u2068acme\u2069?'])
      await page.stays('row acme')
      await page.press('Enter', 'Tab')
      await page.stays('Pause acme')
    })
  }

  it('keeps the focus on the button that has it while others come and go beside it', async function () {
    const clock = fakeClock(1000)
    const metrics = new Metrics({ name: 'mails' })
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', concurrency: 1, clock, observers: metrics })
    queue.pushType('a', 1)
    await gate.until(1)
    page = await open(queue, {})
    await page.reach('Set… a')
    queue.pushType('a', 2)
    await page.refresh()
    await page.until('document.querySelectorAll("#types td button").length === 3')
    await page.stays('Set… a')
    await page.press('Shift+Tab')
    await page.stays('Clear a')
    queue.clear()
    await page.refresh()
    await page.stays('row a')
  })

  it('pauses, resumes and holds the queue, and ends that', async function () {
    const queue = fairlane(gates().runner, { concurrency: 1 })
    queue.pause().pushType('a', 1)
    page = await open({ mails: { queue }, other: { queue } }, { until: 'document.title.includes("mails")' })
    await page.use('Resume the queue')
    await page.said('resume: done')
    assert.equal(queue.paused, false)
    await page.stays('Pause the queue')
    await page.press('Space')
    await page.said('pause: done')
    assert.equal(queue.paused, true)
    await page.stays('Resume the queue')
    await page.press('Enter')
    await page.said('resume: done')
    queue.push(1)
    await page.use('Hold it for a minute')
    await page.said('hold: done')
    assert(queue.heldMs() > 50000)
    await page.stays('Hold it for a minute')
    await page.use('End the hold')
    await page.until('document.getElementById("unhold").hidden')
    assert.equal(queue.heldMs(), 0)
    await page.stays('Hold it for a minute')
  })

  it('goes from one queue to the other', async function () {
    await openExample()
    await page.use('other')
    await page.until('document.title.includes("other")')
    await page.stays('other')
    await page.reach('mails', 'Shift+Tab')
    await page.press('Enter')
    await page.until('document.title.includes("mails")')
    await page.stays('mails')
  })

  it('sorts and finds tenants', async function () {
    await openExample()
    await page.reach('Types that contain')
    await page.type('acme')
    await page.until('document.querySelectorAll("#types tbody tr").length === 1')
    await page.stays('Types that contain')
    await page.press('Enter', 'Shift+Tab')
    await page.use('waiting')
    await page.until('document.querySelector("[aria-sort]").textContent === "waiting"')
    await page.stays('waiting')
    await page.press('Space')
    await page.until('document.querySelector("[aria-sort=ascending]") !== null')
  })

  it('sorts tenants on a phone', async function () {
    await openExample({ screen: 'a phone' })
    await page.reach('sorted by')
    await page.press('ArrowDown')
    await page.until('document.getElementById("sort").value === "running"')
    await page.stays('sorted by')
  })

  it('shows the tenants of a group, and all again', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', schedulerOptions: { groupOf: type => type[0] } })
    queue.pause().pushType('a1', 1).pushType('b1', 1)
    page = await open({ mails: { queue } })
    await page.use('Types b')
    await page.until('document.querySelectorAll("#types tbody tr").length === 1')
    assert.equal(await page.focused(), 'Types b')
    await page.reach('Show all types, not only those of b', 'Shift+Tab')
    await page.press('Enter')
    await page.until('document.querySelectorAll("#types tbody tr").length === 2')
    await page.stays('Types that contain')
  })

  it('retries and deletes dead letters, each from where the one before was', async function () {
    const queue = await openDead(4)
    await page.use('Retry job 1')
    await page.said('retryDead: done')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 3')
    await page.stays('row 2')
    await page.press('Enter') // which does nothing there
    page.driver.accepts = false
    await page.use('Delete job 2')
    assert.equal((await queue.deadLetters()).length, 3)
    page.driver.accepts = true
    await page.press('Enter')
    await page.said('deleteDead: done')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 2')
    await page.stays('row 3')
    await page.reach('Delete job 4')
    await page.press('Enter')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 1')
    await page.stays('row 3') // the last one that is left
    await page.use('Delete job 3', 'Space')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 0')
    await page.stays('Show') // which is nearest
    assert.deepEqual([(await queue.deadLetters()).length, page.driver.questions.length], [0, 4])
  })

  it('shows the payload of a dead letter, and comes back to it', async function () {
    await openDead(2)
    await page.use('Payload job 2')
    await page.until('document.getElementById("payload").open')
    await page.stays('1') // which arrow keys scroll
    await page.reach('Close')
    await page.press('Enter')
    await page.stays('Payload job 2')
    await page.press('Space')
    await page.until('document.getElementById("payload").open')
    await page.press('Escape')
    await page.stays('Payload job 2')
  })

  it('finds dead letters, goes through their pages, and does something to all, which it stops', async function () {
    const queue = await openDead(3)
    await page.reach('of the type', 'Tab')
    await page.type('none')
    await page.press('Enter')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 0')
    await page.stays('of the type')
    await page.evaluate('void (document.activeElement.value = "")')
    await page.type('a')
    await page.press('Enter')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 3')
    await page.use('Show those of a with Error: no')
    await page.until('document.getElementById("dead-error").value === "Error: no"')
    await page.stays('Show those of a with Error: no')
    const { deadLetters } = queue
    let left = 401
    queue.deadLetters = async ({ limit, after = 0 }) => {
      return Array.from({ length: Math.min(limit, Math.max(left - after, 0)) }, (_, i) => ({ id: after + i + 1, type: 'a', attempts: 1, error: new Error('no') }))
    }
    page.clock.advance(1000)
    left = 60
    await page.use('Show', 'Enter', 'Shift+Tab')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 50')
    assert.equal(await page.focused(), 'Show')
    await page.use('Next page')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 10')
    await page.stays('First page')
    await page.press('Enter')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 50')
    await page.stays('Next page')
    const waiting = []
    queue.deleteDead = () => new Promise(resolve => waiting.push(resolve))
    left = 201
    await page.reach('Delete all matches', 'Shift+Tab')
    await page.press('Enter')
    await page.until('!document.getElementById("dead-sweep").hidden')
    await page.stays('Delete all matches')
    await page.use('Stop')
    for (const resolve of waiting) resolve(true)
    left = 0
    await page.until('document.getElementById("dead-sweep").hidden')
    await page.until('document.querySelectorAll("#letters tbody tr").length === 0')
    await page.stays('Show')
    queue.deadLetters = deadLetters
  })

  it('cancels a job that runs', async function () {
    await openExample()
    const [first, second] = await page.evaluate('[...document.querySelectorAll("#runs tbody th")].map(cell => cell.textContent)')
    const [, type] = await page.evaluate('[...document.querySelector("#runs tbody tr").cells].map(cell => cell.textContent)')
    await page.use(`Cancel job ${first} of ${type}`)
    await page.said('cancel: done')
    const found = await page.focused()
    assert([`Cancel job ${first} of ${type}`, `row ${first}`, `row ${second}`].includes(found), found)
  })

  it('runs a schedule now, pauses it, and goes on with it', async function () {
    const queue = await openExample()
    await page.use('Run now newsletter')
    await page.said('runSchedule: done')
    await page.stays('Run now newsletter')
    await page.use('Pause newsletter', 'Space')
    await page.said('pauseSchedule: done')
    assert.equal((await queue.listSchedules())[0].paused, true)
    await page.stays('Resume newsletter')
    await page.press('Enter')
    await page.said('resumeSchedule: done')
    assert.equal((await queue.listSchedules())[0].paused, undefined)
    await page.stays('Pause newsletter')
  })
}
