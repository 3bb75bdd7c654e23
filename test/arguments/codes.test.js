'use strict'

const assert = require('node:assert')
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { codes, warnings } = require('../../lib/arguments/codes')
const { FairlaneError } = require('../../lib/arguments/errors')
const { root } = require('../support/child')

const read = file => readFileSync(join(root, file), 'utf8')

describe('the table of codes', () => {
  it('is frozen, and gives each code a sentence', () => {
    for (const table of [codes, warnings]) {
      assert(Object.isFrozen(table))
      for (const [code, sentence] of Object.entries(table)) {
        assert.match(code, /^FAIRLANE_(ERR|WARN)_[A-Z_]+$/)
        assert.match(sentence, /^[A-Z][^\n]+\.$/)
      }
    }
  })

  it('is the one in docs/reference/api.md, word for word', () => {
    const section = read('docs/reference/api.md').split(/^## /m).find(text => text.startsWith('Errors'))
    const rows = [...section.matchAll(/^\| `(FAIRLANE_\w+)` \|.*\| ([^|]+) \|$/gm)].map(([, code, sentence]) => [code, sentence])
    assert.deepEqual(Object.fromEntries(rows), { ...codes, ...warnings })
    assert.equal(rows.length, Object.keys(codes).length + Object.keys(warnings).length)
  })

  it('is the one in index.d.ts', () => {
    assert.deepEqual(declaredIn('ErrorCode'), Object.keys(codes))
    assert.deepEqual(declaredIn('WarningCode'), Object.keys(warnings))
  })

  it('holds every code that README.md, the docs and index.d.ts speak of', () => {
    const pages = readdirSync(join(root, 'docs'), { recursive: true }).filter(file => file.endsWith('.md')).map(file => join('docs', file))
    for (const file of ['README.md', 'CHANGELOG.md', 'index.d.ts', ...pages]) {
      for (const [code] of read(file).matchAll(/FAIRLANE_(ERR|WARN)_[A-Z_]*[A-Z]/g)) {
        assert(code in codes || code in warnings, `${code} in ${file}`)
      }
    }
  })

  it('holds only codes that the code can produce, and all of those', () => {
    const used = new Set()
    for (const file of ['index.js', ...sourcesBelow('lib'), ...sourcesBelow('schedulers')]) {
      if (file === join('lib', 'arguments', 'codes.js')) continue
      for (const [, code] of read(file).replaceAll(/\/\/.*|\/\*[^]*?\*\//g, '').matchAll(/'(FAIRLANE_(?:ERR|WARN)_\w+)'/g)) used.add(code)
    }
    assert.deepEqual([...used].sort(), Object.keys({ ...codes, ...warnings }).sort())
  })
})

describe('FairlaneError', () => {
  it('is an Error with a name, a code and, if there is one, a cause', () => {
    const err = new FairlaneError('FAIRLANE_ERR_CLEARED', 'cleared', { cause: 0 })
    assert(err instanceof Error)
    assert.equal(`${err}`, 'FairlaneError: cleared')
    assert.equal(err.code, 'FAIRLANE_ERR_CLEARED')
    assert.equal(err.cause, 0)
    assert.equal(Object.hasOwn(new FairlaneError('FAIRLANE_ERR_CLEARED', 'cleared'), 'cause'), false)
    assert.deepEqual(Object.keys(err), ['code'])
  })
})

function declaredIn (name) {
  const [, body] = read('index.d.ts').match(new RegExp(`type ${name} =((?:\\s*\\| '\\w+')+)`))
  return body.match(/\w{2,}/g)
}

function sourcesBelow (folder) {
  return readdirSync(join(root, folder), { recursive: true }).filter(file => file.endsWith('.js')).map(file => join(folder, file))
}
