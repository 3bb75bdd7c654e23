'use strict'

// Result files as SVG charts, drawn by echarts on a white card, so that they read on light and dark pages.

const echarts = require('echarts')
const { number } = require('./tables')

const COLOURS = {
  fairlane: '#0b6e4f',
  quickq: '#7aa6c2',
  fastq: '#e0a458',
  'async.queue': '#b56576',
  'neo-async': '#9c89b8',
  'fastq.promise': '#c9b79c',
  'p-limit': '#8d99ae',
  'p-queue': '#5c677d',
  'no queue': '#c0392b',
  fair: '#1d6fb8',
  capped: '#7b5ea7',
  equal: '#d1495b',
  'equal, with the option': '#0b6e4f',
  window: '#8a8a8a',
  'quickq fair': '#7aa6c2',
  'quickq capped': '#c4b1dc',
  ideal: '#cccccc',
  'fixed 48': '#8a8a8a',
  AIMD: '#e0a458',
  Vegas: '#7aa6c2',
  gradient2: '#7b5ea7'
}
const WIDTH = 900
const PANEL_HEIGHT = 250
const FONT = { fontFamily: 'sans-serif', color: '#222' }
const CALLBACK_QUEUES = ['fairlane', 'quickq', 'fastq', 'async.queue', 'neo-async']
const SCHEDULERS = ['fairlane', 'fair', 'capped', 'equal', 'window', 'quickq fair', 'quickq capped']
const ADAPTED = ['fairlane', 'fixed 48', 'AIMD', 'Vegas', 'gradient2']
const SIMULATED = ['quickq fair', 'fair', 'equal']

/** What the shares in the chart of fairness are those of. */
const SHARES = {
  'one-slow': 'one type of 11 whose jobs\ntake 100 times as long',
  'ten-slow': 'ten types of 100 whose jobs\ntake 100 times as long',
  weights: 'one type of weight 10\nbeside 30 of weight 1'
}

/** What the numbers in the chart of its options are those of. */
const WITH_OPTIONS = {
  users: 'slot time of a customer of one user\nbeside one of 1,000: groupOf',
  units: "units of a type whose jobs cost\n100 times as many: chargeBy 'cost'",
  held: "units × time of a type that\nholds more: chargeBy 'cost*time'",
  'flood-inside': 'quiet users of a customer\nof whom one floods',
  'small-group': 'the one user of a customer\nbeside 1,000 of another'
}

