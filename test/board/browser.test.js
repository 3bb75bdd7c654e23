'use strict'

// The page in a real browser.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const express = require('express')
const fairlane = require('../..')
const { board } = require('../../lib/board')
const { handlerOf } = require('../../lib/board/board')
const { readQueues } = require('../../lib/board/options')
const { SCRIPT } = require('../../lib/board/page')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { fakeClock } = require('../../lib/testing')
const { Bench } = require('../durable/bench')
const { describeWithChromium } = require('../support/chromium')
const gates = require('../support/gates')
const { PageCoverage } = require('../support/page-coverage')
const { turn } = require('../support/turns')
const { atBroker, ranked } = require('./at-broker')
const { atBrowser } = require('./pages')

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>'

describeWithChromium('the page for tenants, in Chromium,', function () {
  const coverage = new PageCoverage(SCRIPT)
  const { open, serve } = atBrowser(entries => coverage.add(entries))

  /** What a table says, as [name, …cells]; of cells with buttons, what is on these. */
  function cellsOf (page, table = '#types') {
    return page.$$eval(`${table} tbody tr`, rows => rows.map(row => [...row.cells].map(cell => {
      const buttons = [...cell.querySelectorAll('button')].map(button => button.textContent)
      return buttons.length > 0 ? buttons : cell.textContent
    })))
  }

  const names = async (page, table) => (await cellsOf(page, table)).map(([name]) => name)
  const isolated = name => `\u2068${name}\u2069`
  /** By what is on it, and what it is about, if that is a name. */
  const button = (page, name, of) => page.getByRole('button', { name: of === undefined ? name : `${name} ${isolated(of)}`, exact: true })
  const said = (page, text) => page.waitForFunction(text => document.getElementById('status').textContent.includes(text), text)
  const untilState = (page, nth, text) => page.waitForFunction(([nth, text]) => document.querySelectorAll('#types tbody tr')[nth].cells[12].textContent === text, [nth, text])

  it('shows shares, counts and limits of types, and why they wait', async function () {
    const reasons = {
      a: { because: 'slots', holders: [{ type: 'b', running: 1 }, { type: 'a', running: 1 }] },
      b: { because: 'cap' },
      c: { because: 'rate', untilMs: 12345 },
      d: { because: 'backoff' },
      e: { because: 'what comes some day' }
    }
    const rows = [
      { type: 'a', share: 0.5, running: 1, waiting: 1234, oldestWaitMs: 2500, done: 7, failed: 1, retried: 2 },
      { type: 'b', share: 0.25, running: 3, overdue: 1, waiting: 1, oldestWaitMs: 90000 },
      { type: 'c', share: 0.125, waiting: 2, oldestWaitMs: 7200000 }, { type: 'd', share: 0.0625, waiting: 1 }, { type: 'e', waiting: 1 }
    ]
    const { queue } = observed({ concurrency: 2, schedulerOptions: { weights: { b: 3 }, typeCaps: { a: 1 } } })
    queue.explain = type => reasons[type]
    const page = await open(board(queue, { metrics: { snapshot: () => ranked(rows) } }))
    assert.deepEqual(await cellsOf(page), [
      ['a', '', '50.0 %', '1', '0', '1,234', '2.5 s', '7', '1', '2', '1', '1', 'all slots are taken: b 1, a 1', ['Pause', 'Clear', 'Set…']],
      ['b', '', '25.0 %', '3', '1', '1', '1.5 min', '0', '0', '0', '2', '3', 'at its cap of 3 slots', ['Pause', 'Clear', 'Set…']],
      ['c', '', '12.5 %', '0', '0', '2', '2 h', '0', '0', '0', '2', '1', 'rate: next start in 12 s', ['Pause', 'Clear', 'Set…']],
      ['d', '', '6.3 %', '0', '0', '1', '–', '0', '0', '0', '2', '1', 'failed: next attempt later', ['Pause', 'Clear', 'Set…']],
      ['e', '', '0.0 %', '0', '0', '1', '–', '0', '0', '0', '2', '1', '', ['Pause', 'Clear', 'Set…']]
    ])
    assert.deepEqual(await page.$$eval('#types tbody tr', rows => rows.map(row => row.cells[0].style.getPropertyValue('--share'))), ['50%', '25%', '12.5%', '6.25%', '0%'])
    assert.equal(await page.title(), `${isolated('mails')} – fairlane`)
    assert.match(await page.textContent('#numbers'), /^slots0 of 2waiting0delayed0ended per second0failed in a minute0retried in a minute0refused since the start0$/)
    assert.equal(await page.locator('.group').first().isVisible(), false)
  })

  it('says in words why types wait', async function () {
    const holders = [{ type: 'a', running: 3 }, { type: 'b', running: 1 }]
    const words = [
      [{ because: 'closed' }, 'the queue is closed'], [{ because: 'paused' }, 'the queue is paused'], [{ because: 'type-paused' }, 'paused'],
      [{ because: 'outage' }, 'the disk cannot be written'], [{ because: 'broker' }, 'the broker is unreachable'],
      [{ because: 'delayed', untilMs: 61000 }, 'delayed: next start in 1.02 min'], [{ because: 'backoff', untilMs: 999.5 }, 'failed: next attempt in 1 s'],
      [{ because: 'cap' }, 'at its cap of 2 slots'], [{ because: 'group-cap' }, 'its group is at its cap'],
      [{ because: 'hold', untilMs: 1400 }, 'held: next start in 1 s'], [{ because: 'queue-hold', untilMs: 5.2 }, 'the queue is held: next start in 6 ms'],
      [{ because: 'rate' }, 'rate: the next start is not known'], [{ because: 'queue-rate', untilMs: 0 }, 'rate of the queue: next start in 0 ms'],
      [{ because: 'slots', holders }, 'all slots are taken: a 3, b 1'], [{ because: 'scheduler' }, 'the scheduler holds it back'],
      [{ because: 'starting', untilMs: 0 }, 'starts now'], [{ because: 'idle' }, ''], [{}, '']
    ]
    const { queue } = observed()
    queue.explain = type => words[type.slice(1)]?.[0]
    const rows = words.map((_, i) => ({ type: `t${i}`, share: 1 - i / 100, waiting: 1, running: 2 }))
    const page = await open(board(queue, { metrics: { snapshot: () => ranked([...rows, { type: 'none', isType: false }]) } }))
    const cells = await cellsOf(page)
    assert.deepEqual(cells.slice(0, -1).map(row => row[12]), words.map(([, text]) => text))
    // what is no type has no buttons
    assert.deepEqual(cells.at(-1).at(-1), '')
    // and what is unlimited has no cap to begin with
    assert.equal(cells[0][10], '10')
  })

  it('says of a queue without types why its next job waits, and how fairly others share', async function () {
    const queue = fairlane(gates().runner, { concurrency: 1 })
    queue.explain = () => ({ because: 'slots', holders: [{ type: undefined, running: 1 }] })
    queue.pushType('a', 1).pushType('a', 2)
    const page = await open(board(queue, { metrics: { snapshot: () => ranked([{ type: 'a' }], { fairness: 0.98765 }) } }))
    assert.match(await page.textContent('#numbers'), /fairness0\.988stateall slots are taken$/)
  })

  it('sorts types by each column that is pressed, and the other way round when it is pressed again', async function () {
    const { queue } = observed()
    const asked = []
    const rows = ['a', 'b', 'c'].map((type, i) => ({ type, share: i / 10, failed: [2, 3, 1][i], waiting: i === 0 ? 5 : 0 }))
    const handler = board(queue, { metrics: { snapshot: () => ranked(rows) } })
    const page = await open((request, response) => {
      asked.push(request.url)
      handler(request, response)
    })
    const sorted = async text => {
      await page.waitForFunction(text => [...document.querySelectorAll('#types tbody th')].map(cell => cell.textContent).join('') === text, text)
      return page.$$eval('#types [aria-sort]', heads => heads.map(head => `${head.textContent} ${head.getAttribute('aria-sort')}`))
    }
    assert.deepEqual(await sorted('cba'), ['share descending'])
    await button(page, 'failed').click()
    assert.deepEqual(await sorted('bac'), ['failed descending'])
    await button(page, 'failed').press('Enter')
    assert.deepEqual(await sorted('cab'), ['failed ascending'])
    await button(page, 'failed').press('Enter')
    assert.deepEqual(await sorted('bac'), ['failed descending'])
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'failed')
    await button(page, 'type').click()
    assert.deepEqual(await sorted('abc'), ['type ascending'])
    const sorts = { 'oldest wait': 'oldestWait', 'why it waits': 'until' }
    for (const head of ['running', 'overdue', 'waiting', 'oldest wait', 'done', 'retried', 'cap', 'weight', 'why it waits']) {
      const sort = sorts[head] ?? head
      await button(page, head).click()
      await page.waitForFunction(sort => document.getElementById('sort').value === sort, sort)
      assert(asked.at(-1).includes(`sort=${sort}&order=down`), asked.at(-1))
    }
  })

  it('draws the last quarter of an hour', async function () {
    const { queue } = observed()
    const now = Date.now()
    const nothing = { done: 0, failed: 0, waitP50Ms: undefined, waitP95Ms: undefined, slotsHeld: 0, waiting: 0 }
    const bucket = (ago, more) => ({ at: now - ago, ms: 10000, ...nothing, ...more })
    let timeline = [
      bucket(450000, { done: 90, failed: 10, waitP50Ms: 5, waitP95Ms: 100, slotsHeld: 5 }),
      bucket(10000, { done: 15, failed: 5, waitP50Ms: 10, waitP95Ms: 50, slotsHeld: 2.5 })
    ]
    const { handler, reload } = reloaded(queue, { metrics: { snapshot: () => ranked([{ type: 'a' }], { timeline }) } })
    const page = await open(handler)
    const charts = () => page.$$eval('#charts figure', figures => figures.map(figure => {
      return [figure.querySelector('svg').getAttribute('aria-label'), ...Array.from(figure.querySelectorAll('path'), path => path.getAttribute('d'))]
    }))
    const drawn = await charts()
    assert.deepEqual(drawn.map(([label]) => label), [
      'Throughput: 2 jobs end per second, 0.5 of them failed; at most 10',
      'Waits: half of the jobs waited 10 ms or less, one in twenty 50 ms or more; at most 100 ms',
      'Slots: 2.5 of 10 slots are held; at most 5'
    ])
    const points = path => path.split(/(?=[ML])/).map(point => [point[0], ...point.slice(1).split(' ').map(Number)])
    const near = (path, expected) => points(path).forEach(([command, x, y], i) => {
      assert.deepEqual([command, y], [expected[i][0], expected[i][2]])
      assert(Math.abs(x - expected[i][1]) < 1, `${path} ${i}`)
    })
    near(drawn[0][1], [['M', 0, 60], ['L', 146.7, 60], ['L', 148.3, 0], ['L', 150, 60], ['L', 293.3, 60], ['L', 295, 48]])
    near(drawn[1][1], [['M', 148.3, 0], ['M', 295, 30]])
    near(drawn[2][1], [['M', 0, 60], ['L', 146.7, 60], ['L', 148.3, 30], ['L', 150, 60], ['L', 293.3, 60], ['L', 295, 45]])
    // a queue may have a clock of its own
    timeline = [{ ...bucket(0), at: 10000 }, { ...bucket(0), at: 20000, done: 10 }]
    await reload(page)
    near((await charts())[0][1], [['M', 0, 60], ['L', 293.3, 60], ['L', 295, 60], ['L', 298.3, 0]])
    timeline = [{ ...bucket(0), at: 20000 }]
    await reload(page)
    near((await charts())[0][1], [['M', 0, 60], ['L', 296.7, 60], ['L', 298.3, 60]])
    // nothing starts, in a queue whose slots have no number
    queue.concurrency = Infinity
    await reload(page)
    assert.deepEqual((await charts()).slice(1).map(([label]) => label), ['Waits: no job has started; at most 0 ms', 'Slots: 0 of ∞ slots are held; at most 0'])
    queue.pause() // how many slots it has nobody says then
    await reload(page)
    assert.equal((await charts())[2][0], 'Slots: 0 slots are held; at most 0')
    timeline = []
    await reload(page)
    assert.equal(await page.isVisible('#charts'), false)
  })

  it('says what stands out', async function () {
    const { queue } = observed({ concurrency: 4 })
    const reasons = { queue: { because: 'queue-rate', untilMs: 500 }, out: { because: 'rate', untilMs: 12000 }, held: { because: 'hold', untilMs: 61000 }, off: { because: 'type-paused' }, full: { because: 'cap' }, group: { because: 'group-cap' } }
    const rows = [
      { type: 'flood', share: 0.97, running: 4, waiting: 900, overdue: 3 },
      ...Object.keys(reasons).map(type => ({ type, waiting: 2, running: type === 'full' ? 1 : 0 }))
    ]
    let more = { standstillMs: 65000, totals: { overdue: 3 }, starving: [{ type: 'out', sinceMs: 30000 }, { type: undefined, sinceMs: 5000 }] }
    queue.explain = type => reasons[type] ?? { because: 'starting', untilMs: 0 }
    queue.stats = () => ({ waiting: 912, running: 4, delayed: 0, overdue: 3 })
    const { handler, reload } = reloaded(queue, { metrics: { snapshot: () => ranked(rows, more) } })
    const page = await open(handler)
    const sentences = () => page.$$eval('#findings li', items => items.map(item => item.textContent))
    assert.deepEqual(await sentences(), [
      'The rate of the queue is used up, and 912 jobs wait: next start in 500 ms.',
      'No job has started or ended for 1.08 min, and 912 jobs wait. The slots are held by flood 4, full 1.',
      '3 of 4 slots in use are held by runners that go on after their jobs have ended: flood 3.',
      'flood had 97.0 % of the slot time in the last minute and holds 4 slots now, while 6 other types wait.',
      'flood has 900 of the 912 waiting jobs.',
      'out has used up its rate, and 2 jobs wait: next start in 12 s.',
      'held is held, and 2 jobs wait: next start in 1.02 min.',
      'full is at its cap of 1 slot, and 2 jobs wait.',
      'The group of group is at its cap, and 2 jobs wait.',
      'off is paused, and 2 jobs wait.',
      '2 types starve although others are served: out no start for 30 s, (none) no start for 5 s.'
    ])
    assert.equal(await page.$$eval('#findings bdi', found => found.length), 12)
    assert.deepEqual(await cellsOf(page, '#runs'), [['has ended', 'flood', '–', '–', '–', '3', '']])
    more = { starving: [{ type: 'out', sinceMs: 30000 }], totals: { done: 10, failed: 15, retried: 5 } }
    rows.splice(1, 6, { type: 'other', waiting: 1, failed: 15, retried: 5, done: 5 })
    for (const [because, sentence] of Object.entries({
      outage: 'The disk cannot be written, and 912 jobs wait. The queue keeps retrying.',
      broker: 'The broker is unreachable, and 912 jobs wait.',
      'queue-hold': 'The queue is held, and 912 jobs wait: the next start is not known.',
      delayed: undefined
    })) {
      reasons.other = { because }
      await reload(page)
      const said = await sentences()
      assert.equal(said.includes(sentence), sentence !== undefined)
      assert(said.includes('A type starves although others are served: out no start for 30 s.'))
      assert(said.includes('20 of the 30 attempts that ended in the last minute have failed: other 20 of 25.'))
      assert(said.includes('flood had 97.0 % of the slot time in the last minute and holds 4 slots now, while another type waits.'))
    }
    Object.assign(rows[1], { failed: 0, retried: 0 })
    await reload(page)
    assert((await sentences()).includes('20 of the 30 attempts that ended in the last minute have failed.'))
  })

  it('says that nothing stands out, and of a queue that it is paused, or closed', async function () {
    const { queue, metrics } = observed()
    queue.pushType('a', 1)
    const { handler, reload } = reloaded(queue, { metrics })
    const page = await open(handler)
    assert.equal(await page.textContent('#findings'), 'Nothing stands out.')
    queue.pause().pushType('b', 1)
    await reload(page)
    await button(page, 'Resume the queue').waitFor()
    assert.equal(await page.textContent('#findings'), 'The queue is paused, and 1 job waits. Nothing starts until it is resumed.')
    queue.close({ drain: false })
    await reload(page)
    await page.getByText('The queue is closed. It takes no more jobs.').waitFor()
    assert.match(await page.textContent('#numbers'), /stateclosed$/)
  })

  it('shows groups, and the types of one', async function () {
    const { queue } = observed()
    const rows = [{ type: 'a', group: 'gold', share: 0.5, waiting: 1 }, { type: 'b', group: 'gold', share: 0.25 }, { type: 'c', group: 'tin', share: 0.25 }, { type: 'd' }]
    const shown = { queue, metrics: { snapshot: () => ranked(rows) } }
    const page = await open(board({ mails: shown, other: shown }))
    assert.deepEqual((await cellsOf(page)).map(([type, group]) => [type, group]), [['a', 'gold'], ['b', 'gold'], ['c', 'tin'], ['d', '']])
    assert.deepEqual(await cellsOf(page, '#groups'), [['gold', '75.0 %', '0', '1', '2', ['Types']], ['tin', '25.0 %', '0', '0', '1', ['Types']]])
    await button(page, 'Types', 'gold').click()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 2)
    assert.equal(await page.textContent('#types caption'), 'Tenants in the last minute: 2 (4 in total)')
    await page.getByRole('button', { name: 'Show all types, not only those of gold' }).click()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 4)
    assert.equal(await page.isVisible('#ungroup'), false)
    await button(page, 'Types', 'tin').click()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 1)
    await page.getByRole('link', { name: 'other' }).click()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 4)
  })

  it('holds a type, and sets its cap and its weight, in a dialog that the keyboard opens and closes', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1).pushType('b', 1)
    const { handler, reload } = reloaded(queue, { metrics })
    const page = await open(handler)
    await button(page, 'Set…', 'a').press('Enter')
    assert.deepEqual(await page.$$eval('#settings input', inputs => inputs.map(({ value }) => value)), ['60', '10', '1'])
    const dialog = page.getByRole('dialog', { name: 'a' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    for (const [label, value, set, check] of [
      ['hold for this many seconds', '30', 'Set the hold', () => assert.equal(queue.heldMs('a'), 30000)],
      ['cap', '3', 'Set the cap', () => assert.equal(queue.scheduler.capOf('a'), 3)],
      ['weight', '2.5', 'Set the weight', () => assert.equal(queue.scheduler.weightOf('a'), 2.5)],
      ['cap', '', 'Set the cap', () => assert.equal(queue.scheduler.capOf('a'), 10)]
    ]) {
      await page.evaluate(() => { document.getElementById('status').textContent = '' })
      await button(page, 'Set…', 'a').click()
      await dialog.getByLabel(label, { exact: false }).first().fill(value)
      await button(page, set).click()
      await said(page, ': done')
      check()
    }
    assert.equal(queue.scheduler.weightOf('b'), 1)
    queue.concurrency = Infinity
    queue.scheduler.weightOf = () => NaN
    await reload(page)
    await button(page, 'Set…', 'b').click()
    assert.deepEqual(await page.$$eval('#settings input', inputs => inputs.map(({ value }) => value)), ['60', '', '1'])
    await button(page, 'Close').click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  it('holds the queue for a minute, and ends that', async function () {
    const { queue, metrics } = observed()
    queue.explain = () => queue.heldMs() > 0 ? { because: 'queue-hold', untilMs: queue.heldMs() } : { because: 'starting', untilMs: 0 }
    queue.pushType('a', 1).pushType('a', 2)
    queue.hold(1)
    const page = await open(board(queue, { metrics }))
    await button(page, 'Hold it for a minute').click()
    await said(page, 'hold: done')
    assert.equal(queue.heldMs(), 60000)
    await button(page, 'End the hold').click()
    await button(page, 'End the hold').waitFor({ state: 'hidden' })
    assert.equal(queue.heldMs(), 0)
  })

  it('pauses and resumes a type by its button', async function () {
    const { queue, metrics } = observed()
    queue.pushType('tenant-a', 1).pushType('tenant-b', 1)
    const page = await open(board(queue, { metrics }))
    await button(page, 'Pause', 'tenant-b').click()
    await button(page, 'Resume', 'tenant-b').waitFor()
    assert.deepEqual([queue.isTypePaused('tenant-a'), queue.isTypePaused('tenant-b')], [false, true])
    await untilState(page, 1, 'paused')
    await button(page, 'Resume', 'tenant-b').click()
    await button(page, 'Pause', 'tenant-b').waitFor()
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
    await button(page, 'Clear', 'tenant-a').click()
    assert.equal(queue.waiting, 2)
    await button(page, 'Clear', 'tenant-a').click()
    await said(page, 'clearType: done')
    assert.deepEqual([queue.waiting, questions], [0, Array(2).fill(`Cancel all waiting jobs of ${isolated('tenant-a')}?`)])
    await button(page, 'Resume the queue').click()
    await button(page, 'Pause the queue').waitFor()
    assert.equal(queue.paused, false)
    await button(page, 'Pause the queue').click()
    await button(page, 'Resume the queue').waitFor()
    assert.equal(queue.paused, true)
  })

  describe('for a queue on disk', function () {
    let bench, queue, metrics, history

    beforeEach(async function () {
      bench = new Bench()
      metrics = new Metrics({ name: 'mails' })
      history = new History()
      queue = await bench.open({ scheduler: 'equal', maxAttempts: 1, observers: [metrics, history] })
    })

    afterEach(() => queue.close({ timeoutMs: 0 }))

    async function die (type, error) {
      await queue.pushType(type, { to: type })
      await bench.gate.until(bench.gate.started.length + 1)
      const failed = once(queue, 'failed')
      bench.gate.fail(error)
      await failed
    }

    const openDead = page => page.getByText(/^Dead letters: /).click()

    it('retries, deletes and shows a dead letter by its button, and shows the newest failures', async function () {
      for (let i = 1; i <= 3; i++) await die('a', new TypeError(MARKUP))
      const page = await open(board(queue, { metrics, history, showPayloads: true }))
      page.on('dialog', dialog => dialog.accept())
      assert.deepEqual((await cellsOf(page, '#failures')).map(([id, , , , error]) => [id, error]), [3, 2, 1].map(id => [String(id), `TypeError: ${MARKUP}`]))
      assert.deepEqual(await cellsOf(page, '#letters'), [])
      await openDead(page)
      await button(page, 'Retry job 1').waitFor()
      const cells = await cellsOf(page, '#letters')
      assert.deepEqual(cells.map(([id, type, , attempts, error, buttons]) => [id, type, attempts, error, buttons]), [1, 2, 3].map(id => {
        return [String(id), 'a', '1', `TypeError: ${MARKUP}`, ['Retry', 'Delete', 'Payload']]
      }))
      assert.deepEqual(await cellsOf(page, '#causes'), [[`TypeError: ${MARKUP}`, 'a', '3', ['Show']]])
      await button(page, 'Payload job 2').click()
      await page.getByRole('dialog', { name: 'Payload of job 2' }).waitFor()
      assert.equal(await page.textContent('#payload-text'), '{\n  "to": "a"\n}')
      await page.keyboard.press('Escape')
      await button(page, 'Retry job 1').click()
      await bench.gate.until(4)
      assert.equal(bench.gate.started[3].context.id, 1)
      await button(page, 'Retry job 1').waitFor({ state: 'detached' })
      await button(page, 'Delete job 3').click()
      await button(page, 'Delete job 3').waitFor({ state: 'detached' })
      assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [2])
      await queue.deleteDead(2)
      await button(page, 'Payload job 2').click()
      await said(page, 'payload: This job no longer exists.')
      await button(page, 'Retry job 2').click()
      await said(page, 'retryDead: there is no such job any more')
      await button(page, 'Retry job 2').waitFor({ state: 'detached' })
      assert.equal(await page.textContent('#dead-title'), 'Dead letters: 0')
      assert.match(page.errors.splice(0).join(), /404 \(Not Found\)$/)
    })

    it('does something to all dead letters that match, with progress, until it is stopped', async function () {
      for (let i = 0; i < 3; i++) await die('a', Object.assign(new Error('no'), { code: 'E_NO' }))
      await die('b', Object.assign(new Error('no'), { code: 'E_NO' }))
      await die('b', new Error(`other ${'x'.repeat(300)}`))
      const { handler, clock } = reloaded(queue, { metrics })
      const page = await open(handler)
      const questions = []
      page.on('dialog', dialog => {
        questions.push(dialog.message())
        return questions.length === 1 ? dialog.dismiss() : dialog.accept()
      })
      await openDead(page)
      await page.getByRole('button', { name: `Show those of ${isolated('b')} with Error: other`, exact: false }).click()
      await page.waitForFunction(() => document.querySelectorAll('#letters tbody tr').length === 1)
      assert.deepEqual([await page.inputValue('#dead-type'), (await page.inputValue('#dead-error')).length], ['b', 200])
      await page.getByLabel('with this in the error').fill('e_no')
      await button(page, 'Show').click()
      await page.getByLabel('of the type').fill('a')
      await page.getByLabel('of the type').press('Enter')
      await page.waitForFunction(() => document.querySelectorAll('#letters tbody tr').length === 3)
      queue.pause()
      await button(page, 'Retry all matches').click()
      assert.equal((await queue.deadLetters()).length, 5)
      await button(page, 'Retry all matches').click()
      await said(page, 'retryDeadOf: 3 done')
      assert.deepEqual(questions, Array(2).fill(`Retry all dead letters of ${isolated('a')} with “e_no” in the error?`))
      assert.deepEqual((await queue.deadLetters()).map(({ id }) => id), [4, 5])
      await page.waitForFunction(() => document.querySelectorAll('#letters tbody tr').length === 0)
      assert.equal(await page.isVisible('#dead-retry'), false)
      // many come page by page, and in pieces
      await page.getByLabel('of the type').fill('')
      await page.getByLabel('with this in the error').fill('')
      await page.getByLabel('with this in the error').press('Enter')
      await page.waitForFunction(() => document.querySelectorAll('#letters tbody tr').length === 2)
      let isSlow = true
      const waiting = []
      queue.deleteDead = () => isSlow ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(false)
      queue.deadLetters = async ({ limit, after = 0 }) => {
        return Array.from({ length: Math.min(limit, 401 - after) }, (_, i) => ({ id: after + i + 1, type: 'c', attempts: 1, error: new Error('no') }))
      }
      clock.advance(1000)
      await button(page, 'Show').click()
      await page.getByText('Oldest first: 50 of 401').waitFor()
      await button(page, 'Next page').click()
      await page.getByText('Continued: 50').waitFor()
      assert.equal(await page.isVisible('#causes'), false)
      await button(page, 'First page').click()
      await page.getByText('Oldest first: 50 of 401').waitFor()
      const { now } = performance
      let ms = 0
      performance.now = () => {
        ms += 600 // each call is a piece of its own
        return ms
      }
      await button(page, 'Delete all matches').click()
      while (waiting.length < 200) await turn()
      assert.deepEqual(await page.$eval('#dead-progress', ({ value, max }) => [value, max]), [0, 401])
      await button(page, 'Stop').click()
      isSlow = false
      for (const resolve of waiting) resolve(true)
      await said(page, '; stopped')
      assert.match(await page.textContent('#status'), /^deleteDeadOf: 200 done(, 200 skipped)?; stopped$/)
      assert.equal(await page.isVisible('#dead-progress'), false)
      performance.now = now
      await button(page, 'Delete all matches').click()
      await said(page, 'deleteDeadOf: 0 done, 401 skipped')
      queue.deleteDead = () => Promise.reject(new Error('out'))
      await button(page, 'Delete all matches').click()
      await said(page, 'deleteDeadOf: 0 done, then it failed: out')
      queue.deadLetters = () => Promise.reject(new Error('away'))
      clock.advance(1000)
      await button(page, 'Show').click()
      await said(page, 'dead letters: away')
      page.errors.length = 0
    })

    it('looks again at dead letters when there are more, and at those of another queue when somebody asks', async function () {
      await die('a', new Error('no'))
      const other = await new Bench().open({ maxAttempts: 1 })
      const page = await open(board({ mails: { queue, metrics }, other: { queue: other } }))
      await openDead(page)
      await button(page, 'Retry job 1').waitFor()
      await die('a', new Error('no'))
      await button(page, 'Retry job 2').waitFor()
      await page.getByRole('link', { name: 'other' }).click()
      await page.getByText('Dead letters: 0').waitFor()
      assert.equal(await page.$eval('#dead', dead => dead.open), false)
      await other.close()
    })

    it('has no buttons for dead letters where it is read-only, and says if it has not seen all of them', async function () {
      await die('a', new Error('no'))
      await queue.setSchedule('daily', { everyMs: 86400000, type: 'a', payload: 1 })
      queue.deadLetters = async ({ limit, after = 0 }) => {
        return Array.from({ length: after < 3000 ? limit : 0 }, (_, i) => ({ id: after + i + 1, type: 'a', attempts: 1, error: new Error('no') }))
      }
      const page = await open(board({ mails: { queue, metrics, readOnly: true }, other: { queue, metrics } }))
      await openDead(page)
      await page.getByText('Oldest first: 50 of 2,000 or more').waitFor()
      const [[, , at, , , buttons]] = await cellsOf(page, '#letters')
      assert.deepEqual([at, buttons], ['–', ''])
      assert.deepEqual((await cellsOf(page, '#schedules')).map(row => row.at(-1)), [''])
      await page.getByRole('link', { name: 'other' }).click()
      await button(page, 'Run now', 'daily').waitFor()
      await openDead(page)
      await page.getByText('Oldest first: 50 of 2,000 or more').waitFor()
      queue.deleteDead = async () => true
      page.on('dialog', dialog => dialog.accept())
      await button(page, 'Delete all matches').click()
      await said(page, 'deleteDeadOf: 3,000 done')
    })

    it('forgets dead letters that come when another queue is shown', async function () {
      await die('a', new Error('no'))
      const other = await new Bench().open({ maxAttempts: 1 })
      const { deadLetters } = queue
      const answers = []
      queue.deadLetters = (...args) => new Promise(resolve => answers.push(() => resolve(deadLetters.apply(queue, args))))
      const page = await open(board({ mails: { queue, metrics }, other: { queue: other } }))
      await openDead(page)
      while (answers.length === 0) await turn()
      await page.getByRole('link', { name: 'other' }).click()
      await page.getByText('Dead letters: 0').waitFor()
      const answered = page.waitForResponse(/dead/)
      answers.pop()()
      await answered
      assert.deepEqual(await cellsOf(page, '#letters'), [])
      await other.close()
    })

    it('shows what runs, and cancels it', async function () {
      await queue.pushType('a', 1)
      await bench.gate.until(1)
      const page = await open(board(queue, { metrics, history }))
      const questions = []
      page.on('dialog', dialog => {
        questions.push(dialog.message())
        return dialog.accept()
      })
      const [[id, type, , , attempt, overdue, buttons]] = await cellsOf(page, '#runs')
      assert.deepEqual([id, type, attempt, overdue, buttons], ['1', 'a', '1', '', ['Cancel']])
      await page.getByRole('button', { name: `Cancel job 1 of ${isolated('a')}` }).click()
      await said(page, 'cancel: done')
      assert.equal(bench.gate.started[0].context.signal.aborted, true)
      assert.deepEqual(questions, [`Cancel job 1 of ${isolated('a')}?`])
    })

    it('shows schedules, and runs one now', async function () {
      await queue.setSchedule('daily', { everyMs: 86400000, type: 'a', payload: 1 })
      const { listSchedules } = queue
      await queue.setSchedule('\u202Eoff', { everyMs: 86400000, type: 'a' })
      await queue.pauseSchedule('\u202Eoff')
      queue.listSchedules = async () => (await listSchedules.call(queue)).map(one => ({ ...one, ...one.paused && { lastAt: 1e12 } }))
      const page = await open(board(queue, { metrics }), { until: '#schedules tbody tr' })
      const [[name, next, last, buttons], ...others] = await cellsOf(page, '#schedules')
      assert.deepEqual([name, next.slice(0, 10), last, buttons], ['daily', '10/09/2001', '–', ['Run now', 'Pause']])
      assert.deepEqual(others, [['⟨U+202E⟩off', '–', '09/09/2001, 01:46:40', ['Run now', 'Resume']]])
      await button(page, 'Pause', 'daily').click()
      await said(page, 'pauseSchedule: done')
      await button(page, 'Resume', '⟨U+202E⟩off').click()
      await said(page, 'resumeSchedule: done')
      assert.deepEqual((await listSchedules.call(queue)).map(({ name, paused }) => [name, paused]), [['daily', true], ['\u202Eoff', undefined]])
      await button(page, 'Run now', 'daily').click()
      await said(page, 'runSchedule: done')
      await bench.gate.until(1)
    })
  })

  it('shows the names of tenants and queues as text, whatever they are, and what of them cannot be seen', async function () {
    const { queue, metrics } = observed()
    const shown = {
      [MARKUP]: MARKUP,
      '</script><script>document.title=1</script>': '</script><script>document.title=1</script>',
      constructor: 'constructor',
      '"\'`$\\': '"\'`$\\',
      'a\nb\t': 'a␊b␉',
      '\u202Ereverse\u2066': '⟨U+202E⟩reverse⟨U+2066⟩',
      ' two  words ': '␣two␣␣words␣',
      'a b': 'a b',
      'no\u00a0break\u200b\u2028\u00ad': 'no⟨U+00A0⟩break⟨U+200B⟩⟨U+2028⟩⟨U+00AD⟩',
      אב: '\u05d0\u05d1',
      '\ud800': '⟨U+D800⟩',
      [`${'x'.repeat(127)}😀`]: `${'x'.repeat(127)}…`,
      '\0': '␀'
    }
    const types = ['__proto__', ...Object.keys(shown)]
    queue.pause()
    const rows = types.map(type => ({ type, waiting: 1 }))
    const page = await open(board({ [MARKUP]: { queue, metrics: { snapshot: () => ranked(rows) } }, 'a & \u202Eb': { queue, metrics } }))
    const found = await page.$$eval('#types tbody th', cells => cells.map(cell => [cell.textContent, cell.children.length, cell.firstChild.tagName, window.getComputedStyle(cell.firstChild).unicodeBidi]))
    assert.deepEqual(found.sort(), types.map(type => [type === '__proto__' ? type : shown[type], 1, 'BDI', 'isolate']).sort())
    assert.deepEqual(await page.$$eval('#names a', links => links.map(link => link.textContent)), [MARKUP, 'a & ⟨U+202E⟩b'])
    assert.equal(await page.$$eval('img, main script', found => found.length), 0)
    assert.equal(await page.title(), `${isolated(MARKUP)} – fairlane`)
    await button(page, 'Pause', MARKUP).click()
    await said(page, 'pauseType: done')
    assert(queue.isTypePaused(MARKUP))
    await button(page, 'Pause', '⟨U+202E⟩reverse⟨U+2066⟩').click()
    while (!queue.isTypePaused('\u202Ereverse\u2066')) await turn()
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

  it('shows 50 types on the width of a phone, each with the names of its numbers, and sorts them there, too', async function () {
    const { queue, metrics } = observed({ concurrency: 1000 }, { maxTypes: 300 })
    for (let i = 0; i < 220; i++) queue.pushType(i % 2 ? `tenant-${i}-${'long'.repeat(20)}` : `tenant-${i}`, i)
    queue.pushType('tenant-0', 0).pause().pushType('tenant-0', 0)
    const page = await open(board(queue, { metrics }), { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true })
    const { rows, width, view } = await page.evaluate(() => ({
      rows: document.querySelectorAll('#types tbody tr').length, width: document.documentElement.scrollWidth, view: window.innerWidth
    }))
    assert.deepEqual([rows, width, view], [50, 360, 360])
    assert.equal(await page.textContent('#types caption'), 'Tenants in the last minute: 50 of 220')
    await page.getByLabel('sorted by').selectOption('waiting')
    await page.waitForFunction(() => document.querySelector('#types tbody th').textContent === 'tenant-0')
    const boxes = await page.$$eval('#types tbody tr:first-child td', cells => cells.filter(cell => cell.textContent !== '').map(cell => {
      const { left, right } = cell.getBoundingClientRect()
      return [window.getComputedStyle(cell, '::before').content, left >= 0 && right <= 360]
    }))
    const titles = ['share', 'running', 'overdue', 'waiting', 'oldest wait', 'done', 'failed', 'retried', 'cap', 'weight']
    assert.deepEqual(boxes.filter(([title]) => title !== '"why it waits"'), [...titles, 'actions'].map(name => [`"${name}"`, true]))
    await button(page, 'Pause', 'tenant-0').tap()
    await button(page, 'Resume', 'tenant-0').waitFor()
  })

  it('finds a type that is not among the first', async function () {
    const { queue, metrics } = observed({ concurrency: 1000 })
    for (let i = 0; i < 220; i++) queue.pushType(`tenant-${i}`, i)
    const page = await open(board(queue, { metrics: { snapshot: () => ranked(Array.from({ length: 220 }, (_, i) => ({ type: `tenant-${i}`, share: i / 30000 }))) } }))
    assert.equal(await button(page, 'Pause', 'tenant-7').count(), 0)
    await page.getByLabel('Types that contain').fill('ANT-7')
    await button(page, 'Pause', 'tenant-7').waitFor()
    await page.waitForFunction(() => document.querySelectorAll('#types tbody tr').length === 11)
    await page.keyboard.press('Enter')
    assert.equal(await page.textContent('#types caption'), 'Tenants in the last minute: 11 (220 in total)')
    assert.equal(metrics.snapshot().name, 'mails')
  })

  it('asks again every two seconds, keeps the focus where it was though rows change their places, and rests while it is hidden', async function () {
    const { queue, metrics, clock, gate } = observed({ concurrency: 2 })
    queue.pushType('a', 1)
    await gate.until(1)
    clock.advance(2)
    queue.pushType('b', 1)
    await gate.until(2)
    let asked = 0
    const handler = board(queue, { metrics })
    const page = await open((request, response) => {
      asked++
      handler(request, response)
    }, { own: true })
    await page.clock.install()
    await page.reload()
    await button(page, 'Pause', 'a').waitFor()
    assert.deepEqual(await names(page), ['a', 'b'])
    await button(page, 'Pause', 'b').focus()
    gate.release()
    clock.advance(5)
    queue.pushType('c', 1)
    await page.clock.runFor(2000)
    await button(page, 'Pause', 'c').waitFor()
    assert.deepEqual(await names(page), ['b', 'a', 'c'])
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), `Pause ${isolated('b')}`)
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
    await button(page, 'Pause', 'd').waitFor()
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
    await said(page, 'the server answered 200, but not with JSON: log in again, or check the proxy in front of it')
    await button(page, 'Pause', 'a').click()
    await said(page, 'pauseType: the server answered 200, but not with JSON: log in again, or check the proxy in front of it')
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
      await button(page, 'Pause', 'a').waitFor()
      await page.evaluate(() => { window.answerFirst() })
      await page.evaluate(() => new Promise(resolve => setTimeout(resolve)))
      assert.equal(await page.textContent('#status'), '')
    }
    assert.deepEqual(await names(page), ['a'])
  })

  it('shows what the server refuses', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const page = await open(board(queue, { metrics }))
    queue.pauseType = () => { throw Object.assign(new TypeError('not now'), { code: 'FAIRLANE_ERR_TYPE' }) }
    await button(page, 'Pause', 'a').click()
    await said(page, 'pauseType: not now')
    assert.match(page.errors.splice(0).join(), /^Failed to load resource: .* 400 \(Bad Request\)$/)
  })

  it('shows several queues, each at an address of its own, and says if one cannot be read', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const away = { snapshot () { throw new Error('away') } }
    const page = await open(board({ mails: { queue, metrics }, 'im/ages?': { queue, metrics, readOnly: true }, broken: { queue, metrics: away } }))
    await page.getByRole('link', { name: 'im/ages?' }).click()
    await page.waitForFunction(() => document.title === '\u2068im/ages?\u2069 – fairlane')
    assert.equal(new URL(page.url()).hash, '#im%2Fages%3F')
    assert.equal(await page.textContent('[aria-current]'), 'im/ages?')
    // it is read-only
    assert.equal(await page.locator('button:visible').count(), 12) // that sort
    assert.equal(await page.locator('#content td button').count(), 0)
    await page.getByRole('link', { name: 'broken' }).click()
    await said(page, 'away')
    assert.equal(await page.isVisible('#content'), false)
    await page.getByRole('link', { name: 'mails' }).click()
    await button(page, 'Pause', 'a').waitFor()
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
    clock.advance(2000)
    const page = await opening
    await said(page, `${isolated('hanging')}: The queue has not answered for 2 s.`)
    assert.equal(await page.isVisible('#content'), false)
    await page.getByRole('link', { name: 'mails' }).click()
    await button(page, 'Pause', 'a').waitFor()
    assert.equal(paths.at(-1), '/state?sort=share&order=down&filter=&queue=mails')
    isAway = false
    asked.pop()([])
    await turn()
    clock.advance(1000)
    await page.evaluate(() => { window.location.hash = '' })
    await button(page, 'Pause', 'b').waitFor()
    assert.equal(paths.at(-1), '/state?sort=share&order=down&filter=&queue=hanging')
    isAway = true
    clock.advance(1000)
    await page.getByLabel('Types that contain').fill('b')
    while (asked.length === 0) await turn()
    clock.advance(2000)
    await said(page, `${isolated('hanging')}: The queue has not answered for 2 s.`)
    assert.equal(await button(page, 'Pause', 'b').isVisible(), true)
  })

  it('shows a queue at a broker, and pauses a type, and all, in all processes', async function () {
    const paused = new Set()
    const queue = atBroker({
      concurrency: Infinity,
      types: [{ type: '', waiting: 1234, delayed: 5, running: 1, dead: 0 }],
      settings: { '': { cap: 3, rate: [{ limit: 1000, intervalMs: 120000 }, { limit: 5, intervalMs: 1000 }] } },
      reasons: { '': { because: 'rate', untilMs: 90000 } },
      pauseGlobal: async type => { paused.add(type) },
      resumeGlobal: async type => { paused.delete(type) }
    })
    queue.listRunning = async () => [
      { id: undefined, type: '', attempt: undefined, startedAt: 1, overdue: true }, { id: '1:', type: '', attempt: 2, startedAt: 2, overdue: false }
    ]
    const { counts } = queue
    queue.counts = async type => ({ ...await counts(type), paused: paused.has(type) })
    const { handler, reload } = reloaded(queue, { name: 'mails' })
    const page = await open(handler)
    assert.deepEqual(await cellsOf(page), [[
      '(none)', '', '–', '1', '0', '1,234', '–', '–', '–', '–', '3', '0', 'rate: next start in 1.5 min; may start 1,000 in 2 min, 5 in 1 s', ['Pause', 'Clear', 'Set…']
    ]])
    assert.equal(await page.textContent('#numbers'), 'running1waiting1,234delayed5dead letters0')
    const runs = await cellsOf(page, '#runs')
    assert.deepEqual(runs.map(([id, type, , , attempt, overdue, buttons]) => [id, type, attempt, overdue, buttons]), [
      ['has ended', '(none)', '–', 'yes', ''], ['1:', '(none)', '2', '', ['Cancel']]
    ])
    await button(page, 'Pause', '(none)').click()
    await button(page, 'Resume', '(none)').waitFor()
    assert.deepEqual([...paused], [''])
    await button(page, 'Pause the queue').click()
    await button(page, 'Resume the queue').waitFor() // the same was said of the type
    assert.deepEqual([...paused], ['', undefined])
    await button(page, 'Resume the queue').click()
    await said(page, 'resumeGlobal: done')
    await button(page, 'Resume', '(none)').click()
    await button(page, 'Pause', '(none)').waitFor()
    assert.deepEqual([...paused], [])
    queue.explain = async () => ({ because: 'idle' })
    await reload(page)
    await page.getByText('may start 1,000 in 2 min, 5 in 1 s').waitFor()
  })

  it('works where express has it, with a slash at its end and without', async function () {
    const { queue, metrics } = observed()
    queue.pause().pushType('a', 1)
    const app = express().use(express.json()).use('/admin/board', board(queue, { metrics }))
    for (const path of ['/admin/board', '/admin/board/']) {
      const page = await open(app, { path })
      await button(page, 'Pause', 'a').click()
      await button(page, 'Resume', 'a').click()
      await button(page, 'Pause', 'a').waitFor()
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

  describe('in all of them', function () {
    it('has nothing in its script that none of these tests has run', function () {
      assert.deepEqual(coverage.missing(), [])
    })
  })

  /** A page whose answers are as old as the test says. */
  function reloaded (queue, options) {
    const clock = fakeClock()
    const reload = async page => {
      clock.advance(1000)
      const answered = page.waitForResponse(/state/)
      await page.evaluate(() => { window.dispatchEvent(new Event('hashchange')) })
      await answered
      await page.evaluate(() => new Promise(resolve => setTimeout(resolve))) // it has been shown
    }
    return { handler: handlerOf(readQueues([queue, options]), clock), reload, clock }
  }

  /** A queue with metrics, on a clock that stands. */
  function observed (options, metricsOptions) {
    const metrics = new Metrics({ name: 'mails', ...metricsOptions })
    const [gate, clock] = [gates(), fakeClock(1000)]
    return { queue: fairlane(gate.runner, { scheduler: 'equal', clock, ...options, observers: metrics }), metrics, gate, clock }
  }
})

/** Relative luminance, as WCAG 2 has it, of `rgb(r, g, b)`. */
function luminance (color) {
  const [r, g, b] = color.match(/\d+/g).map(value => value / 255).map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
