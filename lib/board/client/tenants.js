'use strict'

// The tenants of a queue: who has the slots, who waits, and why; their groups; and what can be done to each.

const { byId, element, fillTable, setParts, startTable } = require('./dom')
const { isolated } = require('./names')
const { perform } = require('./server')
const { count, percent, reason, time } = require('./words')

const GROUPS = [
  { title: 'group', name: ({ group }) => group },
  { title: 'share', text: ({ share }) => percent(share) },
  { title: 'running', text: ({ running }) => count(running) },
  { title: 'waiting', text: ({ waiting }) => count(waiting) },
  { title: 'types', text: ({ typesCount }) => count(typesCount) },
  { title: 'actions', kind: 'acts', buttons: groupButtons }
]

// What one tenant can be set to, in a dialog: by the name of the action, the label, the field, and what is in it at first.
const SETTINGS = [
  { action: 'holdType', field: 'ms', label: 'hold for this many seconds (0 ends the hold)', first: () => 60, read: text => 1000 * Number(text) },
  { action: 'setCap', field: 'cap', label: 'cap (empty: no cap)', first: ({ cap }) => cap ?? '', read: text => text === '' ? null : Number(text) },
  { action: 'setWeight', field: 'weight', label: 'weight', first: ({ weight }) => weight ?? 1, read: Number }
]

const columns = [
  { title: 'type', sort: 'type', name: ({ type }) => type },
  { title: 'group', sort: 'group', kind: 'text group', parts: ({ group }) => group === undefined ? [] : [{ name: group }] },
  { title: 'share', sort: 'share', text: ({ share }) => percent(share) },
  { title: 'running', sort: 'running', text: ({ running }) => count(running) },
  { title: 'overdue', sort: 'overdue', text: ({ overdue }) => count(overdue) },
  { title: 'waiting', sort: 'waiting', text: ({ waiting }) => count(waiting) },
  { title: 'oldest wait', sort: 'oldestWait', text: ({ oldestWaitMs }) => time(oldestWaitMs) },
  { title: 'done', sort: 'done', text: ({ done }) => count(done) },
  { title: 'failed', sort: 'failed', text: ({ failed }) => count(failed) },
  { title: 'retried', sort: 'retried', text: ({ retried }) => count(retried) },
  { title: 'cap', sort: 'cap', text: ({ cap }) => count(cap) },
  { title: 'weight', sort: 'weight', text: ({ weight }) => count(weight) },
  { title: 'why it waits', sort: 'until', kind: 'text', parts: whyOf },
  { title: 'actions', kind: 'acts', buttons: typeButtons }
]

const view = { sort: 'share', order: 'down', filter: '', group: undefined }
let queue // that is shown
let refresh

module.exports = { showTenants, startTenants, viewed }

/** @param {() => Promise<void>} whenChanged asks again */
function startTenants (whenChanged) {
  refresh = whenChanged
  startTable(byId('types'), columns, sortBy)
  startTable(byId('groups'), GROUPS)
  byId('sort').append(...columns.filter(({ sort }) => sort !== undefined).map(({ title, sort }) => element('option', { value: sort, textContent: title })))
  byId('sort').addEventListener('change', ({ target }) => sortBy(target.value))
  byId('search').addEventListener('submit', event => event.preventDefault())
  byId('filter').addEventListener('input', ({ target }) => {
    view.filter = target.value
    refresh()
  })
  byId('ungroup').addEventListener('click', () => {
    view.group = undefined
    refresh()
  })
  addEventListener('hashchange', () => { view.group = undefined }) // of another queue
  byId('settings-fields').addEventListener('submit', ({ submitter, target }) => {
    const setting = SETTINGS.find(({ action }) => action === submitter.value)
    const { type } = byId('settings').entry
    const value = setting.read(target.elements[setting.action].value)
    perform({ queue: queue.name, action: setting.action, type, [setting.field]: value }, refresh)
  })
}

/** What of the tenants is asked for. */
function viewed () {
  return view
}

