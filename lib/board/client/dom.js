'use strict'

// Elements of the page. Names of queues and tenants, and texts of errors, go into it as text and in no other way.

const { visible } = require('./names')

module.exports = { byId, element, fillTable, nameElement, say, setParts, setText, startTable }

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
 * Rows that stay keep their elements, so that the focus stays, too.
 * @param {object[]} columns each with one of: text(entry), name(entry), parts(entry), buttons(entry): [{ name, of, act }]
 */
function fillTable (table, columns, entries, keyOf, caption) {
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

function fill ({ entry }, cell, { text, name, parts, buttons }) {
  if (text !== undefined) setText(cell, text(entry))
  else if (buttons !== undefined) setButtons(cell, buttons(entry))
  else setParts(cell, name === undefined ? parts(entry) : [{ name: name(entry) }])
}

function setButtons (cell, wanted) {
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
