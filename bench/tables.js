'use strict'

// Result files as tables, and tables as plain text or Markdown.
// A case with several cells gives tables with a row per cell and a column per contender, one for each metric (and for each
// section and set of contenders that can do the cells); a case with one cell gives one with a row per contender and a column per
// metric; a case that names its figures gives one table with a row per figure and a column per contender.
// A value is what the rounds are said to be (statistics.js): the best of them, with + (or −) how far the best quarter of them reaches, or
// their median, with ± half the range of all; both in percent. × is its ratio to fairlane's.

const { referenceOf } = require('./statistics')

/** The same for readers of the pages. */
const LEGEND = 'A time or a rate is the best of all rounds, and + or − says how far the best quarter of them reaches. Anything else is the median, ± half the ' +
  'range of all rounds.'

/**
 * @param {object} report what a result file holds
 * @param {{ spread: boolean }} [options] spread: whether all values show ± (default), or only fairlane's
 * @returns {Array<{ title: string, subtitle: string, header: string[], rows: string[][], notes: string[] }>}
 */
function tablesOf (report, { spread = true } = {}) {
  const show = (cell, name, metric) => cellText(cell.contenders[name], metric, {
    spread: spread || name === referenceOf(cell.contenders),
    ratio: name !== referenceOf(cell.contenders)
  })
  if (report.figures) return [tableOfFigures(report)]
  if (report.cells.length === 1) return [tableOfOne(report, show)]

  const tables = sectionsOf(report.cells).flatMap((section) => tablesOfSection(report, section, show))
  return tables[0].section === undefined ? tables : eachNoteOnce(tables)
}

/** A section has the contenders of another, and the same to say of them. */
function eachNoteOnce (tables) {
  const said = new Set()
  return tables.map(({ notes, ...table }) => ({ ...table, notes: notes.filter((note) => !said.has(note) && said.add(note)) }))
}

function tablesOfSection (report, section, show) {
  const tables = []
  const metrics = report.metrics.filter((metric) => section.some((cell) => hasMetric(cell, metric)))
  for (const metric of metrics) {
    for (const cells of groupsOf(section.filter((cell) => hasMetric(cell, metric)))) {
      const names = ableIn(cells[0]).filter((name) => cells.some((cell) => cell.contenders[name][metric.key]))
      tables.push({
        title: report.title,
        section: cells[0].section,
        subtitle: cells[0].section === undefined ? withUnit(metric) : `${cells[0].section}: ${withUnit(metric)}`,
        header: ['', ...names],
        rows: [...rowOfSyncs(cells[0], names), ...cells.map((cell) => [cell.label, ...names.map((name) => show(cell, name, metric))])],
        notes: metric === metrics[0] ? notesOf(report, cells) : []
      })
    }
  }
  return tables
}

/** Cells may be of different metrics. */
function hasMetric (cell, { key }) {
  return Object.values(cell.contenders).some((contender) => contender[key] !== undefined)
}

/** Where some wait for the disk and some do not, who does. */
function rowOfSyncs ({ contenders }, names) {
  const values = names.map((name) => contenders[name].syncs)
  if (new Set(values).size < 2) return []
  return [['waits for the disk', ...values.map((syncs) => syncs ? 'yes' : 'no')]]
}

/**
 * A table with a row per contender and a column per cell, of any cases.
 * @param {Array<{ report: object, id: string, label: string, key?: string }>} columns key: of the metric, if not the first
 * @param {string[]} [names] the contenders, if not those of the first column
 * @returns {{ title: string, subtitle: string, header: string[], rows: string[][], notes: string[] }}
 */
function shortTableOf (columns, names) {
  const cells = columns.map(({ report, id }) => report.cells.find((cell) => cell.id === id))
  const metrics = columns.map(({ report, key }) => report.metrics.find((metric) => metric.key === key) ?? report.metrics[0])
  return {
    title: '',
    subtitle: '',
    header: ['', ...columns.map(({ label }) => label)],
    rows: (names ?? ableIn(cells[0])).map((name) => [
      name,
      ...cells.map((cell, i) => cell.contenders[name] ? cellText(cell.contenders[name], metrics[i], { spread: false, ratio: name !== referenceOf(cell.contenders) }) : '')
    ]),
    notes: []
  }
}

/**
 * A table with a row per cell of any cases and a column per queue, without ratios; the last column says on which Node.
 * @param {Array<{ report: object, id: string, label: string, names?: Object<string, string> }>} rows names: of the contenders that stand
 *   for queues, where those have other names; the value is the first metric's
 * @param {string[]} queues
 * @returns {{ title: string, subtitle: string, header: string[], rows: string[][], notes: string[] }}
 */
function rowsTableOf (rows, queues) {
  return {
    title: '',
    subtitle: '',
    header: ['', ...queues, 'Node.js'],
    rows: rows.map(({ report, id, label, names = {} }) => {
      const { contenders } = report.cells.find((cell) => cell.id === id)
      const [{ key }] = report.metrics
      const values = queues.map((queue) => contenders[names[queue] ?? queue]?.[key])
      return [label, ...values.map((value) => value === undefined ? '–' : number(value.value)), String(report.environment.major)]
    }),
    notes: []
  }
}