function showTenants (shown) {
  queue = shown
  const { types, foundCount, typesCount, groups } = queue
  fillTable(byId('types'), columns, types, ({ type }) => type, captionOf(types.length, foundCount, typesCount))
  for (const row of byId('types').tBodies[0].rows) row.cells[0].style.setProperty('--share', `${100 * (row.entry.share ?? 0)}%`)
  for (const head of byId('types').tHead.rows[0].cells) {
    if (head.sort === view.sort) head.setAttribute('aria-sort', view.order === 'up' ? 'ascending' : 'descending')
    else head.removeAttribute('aria-sort')
  }
  byId('sort').value = view.sort
  byId('types').classList.toggle('ungrouped', groups === null)
  byId('grouped').hidden = groups === null
  fillTable(byId('groups'), GROUPS, groups ?? [], ({ group }) => group, 'Groups by their share of the last minute')
  byId('ungroup').hidden = view.group === undefined
  if (view.group !== undefined) setParts(byId('ungroup'), ['Show all types, not only those of ', { name: view.group }])
}

function captionOf (shown, found, all) {
  const some = shown < found ? `${count(shown)} of ${count(found)}` : count(shown)
  return `Tenants in the last minute: ${some}${found < all ? ` (${count(all)} in total)` : ''}`
}

/** A second press turns the order around. */
function sortBy (sort) {
  if (view.sort === sort) view.order = view.order === 'up' ? 'down' : 'up'
  else view.order = sort === 'type' || sort === 'group' ? 'up' : 'down'
  view.sort = sort
  refresh()
}

function whyOf (row) {
  const parts = row.waiting > 0 || row.paused ? reason(row) : []
  const rates = [row.rate ?? []].flat().map(({ limit, intervalMs }) => `${count(limit)} in ${time(intervalMs)}`)
  if (rates.length === 0) return row.paused && parts.length === 0 ? ['paused'] : parts
  return [...parts, `${parts.length > 0 ? '; ' : ''}may start ${rates.join(', ')}`]
}

function typeButtons (row) {
  const { type, isType, paused, waiting } = row
  const { actions } = queue
  const wanted = []
  const toggle = ['Type', 'Global'].find(whose => actions.includes(`pause${whose}`))
  const act = action => perform({ queue: queue.name, action, type }, refresh)
  const press = (key, name, act) => wanted.push({ key, name, of: isolated(type), act })
  if (!isType) return []
  if (toggle !== undefined) press('pause', paused ? 'Resume' : 'Pause', () => act(`${paused ? 'resume' : 'pause'}${toggle}`))
  if (actions.includes('clearType') && waiting > 0) {
    press('clear', 'Clear', () => confirm(`Cancel all waiting jobs of ${isolated(type)}?`) && act('clearType'))
  }
  if (SETTINGS.some(({ action }) => actions.includes(action))) press('set', 'Set…', () => openSettings(row))
  return wanted
}

function groupButtons ({ group }) {
  const show = () => {
    view.group = group
    return refresh()
  }
  return [{ name: 'Types', of: isolated(group), act: show }]
}

function openSettings (row) {
  const dialog = byId('settings')
  dialog.entry = row
  setParts(byId('settings-title'), [{ name: row.type }])
  const settings = SETTINGS.filter(({ action }) => queue.actions.includes(action))
  byId('settings-fields').replaceChildren(...settings.map(({ action, label, first }) => {
    const input = element('input', { type: 'number', id: action, name: action, min: 0, step: 'any', value: first(row) })
    const button = element('button', { value: action, textContent: 'Set' })
    button.setAttribute('aria-label', `Set the ${label.split(' ')[0]}`)
    // each is a form of its own: Enter in a field sets that field
    return element('form', { method: 'dialog' }, element('label', { htmlFor: action, textContent: label }), input, button)
  }))
  dialog.showModal()
  dialog.querySelector('input').select() // as Tab does: what is typed takes the place of what is there
}
