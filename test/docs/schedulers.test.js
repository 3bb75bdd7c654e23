'use strict'

const assert = require('node:assert')
const { schedulerChecks } = require('../../lib/testing')
const { pages, codeBlocks } = require('./pages')

describe('the schedulers that docs/reference/schedulers.md shows', () => {
  const { text } = pages().find(({ path }) => path === 'docs/reference/schedulers.md')

  describe('with lanes', () => {
    const TakeTurns = definitionOf('class TakeTurns')
    for (const { title, run } of schedulerChecks(() => new TakeTurns())) it(title, run)
  })

  describe('with a window', () => {
    const urgentFirst = definitionOf('const urgentFirst')
    for (const { title, run } of schedulerChecks(() => urgentFirst)) it(title, run)
  })

  /** What the example that begins so defines, without the queue that follows. */
  function definitionOf (beginning) {
    const blocks = codeBlocks(text).filter(({ code }) => code.includes(`\n${beginning} `))
    assert.equal(blocks.length, 1)
    const [, definition] = blocks[0].code.match(new RegExp(`^(${beginning} [^]*?)^const queue`, 'm'))
    const name = beginning.split(' ')[1]
    return new Function(`${definition}\nreturn ${name}`)() // eslint-disable-line no-new-func
  }
})
