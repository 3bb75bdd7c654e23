'use strict'

// The page: it lets virtual time go on as fast as somebody wants, and shows what each scheduler makes of it.

const { drawShares, drawSlots } = require('./charts')
const { showControls } = require('./controls')
const { element } = require('./dom')
const { DEFAULT, EXAMPLES, SCHEDULERS, fromAddress, toAddress } = require('./setup')
const { World } = require('./simulation')

const { fairlane, fakeClock } = globalThis.fairlaneForPlayground
const SPEEDS = [1, 10, 100]
const LONGEST_FRAME_MS = 100 // a page that was not shown goes on where it was
const TABLE_MS = 250 // from one look of the tables to the next

const byId = id => document.getElementById(id)
const channel = new MessageChannel()
const turned = []
channel.port1.onmessage = () => turned.shift()()

/** A turn of the event loop. */
function turn () {
  return new Promise(resolve => {
    turned.push(resolve)
    channel.port2.postMessage(undefined)
  })
}

let setup
let colours
let world
let views
let isRunning = !matchMedia('(prefers-reduced-motion: reduce)').matches
let tablesAt = 0

/** @param {string} [focus] id of what is to have the focus then: what had it is made anew */
function begin (next, focus = document.activeElement?.id) {
  setup = next
  colours = setup.tenants.map((_, i) => getComputedStyle(document.documentElement).getPropertyValue(`--tenant-${i}`).trim())
  showControls(setup, begin, colours)
  byId(focus)?.focus()
  world = new World(setup, { fairlane, fakeClock, turn })
  views = world.columns.map(viewOf)
  byId('columns').replaceChildren(...views.map(({ section }) => section))
  history.replaceState(undefined, '', `#${toAddress(setup)}`)
  tablesAt = 0
  show()
}

function viewOf (column) {
  const { title, about } = SCHEDULERS[column.name]
  const rows = setup.tenants.map(({ name }, i) => {
    const mark = element('span', { className: 'mark', aria: { hidden: true } })
    mark.style.background = colours[i]
    const cells = ['share', 'median', 'p99', 'waiting', 'refused'].map(() => element('td'))
    return { row: element('tr', {}, element('th', { scope: 'row' }, mark, name), ...cells), cells }
  })
  const heads = ['tenant', 'share', 'median wait', '99 % wait', 'waiting', 'refused'].map(text => element('th', { scope: 'col' }, text))
  const slots = element('canvas', { className: 'slots', aria: { role: 'img', label: 'Which tenant has which slot, over the last ten seconds' } })
  const shares = element('canvas', { className: 'shares', aria: { role: 'img', label: 'The share of slot time of each tenant, over the last ten seconds' } })
  const caption = element('caption', {}, 'Shares of slot time of the last five seconds, and waits of the last 500 jobs of each tenant')
  const table = element('table', { id: `table-${column.name}` }, caption, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows.map(({ row }) => row)))
  const wide = element('div', { className: 'wide', tabIndex: 0, aria: { role: 'group', label: `Numbers of ${title}` } }, table)
  const notes = !SCHEDULERS[column.name].hasRates && setup.tenants.some(({ rate }) => rate > 0) ? [element('p', {}, 'Rates of tenants need a scheduler: here they are not kept.')] : []
  return { column, slots, shares, rows, section: element('section', {}, element('h2', {}, title), element('p', {}, about), ...notes, slots, shares, wide) }
}

function show () {
  byId('time').textContent = `${(world.now / 1000).toFixed(1)} s`
  byId('run').textContent = isRunning ? 'Pause' : 'Run'
  for (const { column, slots, shares } of views) {
    drawSlots(slots, column, colours)
    drawShares(shares, column, colours)
  }
  if (performance.now() < tablesAt) return
  tablesAt = performance.now() + TABLE_MS
  for (const { column, rows } of views) {
    const parts = column.shares()
    for (const [i, { cells }] of rows.entries()) {
      const record = column.records[i]
      const texts = [`${Math.round(100 * parts[i])} %`, told(record.wait(0.5)), told(record.wait(0.99)), record.waiting, record.refused]
      cells.forEach((cell, at) => { cell.textContent = texts[at] })
    }
  }
}

function told (ms) {
  if (ms === undefined) return '–'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

async function play () {
  for (let at = performance.now(); ; at = performance.now()) {
    await new Promise(requestAnimationFrame)
    if (!isRunning) continue
    const passed = Math.min(performance.now() - at, LONGEST_FRAME_MS)
    const own = world
    await own.runUntil(own.now + passed * SPEEDS[byId('speed').selectedIndex])
    if (own !== world) continue
    show()
    if (!isRunning) tellPause() // somebody has paused it meanwhile
  }
}

function tellPause () {
  byId('status').textContent = isRunning ? '' : `Paused at ${byId('time').textContent}.`
}

/** A link that cannot be read is said to be none, and what comes with the page is shown. */
function fromLocation () {
  const address = location.hash.slice(1)
  if (address === '') return DEFAULT
  try {
    return fromAddress(address)
  } catch (err) {
    byId('status').textContent = `This link cannot be read (${err.message}), so an example is shown.`
    return DEFAULT
  }
}

byId('speed').append(...SPEEDS.map(speed => element('option', {}, `${speed}×`)))
byId('speed').selectedIndex = 1
byId('example').append(element('option', { value: '' }, 'choose one'), ...Object.keys(EXAMPLES).map(name => element('option', {}, name)))
byId('example').onchange = ({ target }) => {
  if (target.value !== '') begin(EXAMPLES[target.value])
  target.selectedIndex = 0
}
byId('run').onclick = () => {
  isRunning = !isRunning
  tablesAt = 0
  show()
  tellPause()
}
byId('restart').onclick = () => begin(setup)
byId('share').onclick = async () => {
  try {
    await navigator.clipboard.writeText(location.href)
    byId('status').textContent = 'The link is copied: it has all that is set here.'
  } catch {
    byId('status').textContent = 'Copy the address of this page: it has all that is set here.'
  }
}
addEventListener('hashchange', () => { if (location.hash !== `#${toAddress(setup)}`) begin(fromLocation()) })
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => begin(setup))
begin(fromLocation())
play()