/** By case: the result file's report → SVG text. */
const CHARTS = {
  fifo (report) {
    const sizes = [['1e2', '100'], ['1e4', '10,000'], ['1e6', '1,000,000']]
    return svg('Warm time per job, from push to completion (shorter is better)', sizes.map(([id, count]) => {
      const cells = report.cells.filter((cell) => cell.id.endsWith(`-${id}`))
      return panel(`${count} jobs waiting, ns per job`, cells.map((cell) => cell.style), CALLBACK_QUEUES, cells, 'warm')
    }))
  },

  memory (report) {
    const cell = report.cells.at(-1)
    return svg('Memory of a waiting job beyond its payload (shorter is better)', [
      panelByContender(`${cell.label}, bytes per job`, cell, 'bytes')
    ])
  },

  eventloop (report) {
    const floods = report.cells.filter((cell) => cell.style !== undefined)
    return svg('Longest block of the event loop while 1,000,000 jobs complete (shorter is better)', [
      panel('after the push loop, ms (synchronous jobs: fastq runs them all inside it)', floods.map((cell) => cell.style), CALLBACK_QUEUES, floods, 'blockMs')
    ])
  },

  http (report) {
    const [cell] = report.cells
    return svg('20,000 HTTP requests to a server that degrades above 50 in flight', [
      panelByContender('answered with 200, per second (longer is better)', cell, 'okPerSecond'),
      panelByContender('p99 latency, ms (shorter is better)', cell, 'p99Ms')
    ])
  },

  schedulers (report) {
    return svg('Warm time per job of ten types, from push to completion (lower is better)',
      ['sync', 'setImmediate'].map((style) => linesOf(report, style, 'jobs', 'jobs waiting')))
  },

  types (report) {
    return svg('Warm time per job with 100,000 waiting, from push to completion (lower is better)',
      ['sync', 'setImmediate'].map((style) => ({ ...linesOf(report, style, 'types', 'types'), isLog: true })))
  },

  flood (report) {
    const [cell] = report.cells
    return svg('Warm time per job when one type floods the queue (shorter is better)', [
      { ...panelByContender(`${cell.label}, ns per job`, cell, 'warm'), isLog: true }
    ])
  },

  'distributed-fleet' (report) {
    const workers = [...new Set(report.cells.map((cell) => cell.workers))]
    const lines = (title, key) => ({
      title,
      categories: workers.map((count) => `${count.toLocaleString('en')} workers`),
      series: [...new Set(report.cells.map((cell) => cell.types))].map((types) => ({
        name: `${types.toLocaleString('en')} types`,
        values: workers.map((count) => ({ value: cellOf(report, count, types).contenders.fairlane[key].value }))
      })),
      isLines: true
    })
    return svg('What many workers and many types cost a broker (flat is better)', [
      lines('calls per job', 'callsPerJob'),
      lines('calls at rest, per worker and minute', 'restCalls')
    ])
  },

  adaptive (report) {
    const over = (id, key, title) => overTime(report.cells.find((cell) => cell.id === id), key, title)
    return svg('What adapts a limit, in three phases of 60 s', [
      over('capacity', 'limits', 'the capacity of the server is 50, 25, 50: the limit, by seconds'),
      { ...over('capacity', 'times', 'the same: the mean time of jobs, ms'), isLog: true },
      over('refusals', 'limits', 'the server refuses above 60, 30, 60 calls: the limit'),
      over('costly', 'limits', 'from second 60 on another tenant has jobs that take 100 times as long: the limit'),
      over('slower', 'limits', 'from second 60 on jobs take three times as long, whatever the load: the limit'),
      { ...over('slower', 'times', 'the same: the mean time of jobs, ms'), isLog: true }
    ])
  },

  fairness (report) {
    const cells = Object.fromEntries(report.cells.map((cell) => [cell.id, cell]))
    const valuesOf = (name, figures) => figures.map(([id, key]) => ({ value: cells[id].contenders[name][key].value }))
    const waits = [['flood', 'p50Ms'], ['flood', 'p99Ms']]
    const shares = report.figures.filter(({ key }) => key === 'share')
    return svg('Who gets the slots: ten slots, jobs of 10 ms', [
      {
        title: 'one type queues 100,000 jobs at once: how long the jobs of nine quiet types wait, ms (shorter is better)',
        categories: ['median', 'p99'],
        series: SIMULATED.map((name) => ({ name, values: valuesOf(name, waits) })),
        isLog: true
      },
      {
        title: 'share of all slot time, % (nearer to the ideal is better)',
        categories: shares.map(({ id }) => SHARES[id]),
        series: [
          ...SIMULATED.map((name) => ({ name, values: valuesOf(name, shares.map(({ id, key }) => [id, key])) })),
          { name: 'ideal', values: shares.map(({ ideal }) => ({ value: Number(ideal) })) }
        ]
      }
    ])
  },

  'fairness-options' (report) {
    const [share, wait] = ['share', 'p99Ms']
    return svg('Who gets the slots: groups and costs', [
      withOptions(report, share, 'share, % (nearer to the ideal is better)'),
      withOptions(report, wait, 'p99 of the waits, ms, with groupOf (shorter is better)', { isLog: true })
    ])
  }
}

/** Bars of equal without an option and with it, of the figures with one key. */
function withOptions ({ cells, figures }, key, title, more) {
  const told = figures.filter((figure) => figure.key === key)
  const valuesOf = (name) => told.map(({ id }) => ({ value: cells.find((cell) => cell.id === id).contenders[name][key].value }))
  const names = Object.keys(cells[0].contenders)
  const ideal = { name: 'ideal', values: told.map(({ ideal }) => ({ value: Number(ideal) })) }
  const series = [...names.map((name) => ({ name, values: valuesOf(name) })), ...told[0].ideal === '' ? [] : [ideal]]
  return { title, categories: told.map(({ id }) => WITH_OPTIONS[id]), series, ...more }
}

/** A line per contender over the time of a cell, in which something was noted down every so many ms. */
function overTime ({ contenders, everyMs }, key, title) {
  const noted = (name) => contenders[name].rounds[0][key]
  return {
    title,
    categories: noted(ADAPTED[0]).map((_, i) => String((i + 1) * everyMs / 1000)),
    series: ADAPTED.map((name) => ({ name, values: noted(name).map((value) => ({ value })) })),
    isLines: true,
    isLong: true
  }
}

/** The cell of so many workers and types. */
function cellOf (report, workers, types) {
  return report.cells.find((cell) => cell.workers === workers && cell.types === types)
}

