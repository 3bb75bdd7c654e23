'use strict'

const assert = require('node:assert/strict')
const bench = require('../../bench/cases/metrics')
const { recorded } = require('../../bench/history/recorders')
const { recorders } = require('../../bench/metrics/recorders')

describe('the case of metrics', () => {
  it('has the same cells in a quick try', () => {
    const [whole, quick] = [{ quick: false }, { quick: true }].map(options => bench.cells(options))
    assert.deepEqual(quick.map(({ id, contenders }) => [id, contenders]), whole.map(({ id, contenders }) => [id, contenders]))
    for (const { contenders } of quick) for (const { name } of contenders) assert.match(bench.versionOf(name), /@\d+\./)
  })

  for (const name of Object.keys(recorders)) {
    for (const scheduler of [undefined, 'equal']) {
      it(`counts each job by ${name}${scheduler ? ', with a scheduler' : ''}, or fails`, async () => {
        const recorder = recorders[name].open()
        const { queue, push } = recorded(recorder, (id, done) => done(), { concurrency: 3, scheduler })
        for (let id = 1; id <= 50; id++) push(id, `type ${id % 3}`)
        await queue.onIdle()
        if (!['fairlane', 'adaptive'].includes(name)) await assert.rejects(async () => recorder.close(51))
        await recorder.close(50)
      })
    }
  }

  it('measures a burst, and a scrape', async () => {
    const cells = bench.cells({ quick: true })
    const { least } = await bench.measure({ ...cells.find(({ kind }) => kind === 'cost'), bursts: 1 }, 'metrics')
    assert(least > 0)
    for (const contender of ['metrics', 'metrics, register', 'prom-client by hand']) {
      const { ms, bytes } = await bench.measure({ ...cells.at(-1), types: 3, times: 1 }, contender)
      assert(ms > 0 && bytes > 1000)
    }
  })
})
