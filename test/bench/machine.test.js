'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { digestsOf, loadedFiles, staleness } = require('../../bench/code')
const { busyCores, watchOthers } = require('../../bench/machine')
const { measureOnce, loadCase } = require('../../bench/schedule')

describe('who keeps the machine busy', () => {
  it('is told in cores', async () => {
    const busy = await busyCores(20)
    assert(busy >= 0 && Number.isFinite(busy), String(busy))
  })

  it('is not this process, nor what it has started', () => {
    const times = { now: 1000, all: 50, own: 20 }
    const others = watchOthers({ now: () => times.now, allSeconds: () => times.all, ownSeconds: () => times.own })
    Object.assign(times, { now: 3000, all: 54, own: 23 })
    assert.equal(others(), 0.5)
    Object.assign(times, { now: 5000, all: 54, own: 24.01 }) // the two are read one after the other
    assert.equal(others(), 0)
  })

  it('is read from the system', () => {
    const others = watchOthers()
    execFileSync(process.execPath, ['-e', '0'])
    assert(Number.isFinite(others()))
  })
})

describe('the code of a result', () => {
  it('is what its processes have loaded of the package', async () => {
    const { files } = await measureOnce(loadCase('fifo'), { style: 'sync', jobs: 10, bursts: 1, warmups: 0, runs: 1 }, 'fairlane', { node: process.execPath })
    assert(files.includes('index.js') && files.includes('lib/core/dispatch.js'), files.join())
    assert(files.every((file) => !path.isAbsolute(file) && !file.startsWith('bench')), files.join())
  })

  it('is of this process, too', () => {
    require('../..')
    assert(loadedFiles().includes('index.js'))
  })

  it('is older than the package once a file of it has changed or is gone', () => {
    const code = digestsOf(['index.js', 'lib/arguments/errors.js'])
    assert.equal(staleness({ code }), undefined)
    assert.match(staleness({ code: { ...code, 'lib/arguments/errors.js': 'other', 'lib/gone.js': 'x' } }), /2 of the 3 files/)
    assert.match(staleness({}), /before results kept/)
  })
})
