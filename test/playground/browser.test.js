'use strict'

// The page as it is built now, opened from the disk, in both browsers.

const assert = require('node:assert/strict')
const { readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { build } = require('../../examples/playground/build')
const { DEFAULT, EXAMPLES, toAddress } = require('../../examples/playground/setup')
const { describeWithChromium, openChromium } = require('../support/chromium')
const { describeWithFirefox, openFirefox } = require('../support/firefox')
const { temporaryFolder } = require('../support/folders')

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
const FINDINGS = '(async () => (await axe.run(document)).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))()'
const SCREENS = { 'a screen': { width: 1280, height: 800 }, 'a phone': { width: 380, height: 740 } }
const SECONDS = 'parseFloat(document.getElementById("time").textContent)'
/** The cells of a tenant's row in the table of a scheduler: share, median, 99 %, waiting, refused. */
const cellsOf = (scheduler, tenant) => `[...document.querySelectorAll("#table-${scheduler} tbody tr")]
  .find(row => row.cells[0].textContent === "${tenant}").innerText.split("\\t").slice(1)`
const msOf = text => text.endsWith(' ms') ? parseFloat(text) : 1000 * parseFloat(text)
const [TAB, ENTER, RIGHT] = ['\uE004', '\uE007', '\uE014'] // as WebDriver has them

let folder, address
before(function () {
  folder = build(temporaryFolder())
  address = String(pathToFileURL(join(folder, 'index.html')))
})
after(() => rmSync(folder, { recursive: true }))

/** What each browser must show. @param {(expression: string) => Promise<any>} evaluate @param {Function} until */
async function showsWhoWaits (evaluate, until) {
  await until(`${SECONDS} > 15`)
  const [without, withEqual] = [await evaluate(cellsOf('none', 'quiet')), await evaluate(cellsOf('equal', 'quiet'))]
  assert(msOf(without[1]) > 1000 && msOf(withEqual[1]) < 300, JSON.stringify({ without, withEqual }))
  const isDrawn = await evaluate(`[...document.querySelectorAll("canvas")].every(canvas =>
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(value => value !== 0))`)
  assert(isDrawn)
}

async function isForEverybody (evaluate) {
  assert.deepEqual(await evaluate(FINDINGS), [])
  assert.equal(await evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
}

describeWithChromium('the playground, in Chromium,', function () {
  let browser, page, errors

  before(async function () { browser = await openChromium() })
  after(() => browser?.close())
  afterEach(async function () {
    await page.context().close()
    assert.deepEqual(errors, [])
  })

  async function open (hash = '', options = {}) {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    page = await context.newPage()
    errors = []
    page.on('pageerror', err => errors.push(err.stack))
    page.on('console', message => { if (message.type() === 'error') errors.push(message.text()) })
    await page.goto(`${address}${hash}`)
    return page
  }

  const hash = () => page.evaluate('location.hash.slice(1)')

  it('runs from the disk, and shows who waits', async function () {
    await open()
    await page.locator('#speed').selectOption('100×')
    await showsWhoWaits(text => page.evaluate(text), text => page.waitForFunction(text))
  })

  for (const colorScheme of ['light', 'dark']) {
    for (const [what, viewport] of Object.entries(SCREENS)) {
      it(`has no barrier that axe finds, ${colorScheme}, on ${what}, and needs no scrolling sideways`, async function () {
        await open('', { colorScheme, viewport })
        await page.waitForFunction(`${SECONDS} > 1`)
        await page.evaluate(AXE)
        await isForEverybody(text => page.evaluate(text))
      })
    }
  }

  it('has all that is set in its address, and goes by that', async function () {
    await open()
    await page.locator('#example').selectOption('one customer has many users')
    assert.equal(await hash(), toAddress(EXAMPLES['one customer has many users']))
    const link = await page.evaluate('location.href')
    await page.goto('about:blank')
    await page.goto(link)
    assert.deepEqual(await page.locator('h2').allTextContents(), ['equal', 'equal, with groups', 'What is simulated'])
    await page.evaluate(`location.hash = ${JSON.stringify(toAddress(DEFAULT))}`)
    await page.waitForFunction('document.querySelector("#table-none") !== null')
  })

  it('says that a link cannot be read, and shows an example', async function () {
    await open('#slots=many')
    assert.match(await page.locator('#status').textContent(), /^This link cannot be read \(.*\), so an example is shown\.$/)
    assert.equal(await hash(), toAddress(DEFAULT))
  })

  it('copies its link, or says how to', async function () {
    await open('', { permissions: [] })
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await page.waitForFunction('/it has all that is set here/.test(document.getElementById("status").textContent)')
  })

  it('adds, renames and removes tenants, and refuses names that others have', async function () {
    await open()
    const names = () => page.locator('legend').allTextContents().then(texts => texts.slice(1))
    await page.getByRole('button', { name: 'Add a tenant' }).click()
    assert.deepEqual(await names(), ['noisy', 'quiet', 'steady', 'tenant 4'])
    await page.locator('#tenant-3').fill('quiet')
    await page.locator('#tenant-3').press('Enter')
    assert.deepEqual(await names(), ['noisy', 'quiet', 'steady', 'tenant 4'])
    await page.locator('#tenant-3').fill('loud')
    await page.locator('#tenant-3').blur()
    assert.deepEqual(await names(), ['noisy', 'quiet', 'steady', 'loud'])
    await page.getByRole('button', { name: 'Remove noisy' }).click()
    assert.deepEqual(await names(), ['quiet', 'steady', 'loud'])
    for (let i = 0; i < 5; i++) await page.getByRole('button', { name: 'Add a tenant' }).click()
    assert.equal(await page.getByRole('button', { name: 'Add a tenant' }).isDisabled(), true)
  })

  it('compares three schedulers at most, and one at least', async function () {
    await open()
    await page.locator('#scheduler-fair').check()
    assert.equal(await page.locator('#scheduler-capped').isDisabled(), true)
    await page.locator('#scheduler-fair').uncheck()
    await page.locator('#scheduler-none').uncheck()
    assert.equal(await page.locator('#scheduler-equal').isDisabled(), true)
  })

  it('is paused and set by keys alone, and keeps the focus where it was', async function () {
    await open()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const said = 'document.getElementById("status").textContent'
    await page.waitForFunction(`${said} === \`Paused at \${document.getElementById("time").textContent}.\``)
    await page.locator('#tenant-1-weight').focus()
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.evaluate('document.activeElement.id'), 'tenant-1-weight')
    assert.match(await hash(), /quiet%2C%2C2%2C100%2C1\.25%2C/)
    assert.equal(await page.locator('#time').textContent(), '0.0 s')
  })

  it('stands still at first for who wants less to move, and says where rates are not kept', async function () {
    await open(`#${toAddress(EXAMPLES['one tenant has a rate'])}`, { reducedMotion: 'reduce' })
    assert.equal(await page.locator('#run').textContent(), 'Run')
    assert.equal(await page.getByText('Rates of tenants need a scheduler').count(), 1)
    await page.locator('#run').click()
    await page.waitForFunction(`${SECONDS} > 0`)
  })
})

describeWithFirefox('the playground, in Firefox,', function () {
  for (const isDark of [false, true]) {
    describe(isDark ? 'dark' : 'light', function () {
      let browser

      before(async function () { browser = await openFirefox({ isDark }) })
      after(() => browser?.close())

      for (const [what, screen] of Object.entries(SCREENS)) {
        it(`runs from the disk on ${what}, shows who waits, and keeps nobody out`, async function () {
          await browser.go('about:blank', screen)
          await browser.go(address, screen)
          await browser.evaluate('document.getElementById("speed").selectedIndex = 2')
          await showsWhoWaits(text => browser.evaluate(text), text => browser.until(text))
          await browser.run(AXE)
          await isForEverybody(text => browser.evaluate(text))
          assert.deepEqual(browser.errors, [])
        })
      }

      it('is paused and set by keys alone', async function () {
        await browser.go('about:blank', SCREENS['a screen'])
        await browser.go(address, SCREENS['a screen'])
        await browser.press(TAB, ENTER)
        await browser.until('/^Paused at /.test(document.getElementById("status").textContent)')
        await browser.evaluate('document.getElementById("tenant-1-weight").focus()')
        await browser.press(RIGHT)
        await browser.until('/quiet%2C%2C2%2C100%2C1\\.25%2C/.test(location.hash)')
        assert.equal(await browser.evaluate('document.activeElement.id'), 'tenant-1-weight')
      })
    })
  }
})
