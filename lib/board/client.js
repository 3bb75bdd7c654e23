'use strict'

// What runs in the browser: page.js puts this file into the page as it is. It asks for the state again and again, shows it, and sends what
// a button is for. Names of queues and tenants, and texts of errors, go into the page as text and in no other way.

const REFRESH_MS = 2000
const BASE = location.pathname.replace(/\/?$/, '/') // it may be mounted without a slash at its end

const byId = id => document.getElementById(id)

// The columns of the tables: what a cell says of a row's entry.
const TYPES = [
  { title: 'type', text: ({ type }) => type || '(none)' },
  { title: 'share', text: ({ share }) => `${(100 * share).toFixed(1)} %` },
  { title: 'running', text: ({ running }) => count(running) },
  { title: 'waiting', text: ({ waiting }) => count(waiting) },
  { title: 'wait p50', text: ({ waitMs }) => time(waitMs.p50) },
  { title: 'wait p99', text: ({ waitMs }) => time(waitMs.p99) },
  { title: 'cap', text: ({ cap }) => count(cap) },
  { title: 'weight', text: ({ weight }) => count(weight) },
  { title: 'done', text: ({ done }) => count(done) },
  { title: 'failed', text: ({ failed }) => count(failed) },
  { title: 'state', kind: 'text', text: typeState },
  { title: 'actions', kind: 'acts', buttons: typeButtons }
]
const DEAD_LETTERS = [
  { title: 'job', text: ({ id }) => String(id) },
  { title: 'type', kind: 'text', text: ({ type }) => type },
  { title: 'attempts', text: ({ attempts }) => count(attempts) },
  { title: 'error', kind: 'text', text: ({ error }) => error },
  { title: 'actions', kind: 'acts', buttons: deadButtons }
]
const FAILURES = [
  { title: 'job', text: ({ id }) => String(id) },
  { title: 'type', kind: 'text', text: ({ type }) => type },
  { title: 'failed at', kind: 'text', text: ({ endedAt }) => new Date(endedAt).toLocaleString() },
  { title: 'attempts', text: ({ attempts }) => count(attempts) },
  { title: 'error', kind: 'text', text: ({ error }) => error }
]

let shown // the queue, as it was told last
let first // the name of the queue that is shown where the address names none
let turn = 0 // of the newest question
let isStale = false // the newest question had no good answer
let timer

for (const [table, columns] of [[byId('types'), TYPES], [byId('dead'), DEAD_LETTERS], [byId('failures'), FAILURES]]) {
  const head = columns.map(({ title, kind = '' }) => element('th', { scope: 'col', className: kind, textContent: title }))
  table.querySelector('thead tr').append(...head)
}
byId('pause').addEventListener('click', () => act('pause'))
byId('resume').addEventListener('click', () => act('resume'))
byId('filter').addEventListener('input', refresh)
byId('search').addEventListener('submit', event => event.preventDefault())
addEventListener('hashchange', refresh)
document.addEventListener('visibilitychange', refresh)
refresh()

async function refresh () {
  clearTimeout(timer)
  const own = ++turn
  if (document.hidden) return
  try {
    const search = new URLSearchParams({ filter: byId('filter').value })
    const name = location.hash === '' ? first : decodeURIComponent(location.hash.slice(1))
    if (name !== undefined) search.set('queue', name)
    const state = await answerOf(await fetch(`${BASE}state?${search}`))
    if (own !== turn) return
    show(state)
    if (isStale) say('')
    isStale = false
  } catch (err) {
    if (own !== turn) return
    say(`${new Date().toLocaleTimeString()}: ${err.message}`, true)
    isStale = true
  }
  timer = setTimeout(refresh, REFRESH_MS)
}

async function act (action, fields) {
  try {
    const { result } = await answerOf(await fetch(`${BASE}act`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action, queue: shown.name, ...fields })
    }))
    await refresh()
    say(result === false ? `${action}: the job is not there any more` : `${action}: done`)
  } catch (err) {
    say(`${action}: ${err.message}`, true)
  }
}

/** What the server says, or throws what it says against it. */
async function answerOf (response) {
  const isJson = /^application\/json/.test(response.headers.get('content-type'))
  if (!isJson) throw new Error(`the server answered ${response.status}, and no JSON`)
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer
}

function say (text, isBad = false) {
  byId('status').classList.toggle('bad', isBad)
  setText(byId('status'), text)
}

function show ({ names, queues: [queue] }) {
  first = names[0]
  showNames(names, queue.name)
  // what is known of a queue that does not answer is better than nothing
  byId('content').hidden = queue.error !== undefined && shown?.name !== queue.name
  if (queue.error !== undefined) throw new Error(`${queue.name}: ${queue.error.message}`)
  shown = queue
  showNumbers(queue)
  const { actions, paused, types, typeCount, deadLetters, failures } = queue
  byId('pause').hidden = paused || !actions.includes('pause')
  byId('resume').hidden = !paused || !actions.includes('resume')
  const some = types.length < typeCount ? `${count(types.length)} of ${count(typeCount)}` : count(typeCount)
  showTable(byId('types'), TYPES, types, ({ type }) => type, `Types by their share of the slot time: ${some}`)
  for (const row of byId('types').tBodies[0].rows) row.cells[0].style.setProperty('--share', `${100 * row.entry.share}%`)
  showJobs(byId('dead'), DEAD_LETTERS, deadLetters ?? [], `The oldest first: ${count(deadLetters?.length)} of ${count(queue.dead)}`)
  showJobs(byId('failures'), FAILURES, failures ?? [], 'By the history of the queue')
}

