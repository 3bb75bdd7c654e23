'use strict'

// What is printed. Results go to the standard output, all else to the standard error. Names and texts come from anywhere: what would steer
// a terminal is escaped, in JSON too, where it stays the same text.

const { Progress } = require('./progress')
const { escaped, shown } = require('./text')

const BOLD = '\x1b[1m'
const RED = '\x1b[31m'
const PLAIN = '\x1b[0m'
const MEASURED_ROWS = 200 // of a table, by which its columns are as wide as they are

class Output {
  /** @param {{ stdout: object, stderr: object, env: object }} world */
  constructor ({ stdout, stderr, env }) {
    this.stdout = stdout
    this.stderr = stderr
    this.isJson = false
    this.hasColour = isTerminal(stdout, env)
    this.error = undefined // of the standard output
    this.wake = () => {}
    this.failed = err => {
      this.error ??= err
      this.wake()
    }
    this.ignore = () => {}
    stdout.on('error', this.failed)
    stderr.on('error', this.ignore)
    this.progress = new Progress(stderr)
  }

  /** Listens no more. What is written still may fail: then nobody reads it. */
  end () {
    this.progress.clear()
    if (this.error !== undefined) return
    this.stdout.on('error', this.ignore)
    this.stdout.off('error', this.failed)
  }

  /** @returns {Promise<void>} when there is room for more; rejects with what the standard output fails with, if nobody reads it any more */
  async write (text) {
    this.progress.clear()
    const hasRoom = this.error !== undefined || this.stdout.write(`${text}\n`)
    if (!hasRoom && this.error === undefined) {
      await new Promise(resolve => {
        this.wake = resolve
        this.stdout.once('drain', resolve)
      })
    }
    if (this.error !== undefined) throw this.error
  }

  /** A line beside the results. */
  note (text) {
    this.progress.clear()
    this.stderr.write(`${text}\n`)
  }

  /** What has gone wrong. @param {{ code?: string, message: string, pid?: number }} error */
  complain (error, isJson) {
    const { message, code } = error
    // those of Node may have several lines
    const text = `fairlane: ${message.replace(/\s*\n\s*/g, ' ')}${code === undefined ? '' : ` (${code})`}`
    this.note(isJson ? this.json({ error }) : shown(text))
  }

  json (value) {
    return escaped(JSON.stringify(value, (key, value) => value === undefined ? null : value))
  }

  /** @param {AsyncIterable<object>} values an array of them, each in a line of its own */
  async array (values) {
    let before = '['
    for await (const value of values) {
      await this.write(`${before}${this.json(value)}`)
      before = ','
    }
    await this.write(before === '[' ? '[]' : ']')
  }

  /**
   * @param {{ title: string, of: (row: object) => string, isNumber?: boolean }[]} columns
   * @param {AsyncIterable<object>} rows if there are none, nothing is printed
   * @returns {Promise<void>}
   */
  async table (columns, rows) {
    const measured = []
    let widths // once there are enough rows to know them
    for await (const row of rows) {
      const cells = columns.map(({ of }) => shown(of(row)))
      if (widths !== undefined) await this.write(rowOf(columns, cells, widths))
      else if (measured.push(cells) === MEASURED_ROWS) widths = await this.head(columns, measured)
    }
    if (widths === undefined && measured.length > 0) await this.head(columns, measured)
  }

  bold (text) {
    return this.hasColour ? `${BOLD}${text}${PLAIN}` : text
  }

  red (text) {
    return this.hasColour ? `${RED}${text}${PLAIN}` : text
  }

  // private from here on

  /** The titles of a table and its first rows. @returns {Promise<number[]>} how wide its columns are */
  async head (columns, rows) {
    const titles = columns.map(({ title }) => title)
    const widths = titles.map((title, i) => Math.max(title.length, ...rows.map(cells => cells[i].length)))
    await this.write(this.bold(rowOf(columns, titles, widths)))
    for (const cells of rows) await this.write(rowOf(columns, cells, widths))
    return widths
  }
}

function rowOf (columns, cells, widths) {
  return cells.map((cell, i) => columns[i].isNumber ? cell.padStart(widths[i]) : cell.padEnd(widths[i])).join('  ').trimEnd()
}

function isTerminal (stream, env) {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Whoever read the output has gone. */
function isBrokenPipe (err) {
  return err?.code === 'EPIPE' || err?.code === 'ERR_STREAM_DESTROYED'
}

module.exports = { Output, isBrokenPipe }
