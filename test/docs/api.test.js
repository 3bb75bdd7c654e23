'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Queue } = require('../..')
const { root } = require('../support/child')

describe('each method and property of a queue', () => {
  const names = Object.getOwnPropertyNames(Queue.prototype).filter(name => name !== 'constructor')

  it('has a heading in README.md, and no heading lacks one', () => {
    const headings = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^### queue\.(\w+)/gm)
    assert.deepEqual([...headings].map(([, name]) => name).sort(), [...names].sort())
  })

  it('is declared in index.d.ts, and no declaration lacks one', () => {
    const [, body] = readFileSync(join(root, 'index.d.ts'), 'utf8').match(/^ {2}interface Queue<[^]*?\{\n([^]*?)^ {2}\}$/m)
    const declared = body.matchAll(/^ {4}(?:readonly |get |set )?(\w+)(?: \(|:)/gm)
    assert.deepEqual([...new Set([...declared].map(([, name]) => name))].sort(), [...names].sort())
  })
})
