'use strict'

// fairlane types: which types have jobs.

const { cut } = require('../text')

const COLUMNS = [
  { title: 'TYPE', of: ({ type }) => cut(type || '(none)') },
  ...['waiting', 'delayed', 'running', 'dead'].map(name => ({ title: name.toUpperCase(), of: row => String(row[name]), isNumber: true }))
]

async function types ({ target, values: { limit = Infinity }, output }) {
  const all = await target.types()
  const first = all.slice(0, limit)
  if (output.isJson) {
    await output.array(first)
    return
  }
  await output.table(COLUMNS, first)
  if (first.length < all.length) output.note(`… and ${all.length - first.length} more`)
}

module.exports = { types }
