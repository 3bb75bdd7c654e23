'use strict'

// Makes the tables of docs/start/engines.md of the one of lib/testing/contract/capabilities.js: npm run docs:engines

const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { CAPABILITIES, ENGINES } = require('../../lib/testing/contract/capabilities')

const PAGE = join(__dirname, '../../docs/start/engines.md')
const [BEGIN, END] = ['<!-- capabilities:begin -->', '<!-- capabilities:end -->']

if (require.main === module) writeFileSync(PAGE, made(readFileSync(PAGE, 'utf8')))

module.exports = { isDifference, PAGE, made }

/** @param {string} text of the page @returns {string} the same, with what the code says between its markers */
function made (text) {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page must have ${BEGIN} and ${END}`)
  return `${text.slice(0, begin)}${BEGIN}\n\n${table()}\n\n${text.slice(end)}`
}

/** What most engines have comes first, and what only one of them has, by engine. */
function table () {
  const rows = Object.values(CAPABILITIES)
    .filter(isDifference)
    .sort((one, other) => other.engines.length - one.engines.length || place(one) - place(other))
  const lines = rows.map(({ what, engines, elsewhere, why }) => {
    return [what, ...ENGINES.map(engine => engines.includes(engine) ? '■' : '–'), elsewhere, why].join(' | ')
  })
  return [`| | ${ENGINES.join(' | ')} | elsewhere | why |`, '|---|:-:|:-:|:-:|---|---|', ...lines.map(line => `| ${line} |`)].join('\n')
}

/** Others may lack what these three all have. */
function isDifference ({ engines }) {
  return engines.length < ENGINES.length
}

function place ({ engines: [first] }) {
  return ENGINES.indexOf(first)
}
