'use strict'

// What runs now and how much is done: one rewritten line on a terminal, a line now and then elsewhere.

const { performance } = require('node:perf_hooks')
const { roundsOf } = require('./schedule')

/** Without a terminal a line is written this often at most. */
const PLAIN_LINE_MS = 15000

/**
 * @param {import('node:tty').WriteStream} stream where to write
 * @param {object[]} cases those that will run
 * @param {{ quick: boolean, rounds: number, peers: object|undefined }} options
 * @returns {{ step: function(object, object, object, number): void, clear: function(): void }} `step` says what starts,
 *   `clear` makes room for other output
 */
function createProgress (stream, cases, { quick, rounds, peers }) {
  const begun = performance.now()
  let total = 0
  for (const benchCase of cases) {
    for (const cell of benchCase.cells({ quick, peers })) total += cell.weight * cell.contenders.length * roundsOf(benchCase, rounds)
  }
  let done = 0
  let lastLine = -Infinity

  function step (benchCase, cell, contender, round) {
    const share = Math.floor(100 * done / total)
    done += cell.weight
    const now = performance.now()
    if (!stream.isTTY && now - lastLine < PLAIN_LINE_MS) return
    lastLine = now
    const text = `[${String(share).padStart(3)} %, ${clock(now - begun)}] ${benchCase.name}: ${cell.label}, ` +
      `round ${round} of ${roundsOf(benchCase, rounds)}, ${contender.name}`
    stream.write(stream.isTTY ? `\r\x1b[2K${text.slice(0, stream.columns - 1)}` : text + '\n')
  }

  function clear () {
    if (stream.isTTY) stream.write('\r\x1b[2K')
  }

  return { step, clear }
}

function clock (ms) {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

module.exports = { createProgress }
