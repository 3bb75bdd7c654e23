'use strict'

// docs/grafana.json, against the model that Grafana documents for dashboards, and against the metrics that there are.

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const fairlane = require('../..')
const { Metrics } = require('../../lib/metrics')
const { parse } = require('../support/exposition')
const { root } = require('../support/child')

const dashboard = JSON.parse(readFileSync(join(root, 'docs/grafana.json'), 'utf8'))

const text = value => typeof value === 'string' && value !== ''
const whole = value => Number.isInteger(value) && value >= 0
const flag = value => typeof value === 'boolean'
const object = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const oneOf = (...values) => value => values.includes(value)
const list = check => value => Array.isArray(value) && value.every(check)
const maybe = check => value => value === undefined || check(value)
const shape = fields => value => {
  if (!object(value)) return false
  for (const [name, check] of Object.entries(fields)) assert(check(value[name]), `${name}: ${JSON.stringify(value[name])}`)
  for (const name of Object.keys(value)) assert(name in fields, `what is ${name}?`)
  return true
}

// of the JSON model of a dashboard: grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model
const datasource = shape({ type: oneOf('prometheus'), uid: oneOf('${datasource}') }) // eslint-disable-line no-template-curly-in-string
const within = (least, most) => value => whole(value) && value >= least && value <= most
const gridPos = shape({ h: within(1, 40), w: within(1, 24), x: within(0, 23), y: whole })
const target = shape({ refId: value => /^[A-Z]$/.test(value), datasource, expr: text, legendFormat: text })
const thresholds = shape({
  mode: oneOf('absolute', 'percentage'),
  steps: list(shape({ color: text, value: value => value === null || typeof value === 'number' }))
})
const defaults = shape({
  unit: oneOf('s', 'ops', 'short', 'percentunit'),
  min: maybe(value => typeof value === 'number'),
  custom: maybe(object),
  thresholds: maybe(thresholds),
  color: maybe(object)
})
const panel = value => value.type === 'row'
  ? shape({ id: whole, type: text, title: text, collapsed: flag, gridPos, panels: list(object) })(value)
  : shape({
    id: whole,
    type: oneOf('timeseries', 'stat'),
    title: text,
    description: maybe(text),
    datasource,
    gridPos,
    targets: list(target),
    fieldConfig: shape({ defaults, overrides: list(object) }),
    options: object
  })(value)
const variable = value => value.type === 'datasource'
  ? shape({ name: text, label: text, type: text, query: oneOf('prometheus'), current: object })(value)
  : shape({
    name: text,
    label: text,
    type: oneOf('query'),
    datasource,
    query: shape({ query: text, refId: text }),
    definition: text,
    includeAll: flag,
    multi: flag,
    allValue: text,
    refresh: oneOf(0, 1, 2),
    sort: whole,
    current: object
  })(value)
const model = shape({
  title: text,
  uid: value => /^[\w-]{1,40}$/.test(value),
  tags: list(text),
  editable: flag,
  graphTooltip: oneOf(0, 1, 2),
  schemaVersion: value => whole(value) && value >= 36,
  version: whole,
  refresh: text,
  timezone: oneOf('browser', 'utc', ''),
  time: shape({ from: text, to: text }),
  templating: shape({ list: list(variable) }),
  annotations: shape({ list: list(object) }),
  links: list(object),
  panels: list(panel)
})

/** What a queue shows that has everything. @returns {Map<string, Set<string>>} labels by the names of series */
async function series () {
  const metrics = new Metrics()
  const queue = fairlane((payload, done) => done(), {
    scheduler: 'equal', concurrency: 1, maxWaiting: 0, observers: metrics, rate: { limit: 100, intervalMs: 1000, of: 'cost' }
  })
  for (let n = 0; n < 4; n++) queue.pushType('a', n)
  await queue.onIdle()
  const names = new Map()
  for (const { samples } of parse(metrics.toText()).values()) {
    for (const { name, labels } of samples) names.set(name, new Set([...names.get(name) ?? [], ...Object.keys(labels)]))
  }
  names.set('fairlane_fairness_ratio', new Set(['queue'])) // where two types wait all the time
  return names
}

describe('the dashboard for Grafana', () => {
  it('is as Grafana has it', () => {
    assert(model(dashboard))
  })

  it('has panels of their own numbers, which do not overlap', () => {
    const { panels } = dashboard
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
    const taken = new Set()
    for (const { title, gridPos: { h, w, x, y } } of panels) {
      assert(x + w <= 24, title)
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          assert(!taken.has(`${row} ${column}`), `${title} lies on another one`)
          taken.add(`${row} ${column}`)
        }
      }
    }
  })

  it('asks for series and labels that there are, and for all metrics', async () => {
    const names = await series()
    const exprs = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.filter(({ type }) => type === 'query').map(({ definition }) => definition)
    ]
    const asked = new Set()
    for (const expr of exprs) {
      const [[name], ...others] = expr.matchAll(/fairlane_\w+/g)
      assert.equal(others.length, 0, expr)
      assert(names.has(name), `${expr}: no ${name}`)
      asked.add(name.replace(/_(bucket|sum|count)$/, ''))
      const labels = [...expr.matchAll(/(\w+)=~?"/g), ...expr.matchAll(/by \(([^)]+)\)/g)].flatMap(([, found]) => found.split(', '))
      for (const label of labels) assert(names.get(name).has(label), `${expr}: no ${label}`)
      assert.equal(expr.split('(').length, expr.split(')').length, expr)
    }
    const families = new Set([...names.keys()].map(name => /^fairlane_job_(wait|run)_seconds/.exec(name)?.[0] ?? name))
    assert.deepEqual([...families].filter(name => !asked.has(name)), [])
  })

  it('has variables for each one that is named', () => {
    const named = new Set([...JSON.stringify(dashboard).matchAll(/\$(?:\{(\w+)\}|(\w+))/g)].map(([, braced, plain]) => braced ?? plain))
    const known = new Set([...dashboard.templating.list.map(({ name }) => name), '__rate_interval', '__all'])
    assert.deepEqual([...named].filter(name => !known.has(name)), [])
  })
})