/** A line per contender over what is varied in the cells of a completion style. */
function linesOf (report, style, vary, name) {
  const cells = report.cells.filter((cell) => cell.style === style)
  const drawn = panel(`runner completes ${style === 'sync' ? 'synchronously' : `by ${style}`}: ns per job, by ${name}`,
    cells.map((cell) => cell[vary].toLocaleString('en')), SCHEDULERS, cells, 'warm')
  return { ...drawn, isLines: true }
}

/** A group of bars per category, a bar per contender. */
function panel (title, categories, names, cells, key) {
  return {
    title,
    categories,
    series: names.map((name) => ({
      name,
      values: cells.map((cell) => {
        const value = cell.contenders[name][key]
        return value ? { value: value.value } : { value: null }
      })
    }))
  }
}

/** One bar per contender. */
function panelByContender (title, cell, key) {
  const names = Object.keys(cell.contenders).filter((name) => cell.contenders[name][key])
  return {
    title,
    categories: names,
    series: [{
      name: '',
      values: names.map((name) => ({ value: cell.contenders[name][key].value, itemStyle: { color: COLOURS[name] } }))
    }]
  }
}

function svg (title, panels) {
  const legend = panels[0].series.length > 1
  const top = legend ? 80 : 55
  const height = top + panels.length * PANEL_HEIGHT
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: FONT,
    title: [
      { text: title, left: 20, top: 14, textStyle: { ...FONT, fontSize: 17 } },
      ...panels.map((panel, i) => (
        { text: panel.isLog ? `${panel.title}, logarithmic` : panel.title, left: 20, top: top + i * PANEL_HEIGHT, textStyle: { ...FONT, fontSize: 13, fontWeight: 'normal' } }
      ))
    ],
    legend: { show: legend, left: 15, top: 46, itemGap: 30, textStyle: FONT, data: legendOf(panels) },
    grid: panels.map((panel, i) => ({ left: 70, right: 25, top: top + i * PANEL_HEIGHT + 38, height: PANEL_HEIGHT - 80 })),
    xAxis: panels.map((panel, i) => (
      { type: 'category', gridIndex: i, data: panel.categories, axisTick: { show: false }, axisLabel: { ...FONT, interval: panel.isLong ? 'auto' : 0 } }
    )),
    yAxis: panels.map((panel, i) => (
      { type: panel.isLog ? 'log' : 'value', gridIndex: i, axisLabel: FONT, splitLine: { lineStyle: { color: '#e5e5e5' } }, ...(panel.isLog && rangeOf(panel)) }
    )),
    series: panels.flatMap((panel, i) => panel.series.map(({ name, values }) => ({
      ...(panel.isLines ? lineOf(name, panel.isLong) : { type: 'bar' }),
      name,
      xAxisIndex: i,
      yAxisIndex: i,
      barMaxWidth: 60,
      itemStyle: { color: COLOURS[name] },
      label: { show: !panel.isLines, position: 'top', fontSize: 9, color: '#444', formatter: ({ value }) => number(value) },
      data: values
    })))
  })
  const text = chart.renderToSVGString()
  chart.dispose()
  return stillOf(text)
}

/** Without what happens below a pointer, which a picture in a page never sees, and with coordinates to a tenth: less is packed. */
function stillOf (text) {
  return text
    .replace(/<style.*?<\/style>\s*/s, '')
    .replace(/ pointer-events="visible"| class="[^"]*"/g, '')
    .replace(/\d+\.\d{2,}/g, (coordinate) => String(Math.round(10 * coordinate) / 10))
}

/** Later panels may have series that the first has not. */
function legendOf (panels) {
  return [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))]
}

/** From power of ten to power of ten: the axis would begin at 1 whatever the values. The shortest bar is to be seen. */
function rangeOf ({ series, isLines = false }) {
  const values = series.flatMap((one) => one.values.map(({ value }) => value)).filter((value) => value > 0)
  const min = 10 ** Math.floor(Math.log10(Math.min(...values)) - (isLines ? 0 : 0.5))
  return { min, startValue: min, max: 10 ** Math.ceil(Math.log10(Math.max(...values))) }
}

function lineOf (name, isLong) {
  return { type: 'line', ...(isLong ? { showSymbol: false } : { symbolSize: 7 }), lineStyle: { width: 2.5, type: name.startsWith('quickq') ? 'dashed' : 'solid', color: COLOURS[name] } }
}

module.exports = { CHARTS }
