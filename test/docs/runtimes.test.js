'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')
const { engines, bundlers, browsers } = require('../runtimes/table')
const { optionalDependencies: tools } = require('../runtimes/package.json')

describe('the table of docs/reference/runtimes.md', () => {
  const rows = [...readFileSync(join(root, 'docs/reference/runtimes.md'), 'utf8').matchAll(/^\| (?!runtime|-)(.*) \|$/gm)].map(([, row]) => row.split(' | '))

  it('has each runtime that is tested, and no other', () => {
    assert.deepEqual(rows.map(([name]) => name), [...engines, ...browsers].map(({ name }) => name))
  })

  it('has the versions that are installed', () => {
    for (const engine of engines) {
      const [, version] = rows.find(([name]) => name === engine.name)
      assert.equal(tools[engine.package].split('@').at(-1), version, engine.name)
    }
  })

  it('and docs/reference/browsers.md name each bundler', () => {
    const page = readFileSync(join(root, 'docs/reference/browsers.md'), 'utf8')
    for (const name of Object.keys(bundlers)) {
      assert(rows.filter(([, , , , what]) => what.includes(name)).length === browsers.length, name)
      assert(page.includes(`| ${name} |`), name)
    }
  })
})
