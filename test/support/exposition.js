'use strict'

// Reads the text format of Prometheus (0.0.4), and is as strict as its rules are:
// https://prometheus.io/docs/instrumenting/exposition_formats/

const assert = require('node:assert/strict')

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\"n])*",?)*)\} (\+Inf|-?[0-9.e+-]+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"/g

/**
 * @param {string | Uint8Array} given
 * @returns {Map<string, { type: string, samples: { name: string, labels: object, value: number }[] }>} by family
 */
function parse (given) {
  const text = typeof given === 'string' ? given : new TextDecoder('utf-8', { fatal: true }).decode(given)
  assert(text.endsWith('\n'))
  const families = new Map()
  const seen = new Set()
  let family
  for (const line of text.split('\n').filter(line => line !== '')) {
    const [, what, name, rest] = line.match(/^# (HELP|TYPE) (\S+) (.+)$/) ?? []
    if (what === 'HELP') {
      assert(!families.has(name), name)
      families.set(name, family = { name, type: undefined, samples: [] })
    } else if (what === 'TYPE') {
      assert.equal(name, family.name)
      family.type = rest
    } else {
      family.samples.push(readSample(line, family, seen))
    }
  }
  for (const { type, samples } of families.values()) if (type === 'histogram') checkHistograms(samples)
  return families
}

function readSample (line, family, seen) {
  const [, name, labelText, value] = line.match(LINE) ?? assert.fail(line)
  const suffix = name.slice(family.name.length)
  assert(name.startsWith(family.name) && (family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']).includes(suffix), line)
  const labels = Object.create(null)
  for (const [, label, text] of labelText.matchAll(LABEL)) {
    assert(!(label in labels), line)
    labels[label] = text.replace(/\\([\\"n])/g, (_, char) => char === 'n' ? '\n' : char)
  }
  const key = JSON.stringify([name, Object.entries(labels).sort()])
  assert(!seen.has(key), `twice: ${line}`)
  seen.add(key)
  return { name, labels, value: value === '+Inf' ? Infinity : Number(value) }
}

/** Buckets rise, the last one is +Inf and equals the count. */
function checkHistograms (samples) {
  const series = new Map()
  for (const { name, labels: { le, ...labels }, value } of samples) {
    const key = JSON.stringify(Object.entries(labels).sort())
    if (!series.has(key)) series.set(key, { buckets: [], sum: undefined, count: undefined })
    const one = series.get(key)
    if (name.endsWith('_bucket')) one.buckets.push([le === '+Inf' ? Infinity : Number(le), value])
    else if (name.endsWith('_sum')) one.sum = value
    else one.count = value
  }
  for (const { buckets, sum, count } of series.values()) {
    assert(sum >= 0)
    buckets.forEach(([le, value], i) => assert(i === 0 || (le > buckets[i - 1][0] && value >= buckets[i - 1][1])))
    assert.deepEqual(buckets.at(-1), [Infinity, count])
  }
}

module.exports = { parse }
