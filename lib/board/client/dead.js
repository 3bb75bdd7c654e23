'use strict'

// Dead letters: what they failed with, a page of those that match, and what is done to one, or to all that match.

const { byId, element, fillTable, keepFocus, say, setText, startTable } = require('./dom')
const { isolated, visible } = require('./names')
const { act, ask, perform } = require('./server')
const { count } = require('./words')

const CAUSES = [
  { title: 'error', parts: ({ error }) => [{ name: error }] },
  { title: 'type', kind: 'text', name: ({ type }) => type },
  { title: 'letters', text: ({ count: number }) => count(number) },
  { title: 'actions', kind: 'acts', buttons: causeButtons }
]
const LETTERS = [
  { title: 'job', text: ({ id }) => visible(String(id)) },
  { title: 'type', kind: 'text', name: ({ type }) => type },
  { title: 'died at', kind: 'text', text: ({ at }) => at === null ? '–' : new Date(at).toLocaleString() },
  { title: 'attempts', text: ({ attempts }) => count(attempts) },
  { title: 'error', kind: 'text', parts: ({ error }) => [{ name: error }] },
  { title: 'actions', kind: 'acts', buttons: letterButtons }
]

const wanted = { type: '', error: '' }
let queue // that is shown
let refresh
let page // of dead letters, as it was told last
let pageOf // which one that is
const sweeping = { isOn: false, isStopped: false } // something is being done to many

module.exports = { showDead, startDead }

/** @param {() => Promise<void>} whenChanged asks for the state again */
function startDead (whenChanged) {
  refresh = whenChanged
  startTable(byId('causes'), CAUSES)
  startTable(byId('letters'), LETTERS)
  byId('dead-search').addEventListener('submit', event => {
    event.preventDefault()
    look()
  })
  for (const name of Object.keys(wanted)) {
    byId(`dead-${name}`).addEventListener('change', ({ target }) => {
      wanted[name] = target.value
      look()
    })
  }
  byId('dead-more').addEventListener('click', () => look(page.after))
  byId('dead-first').addEventListener('click', () => look())
  byId('dead-retry').addEventListener('click', () => sweep('retryDeadOf', 'Retry'))
  byId('dead-delete').addEventListener('click', () => sweep('deleteDeadOf', 'Delete'))
  byId('dead-stop').addEventListener('click', () => { sweeping.isStopped = true })
  byId('dead').addEventListener('toggle', () => { if (byId('dead').open) look() })
}

/** The letters are asked for when somebody looks at them, and again when there are more or fewer. */
function showDead (shown) {
  const isOther = queue?.name !== shown.name
  const isChanged = queue?.dead !== shown.dead
  queue = shown
  byId('dead').hidden = queue.dead === null
  setText(byId('dead-title'), `Dead letters: ${count(queue.dead)}`)
  if (isOther) {
    page = undefined
    byId('dead').open = false
  } else if (isChanged && byId('dead').open && !sweeping.isOn) {
    look(pageOf)
  }
}

async function look (after) {
  const { name } = queue
  try {
    const told = await ask('dead', { queue: name, type: wanted.type || undefined, error: wanted.error || undefined, after })
    if (name !== queue.name) return
    page = told
    pageOf = after
    keepFocus(show)
  } catch (err) {
    say(`dead letters: ${err.message}`, true)
  }
}

function show () {
  const { letters, causes, matchCount, after, isWhole } = page
  const { actions } = queue
  const isFirst = pageOf === undefined
  const some = isWhole ? count(matchCount) : `${count(matchCount)} or more`
  byId('causes').hidden = !isFirst || causes.length === 0
  if (isFirst) fillTable(byId('causes'), CAUSES, causes, ({ type, error }) => JSON.stringify([type, error]), 'By error')
  const caption = isFirst ? `Oldest first: ${count(letters.length)} of ${some}` : `Continued: ${count(letters.length)}`
  fillTable(byId('letters'), LETTERS, letters, ({ id }) => String(id), caption)
  byId('dead-more').hidden = after === null
  byId('dead-first').hidden = isFirst
  for (const [id, action, verb] of [['dead-retry', 'retryDeadOf', 'Retry'], ['dead-delete', 'deleteDeadOf', 'Delete']]) {
    byId(id).hidden = !actions.includes(action) || matchCount === 0
    setText(byId(id), `${verb} all matches`)
  }
}

/** One slice after the other, until it is through or somebody stops it. */
async function sweep (action, verb) {
  const which = { queue: queue.name, type: wanted.type || undefined, error: wanted.error || undefined }
  const total = page.isWhole && pageOf === undefined ? page.matchCount : queue.dead
  const what = [wanted.type && `of ${isolated(wanted.type)}`, wanted.error && `with “${wanted.error}” in the error`].filter(Boolean).join(' ')
  if (!confirm(`${verb} all dead letters${what && ` ${what}`}?`)) return
  const sum = { done: 0, left: 0 }
  let asked = {}
  Object.assign(sweeping, { isOn: true, isStopped: false })
  byId('dead-progress').max = Math.max(total, 1)
  progress(sum)
  try {
    for (; !sweeping.isStopped && asked.after !== null; progress(sum)) {
      const { done, left, ...next } = await act({ action, ...which, ...asked })
      sum.done += done
      sum.left += left
      asked = next
    }
    say(`${action}: ${count(sum.done)} done${sum.left > 0 ? `, ${count(sum.left)} skipped` : ''}${asked.after === null ? '' : '; stopped'}`)
  } catch (err) {
    say(`${action}: ${count(sum.done)} done, then it failed: ${err.message}`, true)
  }
  sweeping.isOn = false
  progress(sum)
  await refresh()
  await look()
}

function progress ({ done, left }) {
  keepFocus(() => { byId('dead-sweep').hidden = !sweeping.isOn })
  byId('dead-progress').value = done + left
  setText(byId('dead-swept'), `${count(done)} done`)
}

function causeButtons ({ type, error }) {
  const show = () => {
    Object.assign(wanted, { type, error: error.replace(/…$/, '') })
    for (const [name, text] of Object.entries(wanted)) byId(`dead-${name}`).value = text
    return look()
  }
  return [{ name: 'Show', of: `those of ${isolated(type)} with ${error}`, act: show }]
}

function letterButtons ({ id }) {
  const { actions, showsPayloads, name } = queue
  const of = `job ${visible(String(id))}`
  const done = async fields => {
    await perform({ queue: name, ...fields }, refresh)
    await look(pageOf)
  }
  return [
    ...actions.includes('retryDead') ? [{ name: 'Retry', of, act: () => done({ action: 'retryDead', id }) }] : [],
    ...actions.includes('deleteDead') ? [{ name: 'Delete', of, act: () => confirm(`Delete ${of} for good?`) && done({ action: 'deleteDead', id }) }] : [],
    ...showsPayloads ? [{ name: 'Payload', of, act: () => showPayload(id, of) }] : []
  ]
}

async function showPayload (id, of) {
  try {
    const { payload } = await ask('payload', { queue: queue.name, id })
    setText(byId('payload-title'), `Payload of ${of}`)
    byId('payload-text').replaceChildren(element('bdi', { textContent: payload }))
    byId('payload').showModal()
  } catch (err) {
    say(`payload: ${err.message}`, true)
  }
}