function showJobs (section, columns, jobs, caption) {
  section.hidden = jobs.length === 0
  showTable(section, columns, jobs, ({ id }) => String(id), caption)
}

function showNames (names, current) {
  document.title = `${current} – fairlane`
  setText(byId('name'), current)
  const nav = byId('names')
  nav.hidden = names.length < 2
  while (nav.children.length < names.length) nav.append(element('a'))
  names.forEach((name, i) => {
    const link = nav.children[i]
    setText(link, name)
    link.href = `#${encodeURIComponent(name)}`
    if (name === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  })
}

function showNumbers ({ slots, running, waiting, delayed, dead, closed, paused, fairness, starving, starvingCount, refused }) {
  const numbers = Object.entries({
    running: `${count(running)} of ${slots === null ? '∞' : count(slots)} slots`,
    waiting: count(waiting),
    delayed: count(delayed),
    'dead letters': dead === null ? '' : count(dead),
    refused: count(Object.values(refused).reduce((sum, number) => sum + number, 0)),
    fairness: fairness === null ? '' : fairness.toFixed(3),
    starving: starvingCount > starving.length ? `${starving.join(', ')}, … (${count(starvingCount)} types)` : starving.join(', '),
    state: [closed && 'closed', paused && 'paused'].filter(Boolean).join(', ')
  }).filter(([, text]) => text !== '')
  const list = byId('numbers')
  while (list.children.length > numbers.length) list.lastChild.remove()
  while (list.children.length < numbers.length) {
    const pair = element('div')
    pair.append(element('dt'), element('dd'))
    list.append(pair)
  }
  numbers.forEach(([name, text], i) => {
    const { children: [dt, dd] } = list.children[i]
    setText(dt, name)
    setText(dd, text)
  })
}

/** Rows that stay keep their elements, so that the focus stays, too. */
function showTable (table, columns, entries, keyOf, caption) {
  setText(table.querySelector('caption'), caption)
  const body = table.querySelector('tbody')
  const focused = document.activeElement
  const rows = new Map(Array.from(body.rows, row => [row.key, row]))
  entries.forEach((entry, i) => {
    const key = keyOf(entry)
    const row = rows.get(key) ?? makeRow(columns, key)
    rows.delete(key)
    if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] ?? null)
    row.entry = entry
    columns.forEach((column, at) => fill(row, row.cells[at], column))
  })
  for (const row of rows.values()) row.remove()
  if (focused !== document.activeElement && focused.isConnected) focused.focus()
}

function makeRow (columns, key) {
  const row = element('tr')
  row.key = key
  row.append(...columns.map(({ title, kind = '' }, at) => {
    const cell = at === 0 ? element('th', { scope: 'row' }) : element('td', { className: kind })
    cell.dataset.label = title
    return cell
  }))
  return row
}

function fill (row, cell, { text, buttons }) {
  if (buttons === undefined) return setText(cell, text(row.entry))
  const wanted = buttons(row.entry)
  while (cell.children.length > wanted.length) cell.lastChild.remove()
  while (cell.children.length < wanted.length) {
    const button = element('button', { type: 'button' })
    button.addEventListener('click', () => button.act())
    cell.append(button)
  }
  wanted.forEach(({ name, of, act }, i) => {
    const button = cell.children[i]
    setText(button, name)
    button.setAttribute('aria-label', `${name} ${of}`)
    button.act = act
  })
}

function typeState ({ paused, starving, rate }) {
  return [
    paused && 'paused',
    starving && 'starving',
    rate && [rate].flat().map(({ limit, intervalMs }) => `${count(limit)} in ${time(intervalMs)}`).join(', ')
  ].filter(Boolean).join(', ')
}

function typeButtons ({ type, isType, paused, waiting }) {
  const { actions } = shown
  const toggle = ['Type', 'Global'].find(whose => actions.includes(`pause${whose}`))
  const wanted = []
  if (toggle !== undefined && isType) {
    if (paused) wanted.push({ name: 'Resume', of: type, act: () => act(`resume${toggle}`, { type }) })
    else wanted.push({ name: 'Pause', of: type, act: () => act(`pause${toggle}`, { type }) })
  }
  if (actions.includes('clearType') && isType && waiting > 0) {
    wanted.push({ name: 'Clear', of: type, act: () => confirm(`Cancel all waiting jobs of ${type}?`) && act('clearType', { type }) })
  }
  return wanted
}

function deadButtons ({ id }) {
  const wanted = []
  if (shown.actions.includes('retryDead')) wanted.push({ name: 'Retry', of: `job ${id}`, act: () => act('retryDead', { id }) })
  if (shown.actions.includes('deleteDead')) {
    wanted.push({ name: 'Delete', of: `job ${id}`, act: () => confirm(`Delete job ${id} for good?`) && act('deleteDead', { id }) })
  }
  return wanted
}

function element (name, properties) {
  return Object.assign(document.createElement(name), properties)
}

/** Only if it differs, for those who listen to what changes. */
function setText (element, text) {
  if (element.textContent !== text) element.textContent = text
}

function count (value = null) {
  return value === null ? '–' : value.toLocaleString('en')
}

function time (ms) {
  if (ms === null) return '–'
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`
  if (ms < 60000) return `${Number((ms / 1000).toPrecision(3))} s`
  return `${Number((ms / 60000).toPrecision(3))} min`
}
