'use strict'

// lib/README.md draws which room imports which, and which part of a room is given which others. The drawings are what the code is.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')
const { FILES, importsOf, roomOf } = require('../support/imports')

describe('the map of the house', () => {
  it('draws what each room imports of others', () => {
    assert.equal(drawn('What imports what'), drawing())
  })

  it('draws what each part of a room is given', () => {
    assert.equal(drawn('What parts are given'), wiring())
  })
})

/** The first block of code below a heading of the map. */
function drawn (heading) {
  const [, section] = readFileSync(join(root, 'lib/README.md'), 'utf8').split(`\n## ${heading}\n`)
  return /```\n([^`]*)```/.exec(section)[1]
}

/** A line for each room, those first that import no other: its name, and those that it imports. */
function drawing () {
  const imports = new Map()
  for (const file of FILES) {
    const room = roomOf(file)
    if (!imports.has(room)) imports.set(room, new Set())
    for (const name of importsOf(file)) {
      if (FILES.includes(name) && roomOf(name) !== room) imports.get(room).add(roomOf(name))
    }
  }
  const lines = [...imports].map(([room, others]) => ({ room, others: [...others].sort(), floor: floorOf(room, imports) }))
  lines.sort((a, b) => a.floor - b.floor || (a.room < b.room ? -1 : 1))
  return lines.map(({ room, others }) => `${room.padEnd(12)} ◀ ${others.join(' ')}`.trimEnd() + '\n').join('')
}

/** How many rooms stand below one at most, each on the next. */
function floorOf (room, imports) {
  return Math.max(0, ...Array.from(imports.get(room), other => 1 + floorOf(other, imports)))
}

/** A line for each part of the rooms that are wired by a table, in the order in which they are made. */
function wiring () {
  const wired = FILES.filter(file => /^const WIRING = /m.test(readFileSync(join(root, file), 'utf8')))
  return wired.map(file => {
    const parts = Object.entries(require(join(root, file)).WIRING)
    return `${file}\n` + parts.map(([part, given]) => `  ${part.padEnd(12)} ◀ ${given.join(' ')}`.trimEnd() + '\n').join('')
  }).join('')
}
