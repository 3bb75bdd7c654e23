'use strict'

// Elements of the page. Names of queues and tenants, and texts of errors, go into it as text and in no other way.

const { visible } = require('./names')

const FOCUSABLE = 'a, button, input, select, summary'

module.exports = { byId, element, fillTable, keepFocus, nameElement, say, setParts, setText, startTable }

function byId (id) {
  return document.getElementById(id)
}

function element (name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Only if it differs, for those who listen to what changes. */
function setText (target, text) {
  if (target.textContent !== text) target.textContent = text
}

/** A name that turns no text around but its own. */
function nameElement (name) {
  return element('bdi', { className: 'name', textContent: visible(name) })
}

/** A sentence. @param {(string | { name: string })[]} parts */
function setParts (target, parts) {
  const key = JSON.stringify(parts)
  if (target.parts === key) return
  target.parts = key
  target.replaceChildren(...parts.map(part => typeof part === 'string' ? part : nameElement(part.name)))
}

/** What was done, or what went wrong. */
function say (text, isBad = false) {
  byId('status').classList.toggle('bad', isBad)
  setText(byId('status'), text)
}

/**
 * @param {HTMLElement} table
 * @param {{ title: string, kind?: string, sort?: string }[]} columns sort: what a press on the head sorts by
 * @param {(sort: string) => void} [whenSorted]
 */
function startTable (table, columns, whenSorted) {
  table.querySelector('thead tr').append(...columns.map(({ title, kind = '', sort }) => {
    const head = element('th', { scope: 'col', className: kind })
    if (sort === undefined) head.textContent = title
    else head.append(element('button', { type: 'button', textContent: title, onclick: () => whenSorted(sort) }))
    head.sort = sort
    return head
  }))
}

/**
 * Rows that stay keep their elements, and so the focus.
 * @param {object[]} columns each with one of: text(entry), name(entry), parts(entry), buttons(entry): [{ key, name, of, act }], where those
 *   without a key have their name for it
 */
function fillTable (table, columns, entries, keyOf, caption) {
  setText(table.querySelector('caption'), caption)
  const body = table.querySelector('tbody')
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

function fill ({ entry }, cell, { text, name, parts, buttons }) {
  if (text !== undefined) setText(cell, text(entry))
  else if (buttons !== undefined) setButtons(cell, buttons(entry))
  else setParts(cell, name === undefined ? parts(entry) : [{ name: name(entry) }])
}

/** A button stays what it is while others come and go: whoever has the focus on it is about to press it. */
function setButtons (cell, wanted) {
  const buttons = new Map(Array.from(cell.children, button => [button.key, button]))
  wanted.forEach(({ name, key = name, of, act }, i) => {
    const button = buttons.get(key) ?? makeButton(key)
    buttons.delete(key)
    if (cell.children[i] !== button) cell.insertBefore(button, cell.children[i] ?? null)
    setText(button, name)
    button.setAttribute('aria-label', `${name} ${of}`)
    button.act = act
  })
  for (const button of buttons.values()) button.remove()
}

function makeButton (key) {
  const button = element('button', { type: 'button' })
  button.key = key
  button.addEventListener('click', () => button.act())
  return button
}

/** Changes the page. The focus stays where it is, or goes to what is nearest if that is taken away: the keyboard goes on from there. */
function keepFocus (change) {
  const focused = document.activeElement
  const row = focused.closest('tbody tr')
  const [body, at] = [row?.parentElement, row?.sectionRowIndex]
  try {
    change()
  } finally {
    if (isSeen(focused)) focused.focus()
    else (rowAt(row, body, at) ?? besideOf(body ?? focused))?.focus()
  }
}

function isSeen (target) {
  return target.getClientRects().length > 0
}

/** A row does nothing when Enter is pressed, unlike the button of another one. */
function rowAt (row, body, at) {
  const heir = row?.isConnected ? row : body?.rows[Math.min(at, body.rows.length - 1)]
  if (heir === undefined || !isSeen(heir)) return undefined
  heir.tabIndex = -1
  return heir
}

/** What comes just before, or else next, in the smallest part of the page that has anything to go to. */
function besideOf (gone) {
  for (let around = gone.parentElement; around !== null; around = around.parentElement) {
    const found = Array.from(around.querySelectorAll(FOCUSABLE)).filter(isSeen)
    const before = found.findLast(each => gone.compareDocumentPosition(each) & each.DOCUMENT_POSITION_PRECEDING)
    if (found.length > 0) return before ?? found[0]
  }
}
