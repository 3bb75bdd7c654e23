'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { CAPABILITIES } = require('../../lib/testing/contract')
const { PAGE, isDifference, made } = require('./engines')

describe('docs/start/engines.md', () => {
  it('says of each capability what the code says: npm run docs:engines', () => {
    const text = readFileSync(PAGE, 'utf8')
    assert.equal(text, made(text))
    for (const { what, elsewhere, why } of Object.values(CAPABILITIES).filter(isDifference)) {
      assert(text.includes(what) && text.includes(`${elsewhere} | ${why}`), what)
    }
  })

  it('has the places for that', () => {
    assert.throws(() => made('a page'), /must have/)
  })
})
