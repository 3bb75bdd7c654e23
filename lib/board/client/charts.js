'use strict'

// Small charts of the last quarter of an hour: lines whose points stand at their times. The elements are in the page, which is why there is
// no name space in here.

const { byId, setText } = require('./dom')
const { count, time } = require('./words')

const SPAN_MS = 900000
const BUCKET_MS = 10000
const [WIDTH, HEIGHT] = [300, 60] // of the view boxes in page.js
const GAP_MS = 1.5 * BUCKET_MS // after which there were buckets in which nothing happened

// by the id of a figure: its lines, each from a bucket, or from what the queue says; what is between buckets; and its caption
const CHARTS = {
  throughput: {
    lines: [({ done, failed, ms }) => 1000 * (done + failed) / ms, ({ failed, ms }) => 1000 * failed / ms],
    between: 0,
    caption: ([ended, failed], most) => `${rate(ended)} jobs end per second, ${rate(failed)} of them failed; at most ${rate(most)}`
  },
  waits: {
    lines: [({ waitP95Ms }) => waitP95Ms, ({ waitP50Ms }) => waitP50Ms],
    between: undefined,
    caption: ([p95, p50], most) => {
      const last = p50 === undefined ? 'no job has started' : `half of the jobs waited ${time(p50)} or less, one in twenty ${time(p95)} or more`
      return `${last}; at most ${time(most)}`
    }
  },
  slots: {
    lines: [({ slotsHeld }) => slotsHeld],
    between: 0,
    caption: ([held], most, { slots, paused }) => {
      const of = paused ? '' : ` of ${slots === null ? '∞' : count(slots)}`
      return `${rate(held)}${of} slots are held; at most ${rate(most)}`
    }
  }
}

module.exports = { drawCharts }

/** @param {{ timeline: object[] | null, now: number, slots: number | null, paused: boolean }} queue */
function drawCharts (queue) {
  const { timeline, now, slots } = queue
  byId('charts').hidden = timeline === null || timeline.length === 0
  if (byId('charts').hidden) return
  const last = timeline.at(-1)
  const end = Math.abs(now - last.at) < SPAN_MS ? now : last.at // a queue may have a clock of its own
  for (const [id, { lines, between, caption }] of Object.entries(CHARTS)) {
    const series = lines.map(value => pointsOf(timeline, value, between, end))
    const most = Math.max(...series.flat().map(([, y]) => y ?? 0))
    const scale = Math.max(most, id === 'slots' ? slots ?? 0 : 0)
    const figure = byId(id)
    const said = caption(lines.map(value => value(last)), most, queue)
    setText(figure.querySelector('output'), said)
    figure.querySelector('svg').setAttribute('aria-label', `${figure.querySelector('strong').textContent}: ${said}`)
    series.forEach((points, i) => figure.querySelectorAll('path')[i].setAttribute('d', pathOf(points, scale)))
  }
}

/** @returns {[number, number | undefined][]} [from 0 to WIDTH, value]; what is not known is a gap in the line */
function pointsOf (timeline, value, between, end) {
  const points = []
  let before = end - SPAN_MS
  for (const bucket of timeline) {
    const begin = bucket.at - bucket.ms
    if (begin - before > GAP_MS - BUCKET_MS) points.push([xOf(before, end), between], [xOf(begin, end), between])
    points.push([xOf(bucket.at - bucket.ms / 2, end), value(bucket)])
    before = bucket.at
  }
  return points
}

function xOf (at, end) {
  return Math.min(Math.max(WIDTH * (1 - (end - at) / SPAN_MS), 0), WIDTH)
}

function pathOf (points, most) {
  let isBegun = false
  return points.map(([x, y]) => {
    const command = isBegun ? 'L' : 'M'
    isBegun = y !== undefined
    return isBegun ? `${command}${x.toFixed(1)} ${(HEIGHT - (most === 0 ? 0 : HEIGHT * y / most)).toFixed(1)}` : ''
  }).join('')
}

function rate (value) {
  return Number(value.toPrecision(3)).toLocaleString('en')
}
