'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')
const { FILE, declarations, surface } = require('./surface')

// A change of it is meant: `npm run surface` writes the file anew, and CHANGELOG.md tells users.
describe('what others may use of the package', () => {
  const text = surface()

  it('is what surface.txt says', () => {
    assert.deepEqual(text.split('\n'), readFileSync(FILE, 'utf8').split('\n'))
  })

  it('has exports, codes, columns, events, metrics, options and members', () => {
    const lines = text.split('\n').map(line => line.trim())
    for (const line of [
      'makeEqual', 'accepted_at REAL', 'FAIRLANE_ERR_CLOSED', 'FAIRLANE_WARN_STALLED', 'fairlane_fairness_ratio gauge', 'fairlane.fairness gauge 1',
      'concurrency?: number | undefined;', 'export interface DurableEvents<P = any, R = any> {', '== schedulers/make-equal.d.ts'
    ]) assert(lines.includes(line), line)
  })

  it('has what is deprecated marked with what to use instead, and docs/reference/stability.md says whether anything is', () => {
    const marks = declarations().flatMap(file => [...readFileSync(join(root, file), 'utf8').matchAll(/@deprecated\b(.*)/g)])
    for (const [mark, instead] of marks) assert.match(instead, /\w/, mark)
    const page = readFileSync(join(root, 'docs/reference/stability.md'), 'utf8')
    assert.equal(page.includes('Nothing is deprecated now.'), marks.length === 0)
  })

  it('has nothing of comments, so that words may be mended', () => {
    assert.deepEqual(text.match(/\/\*|^\s*\/\/(?!\/ <reference)/gm), null)
  })
})
