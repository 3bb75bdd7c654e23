'use strict'

// What a column draws: which tenant has which slot, and the shares of all, over the last seconds.

const { SHOWN_MS } = require('./simulation')

const LINE = 2
const GAP = 1
// Where lines cannot be told apart by their colours, their dashes tell them.
const DASHES = [[], [6, 3], [2, 2], [8, 2, 2, 2]]

/** @param {HTMLCanvasElement} canvas @param {object} column @param {string[]} colours of tenants */
function drawSlots (canvas, { clock, runs, slots }, colours) {
  const { context, width, height } = begin(canvas)
  const now = clock.now()
  const row = height / slots.length
  const xOf = ms => width * (1 - (now - ms) / SHOWN_MS)
  for (const { index, slot, from, to = now } of runs) {
    const left = Math.max(0, xOf(from))
    context.fillStyle = colours[index]
    context.fillRect(left, slot * row, Math.max(1, xOf(to) - left - GAP), Math.max(1, row - GAP))
  }
}

/** As drawSlots(). */
function drawShares (canvas, { clock, points }, colours) {
  const { context, width, height } = begin(canvas)
  const now = clock.now()
  context.lineWidth = LINE
  for (const [index, colour] of colours.entries()) {
    context.strokeStyle = colour
    context.setLineDash(DASHES[index % DASHES.length])
    context.beginPath()
    for (const { at, shares } of points) context.lineTo(width * (1 - (now - at) / SHOWN_MS), LINE + (height - 2 * LINE) * (1 - shares[index]))
    context.stroke()
  }
}

/** Empties a canvas, which is as large as it is shown. */
function begin (canvas) {
  const { clientWidth: width, clientHeight: height } = canvas
  const scale = devicePixelRatio
  canvas.width = width * scale
  canvas.height = height * scale
  const context = canvas.getContext('2d')
  context.scale(scale, scale)
  return { context, width, height }
}

module.exports = { drawShares, drawSlots }
