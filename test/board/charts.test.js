'use strict'

// The lines and captions of the charts to a tenth of a unit, in figures without a browser. browser.test.js has one.

const assert = require('node:assert/strict')
const { drawCharts } = require('../../lib/board/client/charts')

const NOW = 5000000
const LINES = { throughput: 2, waits: 2, slots: 1 }

/** As much of an element as the charts touch. */
function figureOf (lines) {
  const paths = Array.from({ length: lines }, () => ({ setAttribute (name, value) { this[name] = value } }))
  const parts = { output: { textContent: '' }, strong: { textContent: 'Title' }, svg: { setAttribute (name, value) { this[name] = value } } }
  return { parts, paths, querySelector: name => parts[name], querySelectorAll: () => paths }
}

describe('the charts of a page', function () {
  let elements

  beforeEach(function () {
    elements = new Map(Object.entries(LINES).map(([id, lines]) => [id, figureOf(lines)]))
    elements.set('charts', { hidden: false })
    globalThis.document = { getElementById: id => elements.get(id) }
  })

  afterEach(() => { delete globalThis.document })

  const bucket = (at, more) => ({ at, ms: 10000, done: 0, failed: 0, waitP50Ms: undefined, waitP95Ms: undefined, slotsHeld: 0, ...more })

  /** @returns {object} by the id of a figure what it says, and its lines */
  function drawn (timeline, more) {
    drawCharts({ timeline, now: NOW, slots: 4, paused: false, ...more })
    return Object.fromEntries(Object.keys(LINES).map(id => {
      const { parts, paths } = elements.get(id)
      assert.equal(parts.svg['aria-label'], `Title: ${parts.output.textContent}`)
      return [id, [parts.output.textContent, ...paths.map(({ d }) => d)]]
    }))
  }

  const pointsOf = path => path.match(/[ML]/g).length

  it('have points at the times of their buckets, a tenth of a unit exactly, on a scale of the highest', function () {
    const last = { done: 3, failed: 1, waitP50Ms: 10, waitP95Ms: 40, slotsHeld: 1 }
    assert.deepEqual(drawn([bucket(NOW - 10000, { done: 6, failed: 3, waitP95Ms: 90, slotsHeld: 0.5 }), bucket(NOW, last)]), {
      throughput: [
        '0.4 jobs end per second, 0.1 of them failed; at most 0.9', 'M0.0 60.0L293.3 60.0L295.0 0.0L298.3 33.3', 'M0.0 60.0L293.3 60.0L295.0 40.0L298.3 53.3'
      ],
      waits: ['half of the jobs waited 10 ms or less, one in twenty 40 ms or more; at most 90 ms', 'M295.0 0.0L298.3 33.3', 'M298.3 53.3'],
      slots: ['1 of 4 slots are held; at most 1', 'M0.0 60.0L293.3 60.0L295.0 52.5L298.3 45.0']
    })
  })

  it('have a scale of their own below 1, but for that of the slots there are', function () {
    const timeline = [bucket(NOW, { done: 5, slotsHeld: 0.5 })]
    assert.match(drawn(timeline).throughput[1], /L298\.3 0\.0$/)
    assert.match(drawn(timeline).slots[1], /L298\.3 52\.5$/)
    assert.match(drawn(timeline, { slots: null }).slots[1], /L298\.3 0\.0$/)
    assert.match(drawn(timeline, { slots: null }).slots[0], /^0\.5 of ∞ slots are held/)
    assert.match(drawn(timeline, { slots: null, paused: true }).slots[0], /^0\.5 slots are held/)
    assert.match(drawn([bucket(NOW)]).throughput[1], /L298\.3 60\.0$/)
  })

  it('say numbers to three digits', function () {
    assert.match(drawn([bucket(NOW, { ms: 1000, done: 1234, failed: 999 })]).throughput[0], /^2,230 jobs end per second, 999 of them failed; at most 2,230$/)
    assert.match(drawn([bucket(NOW, { slotsHeld: 1.2345 })]).slots[0], /^1\.23 of 4 /)
  })

  it('say how long the longest wait was, or that no job has started', function () {
    assert.match(drawn([bucket(NOW - 10000, { waitP50Ms: 0.25, waitP95Ms: 0.5 }), bucket(NOW)]).waits[0], /^no job has started; at most 0\.5 ms$/)
    assert.match(drawn([bucket(NOW)]).waits[0], /; at most 0 ms$/)
  })

  it('fall to nothing between buckets that are more than half a bucket apart', function () {
    for (const [apart, points] of [[5000, 4], [5001, 6]]) {
      assert.equal(pointsOf(drawn([bucket(NOW - 10000 - apart), bucket(NOW)]).throughput[1]), points)
    }
    assert.equal(pointsOf(drawn([bucket(NOW - 890000), bucket(NOW)]).throughput[1]), 4) // from the very beginning on
  })

  it('end now, or at the last bucket of a queue whose clock is a quarter of an hour or more away', function () {
    for (const sign of [1, -1]) {
      const xOf = ago => Number(/([\d.]+) [\d.]+$/.exec(drawn([bucket(NOW - sign * ago)]).throughput[1])[1])
      assert.equal(xOf(899999), sign > 0 ? 0 : 300) // within the chart, as far as that goes
      assert.equal(xOf(900000), 298.3)
    }
  })

  it('are not there where nothing is known', function () {
    for (const timeline of [null, []]) {
      elements.get('charts').hidden = false
      drawCharts({ timeline, now: NOW, slots: 4, paused: false })
      assert.equal(elements.get('charts').hidden, true)
    }
    drawn([bucket(NOW)])
    assert.equal(elements.get('charts').hidden, false)
  })
})
