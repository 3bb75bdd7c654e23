'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Metrics } = require('../../lib/metrics')
const { parse } = require('../support/exposition')
const { root } = require('../support/child')
const { pages } = require('./pages')

const text = readFileSync(join(root, 'docs/reference/observe.md'), 'utf8')

/** The rows of tables whose first cells have names of metrics: [names, second cell]. */
function rows (prefix) {
  return text.split('\n').filter(line => line.startsWith(`| \`${prefix}`)).map(line => {
    const [, first, second] = line.split('|')
    return [[...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name), second.trim()]
  })
}

describe('docs/reference/observe.md', function () {
  it('names each metric that Prometheus gets, with its kind, and no other', function () {
    const families = parse(new Metrics().toText())
    assert.deepEqual(rows('fairlane_').map(([[name], kind]) => [name, kind]), [...families].map(([name, { type }]) => [name, type]))
  })

  it('names each metric that a meter gets, with its kind, and no other', function () {
    const made = []
    new Metrics().meter({
      createObservableCounter: name => { made.push([name, 'counter']) },
      createObservableGauge: name => { made.push([name, 'gauge']) },
      addBatchObservableCallback () {}
    })
    assert.deepEqual(rows('fairlane.').flatMap(([names, kind]) => names.map(name => [name, kind])), made)
  })

  it('and guides have queries of metrics that there are', function () {
    const families = parse(new Metrics().toText())
    const guides = pages().filter(({ path }) => path.startsWith('docs/guides/'))
    const names = guides.flatMap(({ text }) => [...text.matchAll(/fairlane_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, '')))
    assert(names.length > 0)
    assert.deepEqual(names.filter(name => !families.has(name)), [])
  })

  it('has alerts of metrics that there are', function () {
    const [, alerts] = text.match(/```\n(groups:\n[^`]+)```/)
    const families = parse(new Metrics().toText())
    const names = [...alerts.matchAll(/fairlane_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))
    assert(names.length >= 4)
    for (const name of names) assert(families.has(name), name)
  })
})
