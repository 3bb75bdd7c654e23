'use strict'

// What the page makes of the answers, where one small thing that is wrong would not be seen elsewhere.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { fakeClock } = require('../../lib/testing')
const { describeWithChromium } = require('../support/chromium')
const gates = require('../support/gates')
const { turn } = require('../support/turns')
const { atBroker, ranked } = require('./at-broker')
const { atBrowser } = require('./pages')

describeWithChromium('the page, in small things,', function () {
  const { open } = atBrowser()

  const cellsOf = (page, table) => page.$$eval(`${table} tbody tr`, rows => rows.map(row => Array.from(row.cells, cell => cell.textContent)))
  const said = (page, text) => page.waitForFunction(text => document.getElementById('status').textContent.includes(text), text)
  const isBad = page => page.$eval('#status', status => status.classList.contains('bad'))
  const press = (page, name) => page.getByRole('button', { name, exact: true }).click()

  /** A queue in memory of which metrics say what the test says. */
  function told (rows, more, options) {
    const queue = fairlane(gates().runner, { scheduler: 'equal', ...options })
    const shown = { rows, more, timeline: [] }
    return { queue, shown, metrics: { snapshot: () => ranked(shown.rows, { ...shown.more, timeline: shown.timeline }) } }
  }

  /** A page that is shown anew when the test says so. */
  function renewed (queues) {
    const clock = fakeClock()
    const renew = async page => {
      clock.advance(1000)
      const answered = page.waitForResponse(/state/)
      await page.evaluate(() => { window.dispatchEvent(new Event('hashchange')) })
      await answered
      await page.evaluate(() => new Promise(resolve => setTimeout(resolve)))
    }
    return { handler: handlerOf(readQueues([queues]), clock), renew, clock }
  }

  it('says times in the unit that is next, and rounds those to come', async function () {
    const times = { 999: '999 ms', 1000: '1 s', 59900: '59.9 s', 60000: '1 min', 3594000: '59.9 min', 3600000: '1 h' }
    const rows = Object.keys(times).map((ms, i) => ({ type: ms, share: 1 - i / 10, oldestWaitMs: Number(ms), waiting: 1 }))
    const { queue, metrics } = told(rows)
    queue.explain = () => ({ because: 'rate', untilMs: 12600 })
    const page = await open(board(queue, { metrics }))
    assert.deepEqual((await cellsOf(page, '#types')).map(cells => [cells[6], cells[12]]), Object.values(times).map(text => [text, 'rate: next start in 13 s']))
  })

  it('takes back what it has said, and changes nothing that has not changed', async function () {
    const starving = [{ type: 'a', sinceMs: 1000 }]
    const { queue, shown, metrics } = told([{ type: 'a', waiting: 2 }], { totals: { oldestWaitMs: 2500 }, starving })
    queue.explain = () => ({ because: 'hold', untilMs: 1000 })
    const { handler, renew } = renewed({ mails: { queue, metrics } })
    const page = await open(handler)
    assert.equal(await page.$$eval('#findings li', items => items.length), 2)
    assert.match(await page.textContent('#numbers'), /oldest wait2\.5 s/)
    const visible = ['names', 'grouped', 'pause', 'resume', 'hold', 'unhold'].map(id => page.isVisible(`#${id}`))
    assert.deepEqual(await Promise.all(visible), [false, false, true, false, true, false]) // a type is held, not the queue
    await page.evaluate(() => {
      window.changes = []
      const observer = new window.MutationObserver(found => window.changes.push(...found))
      observer.observe(document.body, { childList: true, characterData: true, subtree: true })
    })
    await renew(page)
    assert.equal(await page.evaluate(() => window.changes.length), 0)
    queue.explain = () => ({ because: 'starting', untilMs: 0 })
    shown.more = {}
    await renew(page)
    assert.equal(await page.textContent('#findings'), 'Nothing stands out.')
    assert.doesNotMatch(await page.textContent('#numbers'), /oldest wait|undefined/)
    queue.pause()
    await renew(page)
    assert.deepEqual([await page.isVisible('#pause'), await page.isVisible('#resume')], [false, true])
    queue.pauseType('a')
    queue.explain = () => ({ because: 'paused' })
    await renew(page)
    assert.equal((await cellsOf(page, '#types'))[0][12], 'the queue is paused')
  })

  it('does what is pressed to the queue that is shown', async function () {
    const [one, other] = [told([{ type: 'a' }]), told([{ type: 'b' }])]
    const shown = Object.entries({ one, other }).map(([name, { queue, metrics }]) => [name, { queue, metrics }])
    const page = await open(board(Object.fromEntries(shown)))
    await page.getByRole('link', { name: 'other' }).click()
    await page.waitForFunction(() => document.querySelector('#types tbody th').textContent === 'b')
    await press(page, 'Pause the queue')
    await said(page, 'pause: done')
    assert.deepEqual([one.queue.paused, other.queue.paused], [false, true])
  })

  it('sorts groups from A on at first', async function () {
    const { queue, metrics } = told([{ type: 'a', group: 'y', share: 1 }, { type: 'b', group: 'x' }])
    const page = await open(board(queue, { metrics }))
    await page.locator('#types thead').getByRole('button', { name: 'group' }).click()
    await page.waitForFunction(() => document.querySelector('#types tbody th').textContent === 'b')
    assert.equal(await page.getAttribute('#types th.group', 'aria-sort'), 'ascending')
  })

  it('has fields for what can be set only, and sets a cap of nothing', async function () {
    const { queue, metrics } = told([{ type: 'a' }], {}, { schedulerOptions: { weights: () => 2 } })
    const page = await open(board(queue, { metrics }))
    await page.getByRole('button', { name: /^Set…/ }).click()
    assert.deepEqual(await page.$$eval('#settings input', inputs => inputs.map(({ name }) => name)), ['holdType', 'setCap'])
    await page.locator('#setCap').fill('0')
    await press(page, 'Set the cap')
    await said(page, 'setCap: done')
    assert.equal(queue.scheduler.capOf('a'), 0)
    const scheduler = { queued () {}, next () {}, started () {}, ended () {} }
    const plain = told([{ type: 'a', waiting: 1 }], {}, { scheduler })
    const { metrics: others } = plain
    const second = await open(board(plain.queue, { metrics: others }), { own: true })
    assert.deepEqual(await second.$$eval('#types td button', buttons => buttons.map(button => button.textContent)), ['Clear'])
  })

  it('says that nothing was to be cancelled as what is done', async function () {
    const { queue, metrics } = told([{ type: 'a', waiting: 1 }])
    const page = await open(board(queue, { metrics }))
    page.on('dialog', dialog => dialog.accept())
    await page.getByRole('button', { name: /^Clear/ }).click()
    await said(page, 'clearType: done')
    assert.equal(await isBad(page), false)
  })

  it('shows of what runs since when, and for how long', async function () {
    const { queue, metrics } = told([{ type: 'a' }])
    const now = Date.now()
    const lists = {
      running: [{ id: 1, type: 'a', attempts: 1, startedAt: now - 65000 }, { id: 2, type: 'a', attempts: 1, startedAt: now + 600000 }],
      failed: [{ id: 3, type: 'a', attempts: 1, endedAt: Date.UTC(2026, 0, 2, 3, 4, 5), error: 'no' }]
    }
    queue.stats = () => ({ waiting: 0, running: 7, delayed: 0, overdue: 0 })
    const page = await open(board(queue, { metrics, history: { list: ({ state }) => lists[state] } }))
    assert.equal(await page.textContent('#runs caption'), 'Longest-running first: 2 of 7')
    const [first, second] = await cellsOf(page, '#runs')
    assert.match(first[2], /^\d\d:\d\d:\d\d$/)
    assert.match(first[3], /^1\.(0[89]|1\d*) min$/)
    assert.equal(second[3], '0 ms') // by a clock that goes before
    assert.equal((await cellsOf(page, '#failures'))[0][2], '02/01/2026, 03:04:05')
  })

  it('tells runners that are overdue once: each, where that is known, or else their number', async function () {
    const { queue, metrics } = told([{ type: 'a', overdue: 2 }], { totals: { overdue: 2 } })
    queue.stats = () => ({ waiting: 0, running: 3, delayed: 0, overdue: 2 })
    const page = await open(board(queue, { metrics }))
    assert.equal(await page.textContent('#runs caption'), '3 running; give the board a history to list them')
    const types = [{ type: 'a', waiting: 0, delayed: 0, running: 1, dead: 0 }]
    const listRunning = async () => [{ id: '1:a', type: 'a', attempt: 1, startedAt: 1, overdue: true }]
    const second = await open(board(atBroker({ types, listRunning }), { metrics }))
    assert.deepEqual((await cellsOf(second, '#runs')).map(([id]) => id), ['1:a'])
  })

  it('counts those runners among what it shows of what runs', async function () {
    const { queue, metrics } = told([{ type: 'a', overdue: 2 }, { type: 'b', overdue: 1 }], { totals: { overdue: 3 } })
    queue.stats = () => ({ waiting: 0, running: 4, delayed: 0, overdue: 3 })
    const list = ({ state }) => state === 'running' ? [{ id: 1, type: 'a', attempts: 1, startedAt: Date.now() }] : []
    const page = await open(board(queue, { metrics, history: { list } }))
    assert.equal(await page.textContent('#runs caption'), 'Longest-running first: 4 of 4')
  })

  it('says of most attempts that they fail', async function () {
    const rows = [{ type: 'a', failed: 1000, retried: 200 }, { type: 'b', done: 10, failed: 1 }]
    const { queue, shown, metrics } = told(rows, { totals: { done: 10, failed: 1001, retried: 200 } })
    const { handler, renew } = renewed({ mails: { queue, metrics } })
    const page = await open(handler)
    const sentence = '1,201 of the 1,211 attempts that ended in the last minute have failed: a 1,200 of 1,200, b 1 of 11.'
    assert.equal(await page.textContent('#findings'), sentence)
    Object.assign(shown, { rows: [], more: { totals: { failed: 10 } } })
    await renew(page)
    assert.equal(await page.textContent('#findings'), '10 of the 10 attempts that ended in the last minute have failed.')
  })

  it('does not say of how many slots while the queue is paused', async function () {
    const { queue, shown, metrics } = told([{ type: 'a' }])
    shown.timeline = [{ at: Date.now(), ms: 10000, done: 1, failed: 0, slotsHeld: 2, waiting: 0 }]
    const { handler, renew } = renewed({ mails: { queue, metrics } })
    const slots = async page => [await page.textContent('#numbers dd'), await page.textContent('#slots output')]
    const page = await open(handler)
    assert.deepEqual(await slots(page), ['0 of 10', '2 of 10 slots are held; at most 2'])
    queue.concurrency = Infinity
    await renew(page)
    assert.deepEqual(await slots(page), ['0 of ∞', '2 of ∞ slots are held; at most 2'])
    queue.pause()
    await renew(page)
    assert.deepEqual(await slots(page), ['0', '2 slots are held; at most 2'])
    assert.match(await page.textContent('#numbers'), /^running0waiting/)
  })

  it('has no bar for a tenant whose share nobody knows', async function () {
    const page = await open(board(atBroker({ types: [{ type: 'a', waiting: 1, delayed: 0, running: 0, dead: 0 }] })))
    assert.equal(await page.$eval('#types tbody th', head => head.style.getPropertyValue('--share')), '0%')
  })

  it('draws no gap between buckets that follow each other closely', async function () {
    const { queue, shown, metrics } = told([{ type: 'a' }])
    const bucket = at => ({ at, ms: 10000, done: 1, failed: 0, slotsHeld: 0, waiting: 0 })
    shown.timeline = [bucket(Date.now() - 20000), bucket(Date.now() - 9000)]
    const page = await open(board(queue, { metrics }))
    assert.equal((await page.getAttribute('#throughput path', 'd')).match(/[ML]/g).length, 4)
  })

  it('goes on to ask when there was no answer, and says in red that there was none', async function () {
    const { queue, metrics } = told([{ type: 'a' }])
    const handler = board(queue, { metrics })
    let isOut = false
    const page = await open((request, response) => {
      if (isOut) response.writeHead(200, { 'content-type': 'text/html' }).end('log in')
      else handler(request, response)
    }, { own: true })
    await page.clock.install()
    await page.reload()
    await page.waitForSelector('#types tbody tr')
    isOut = true
    await page.clock.runFor(2000)
    await said(page, 'but not with JSON')
    assert.equal(await isBad(page), true)
    isOut = false
    await page.clock.runFor(2000)
    await page.waitForFunction(() => document.getElementById('status').textContent === '')
    assert.equal(await isBad(page), false)
  })

  describe('of dead letters,', function () {
    const letterOf = id => ({ id: `${id}:a`, type: 'a', attempts: 1, at: 1, error: new Error(id % 2 ? 'odd' : 'even') })
    const openDead = page => page.getByText(/^Dead letters: /).click()

    /** A queue at a broker that has so many. */
    function withDead (count, more) {
      const letters = Array.from({ length: count }, (_, i) => letterOf(i + 1))
      return atBroker({
        types: [{ type: 'a', waiting: 0, delayed: 0, running: 0, dead: count }],
        deadLetters: async ({ limit, after }) => {
          const from = after === undefined ? 0 : letters.findIndex(({ id }) => id === after) + 1
          return letters.slice(from, from + limit)
        },
        ...more
      })
    }

    it('deletes one if that is confirmed, and all that match of one error, by name', async function () {
      const deleted = []
      const page = await open(board({ mails: { queue: withDead(3, { deleteDead: async id => { deleted.push(id); return true } }) } }))
      const questions = []
      page.on('dialog', dialog => {
        questions.push(dialog.message())
        return questions.length < 3 ? dialog.dismiss() : dialog.accept()
      })
      await openDead(page)
      await press(page, 'Delete job 1:a')
      await press(page, 'Delete all matches')
      assert.deepEqual(deleted, [])
      assert.equal(await page.isVisible('#dead-more'), false)
      await page.getByLabel('with this in the error').fill('even')
      await page.getByLabel('with this in the error').press('Enter')
      await page.waitForFunction(() => document.querySelectorAll('#letters tbody tr').length === 1)
      await press(page, 'Delete all matches')
      await said(page, 'deleteDeadOf: 1 done')
      assert.deepEqual(deleted, ['2:a'])
      assert.deepEqual(questions, ['Delete job 1:a for good?', 'Delete all dead letters?', 'Delete all dead letters with “even” in the error?'])
    })

    it('says how far it has come, by those that could not be, too, and in red by what it ends', async function () {
      const waiting = []
      const deleteDead = id => {
        const number = parseInt(id)
        return number <= 200 ? Promise.resolve(number <= 100) : new Promise((resolve, reject) => waiting.push(reject))
      }
      const page = await open(board({ mails: { queue: withDead(401, { deleteDead }) } }))
      page.on('dialog', dialog => dialog.accept())
      await openDead(page)
      await page.getByText('Oldest first: 50 of 401').waitFor()
      const { now } = performance
      let ms = 0
      performance.now = () => (ms += 1100) // each call is a piece of its own
      try {
        await press(page, 'Delete all matches')
        while (waiting.length < 200) await turn()
        await page.getByText('100 done').waitFor()
        assert.deepEqual(await page.$eval('#dead-progress', ({ value, max }) => [value, max]), [200, 401])
        for (const reject of waiting) reject(new Error('out'))
        await said(page, 'deleteDeadOf: 100 done, then it failed: out')
        assert.equal(await isBad(page), true)
      } finally {
        performance.now = now
      }
      page.errors.length = 0
    })
  })
})
