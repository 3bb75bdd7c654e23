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
  'no queue': '#c0392b'
}
const WIDTH = 900
const PANEL_HEIGHT = 250
const FONT = { fontFamily: 'sans-serif', color: '#222' }
const CALLBACK_QUEUES = ['fairlane', 'quickq', 'fastq', 'async.queue', 'neo-async']

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
    return svg('Longest block of the event loop while 1,000,000 jobs complete (shorter is better)', [
      panel('after the push loop, ms (synchronous jobs: fastq runs them all inside it)', report.cells.map((cell) => cell.style), CALLBACK_QUEUES, report.cells, 'blockMs')
    ])
  },

  http (report) {
    const [cell] = report.cells
    return svg('20,000 HTTP requests to a server that degrades above 50 in flight', [
      panelByContender('answered with 200, per second (longer is better)', cell, 'okPerSecond'),
      panelByContender('p99 latency, ms (shorter is better)', cell, 'p99Ms')
    ])
  }
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
        return value ? { value: value.median } : { value: null }
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
      values: names.map((name) => ({ value: cell.contenders[name][key].median, itemStyle: { color: COLOURS[name] } }))
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
        { text: panel.title, left: 20, top: top + i * PANEL_HEIGHT, textStyle: { ...FONT, fontSize: 13, fontWeight: 'normal' } }
      ))
    ],
    legend: { show: legend, left: 15, top: 46, itemGap: 30, textStyle: FONT },
    grid: panels.map((panel, i) => ({ left: 70, right: 25, top: top + i * PANEL_HEIGHT + 38, height: PANEL_HEIGHT - 80 })),
    xAxis: panels.map((panel, i) => (
      { type: 'category', gridIndex: i, data: panel.categories, axisTick: { show: false }, axisLabel: { ...FONT, interval: 0 } }
    )),
    yAxis: panels.map((panel, i) => ({ type: 'value', gridIndex: i, axisLabel: FONT, splitLine: { lineStyle: { color: '#e5e5e5' } } })),
    series: panels.flatMap((panel, i) => panel.series.map(({ name, values }) => ({
      type: 'bar',
      name,
      xAxisIndex: i,
      yAxisIndex: i,
      barMaxWidth: 60,
      itemStyle: { color: COLOURS[name] },
      label: { show: true, position: 'top', fontSize: 9, color: '#444', formatter: ({ value }) => number(value) },
      data: values
    })))
  })
  const text = chart.renderToSVGString()
  chart.dispose()
  return text
}

module.exports = { CHARTS }
