'use strict'

// Which part of a room is given which others: WIRING in its parts.js, or where else it is put together, by which it makes them
// (lib/platform/wiring.js).

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')
const { FILES } = require('../support/imports')

const MOST_GIVEN = 8
const ROOMS = FILES.filter(file => /^const WIRING = /m.test(readFileSync(join(root, file), 'utf8')))

describe('the wiring of rooms that are made of parts', () => {
  for (const file of ROOMS) {
    const { WIRING } = require(join(root, file))

    it(`${file} gives no part more than ${MOST_GIVEN} others`, () => {
      for (const [part, given] of Object.entries(WIRING)) {
        assert(given.length <= MOST_GIVEN, `${part} is given ${given.length}: ${given.join(', ')}`)
        assert.equal(new Set(given).size, given.length, `${part} is given one twice`)
      }
    })

    it(`${file} gives each part only such that are made before it, so there is no circle`, () => {
      const made = []
      for (const [part, given] of Object.entries(WIRING)) {
        assert.deepEqual(given.filter(other => !made.includes(other)), [], part)
        made.push(part)
      }
    })

    it(`${file} makes the parts of the table, each by its row`, () => {
      const text = readFileSync(join(root, file), 'utf8')
      for (const [part, given] of Object.entries(WIRING)) {
        if (given.length > 0) assert(text.includes(`'${part}'`) || text.includes(`parts.${part} =`) || new RegExp(`^  ${part}: [A-Z]`, 'm').test(text), part)
      }
    })
  }
})