function tableOfOne (report, show) {
  const [cell] = report.cells
  return {
    title: report.title,
    subtitle: cell.label,
    header: ['', ...report.metrics.map(withUnit)],
    rows: ableIn(cell).map((name) => [name, ...report.metrics.map((metric) => show(cell, name, metric))]),
    notes: notesOf(report, report.cells)
  }
}

function tableOfFigures (report) {
  const names = ableIn(report.cells[0])
  const hasIdeal = report.figures.some(({ ideal }) => ideal !== undefined)
  const idealOf = (text) => hasIdeal ? [text] : []
  return {
    title: report.title,
    subtitle: report.subtitle ?? 'ten slots',
    header: ['', '', ...idealOf('ideal'), ...names],
    rows: report.figures.map(({ id, key, label, ideal }) => {
      const { label: load, contenders } = report.cells.find((cell) => cell.id === id)
      return [load, label, ...idealOf(ideal), ...names.map((name) => number(contenders[name][key].value))]
    }),
    notes: notesOf(report, report.cells)
  }
}

function ableIn ({ contenders }) {
  return Object.keys(contenders).filter((name) => !contenders[name].cannot)
}

/** Neighbouring cells that the same contenders can do. */
function groupsOf (cells) {
  return neighbours(cells, (cell) => ableIn(cell).join())
}

/** Cells that stand together; in most cases all. */
function sectionsOf (cells) {
  return neighbours(cells, ({ section }) => section)
}

function neighbours (cells, keyOf) {
  const groups = []
  for (const cell of cells) {
    const last = groups.at(-1)
    if (last && keyOf(last[0]) === keyOf(cell)) last.push(cell)
    else groups.push([cell])
  }
  return groups
}

function withUnit ({ label, unit }) {
  return unit === '' ? label : `${label}, ${unit}`
}

function cellText (contender, metric, { spread, ratio }) {
  if (contender.stopped) return contender.stopped
  const value = contender[metric.key]
  if (value === undefined) return ''
  let text = number(value.value)
  if (spread && contender.rounds.length > 1) text += ` ${signOf(metric)}${Math.round(100 * value.spread)} %`
  if (ratio && value.ratio !== undefined) text += ` ${value.ratio.toFixed(2)}×`
  return text
}

/** How far others of the rounds are from the value: the best of them has all on one side. */
function signOf ({ best, higherIsBetter }) {
  if (!best) return '±'
  return higherIsBetter ? '−' : '+'
}

/**
 * @param {number | null} value null: a quick try has none, as of the waits of those who were not served
 * @returns {string} about three significant digits
 */
function number (value) {
  if (value === null) return '–'
  const size = Math.abs(value)
  if (size >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString('en')
  return value.toFixed(size >= 10 ? 1 : 2)
}

/** Columns without a name say what the row is. */
function isText (header, column) {
  return header[column] === ''
}

function notesOf (report, cells) {
  const notes = new Map()
  for (const { id, style = id, contenders } of cells) {
    for (const [name, { note, cannot, stopped, rounds }] of Object.entries(contenders)) {
      if (note) add(`${name}: ${note}`, style)
      if (cannot) add(`${name}: ${cannot}`, style)
      if (!cannot && !stopped && rounds.length < report.rounds) add(`${name}: too slow for more rounds than ${rounds.length}`, id)
    }
  }
  return [...notes].map(([text, where]) => where.size < cells.length ? `${text} (${[...where].join(', ')})` : text)

  function add (text, where) {
    if (!notes.has(text)) notes.set(text, new Set())
    notes.get(text).add(where)
  }
}

/**
 * @param {{ title: string, subtitle: string, header: string[], rows: string[][], notes: string[] }} table
 * @returns {string} aligned columns for a terminal
 */
function toText ({ title, subtitle, header, rows, notes }) {
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)))
  const aligned = lines.map((line) =>
    line.map((text, column) => isText(header, column) ? text.padEnd(widths[column]) : text.padStart(widths[column])).join('   ').trimEnd())
  return [`${title}: ${subtitle}`, '', ...aligned, ...notes.map((note) => `  ${note}`)].join('\n')
}

/**
 * @param {{ header: string[], rows: string[][], notes: string[] }} table
 * @returns {string} a Markdown table with its notes below, without title and subtitle
 */
function toMarkdown ({ header, rows, notes }) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const table = [line(header), `|${header.map((_, column) => isText(header, column) ? '---' : '--:').join('|')}|`, ...rows.map(line)]
  if (notes.length > 0) table.push('', notes.map((note) => `*${note}*`).join('<br>\n'))
  return table.join('\n')
}

module.exports = { LEGEND, tablesOf, shortTableOf, rowsTableOf, toText, toMarkdown, number }
