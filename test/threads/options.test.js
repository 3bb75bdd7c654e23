'use strict'

const assert = require('node:assert')
const Module = require('node:module')
const { availableParallelism } = require('node:os')
const { join } = require('node:path')
const { cpSync, rmSync } = require('node:fs')
const { threads } = require('../../lib/threads')
const { loadPiscina } = require('../../lib/threads/peer')
const { node, root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { start, endAll, fileOf } = require('./start')

describe('threads()', () => {
  afterEach(endAll)

  it('starts as many threads as the machine runs at once, with one job each', () => {
    const runner = start('jobs.js', { threads: undefined })
    assert.equal(runner.concurrency, availableParallelism())
    assert.equal(runner.stats().threads, availableParallelism())
  })

  it('needs no options', async () => {
    const runner = threads(fileOf('module.mjs'))
    assert.equal(await runner('x'), 'default x')
    await runner.close()
  })

  it('takes a path or a file: URL', () => {
    for (const file of [undefined, null, 5, '', {}, Symbol('file'), 'file://%', new URL('https://example.com/jobs.js')]) {
      assert.throws(() => threads(file), { name: 'TypeError', code: 'FAIRLANE_ERR_RUNNER' })
    }
  })

  const WRONG = [
    null, 'two', { thread: 2 }, { threads: 0 }, { threads: 1.5 }, { threads: '2' }, { perThread: 0 }, { perThread: NaN },
    { loadTimeoutMs: 0 }, { loadTimeoutMs: '5' }, { loadTimeoutMs: NaN }, { name: 5 }, { transfer: true },
    { resourceLimits: 5 }, { env: null }, { env: 'A=1' }, { argv: 'one' }, { execArgv: { 0: 'one' } }, { workerData: () => {} },
    { execArgv: ['--no-such-option'] }
  ]

  for (const options of WRONG) {
    it(`refuses ${describeOptions(options)}`, () => {
      assert.throws(() => threads(fileOf('jobs.js'), options), { code: 'FAIRLANE_ERR_OPTION' })
    })
  }

  it('says which option was meant, and what cannot be cloned or started', () => {
    assert.throws(() => threads(fileOf('jobs.js'), { thread: 2 }), /did you mean 'threads'/)
    assert.throws(() => threads(fileOf('jobs.js'), { workerData: () => {} }), ({ cause }) => cause.name === 'DataCloneError')
    assert.throws(() => threads(fileOf('jobs.js'), { execArgv: ['--no-such-option'] }), ({ cause }) => cause.code === 'ERR_WORKER_INVALID_EXEC_ARGV')
  })
})

describe('without piscina', () => {
  let folder

  before(() => {
    folder = temporaryFolder()
    cpSync(join(root, 'lib'), join(folder, 'lib'), { recursive: true })
  })
  after(() => rmSync(folder, { recursive: true }))

  it('the entry loads, and threads() says how to install it', async () => {
    const { code, stderr } = await node(['--eval', `
      const assert = require('node:assert')
      const { threads } = require('./lib/threads')
      assert.throws(() => threads('jobs.js'), err => {
        assert.equal(err.code, 'FAIRLANE_ERR_PEER')
        assert.match(err.message, /npm install piscina@\\^5\\.2$/)
        return err.cause.code === 'MODULE_NOT_FOUND'
      })
    `], { cwd: folder })
    assert.equal(code, 0, stderr)
  })

  describe('that fits', () => {
    const path = require.resolve('piscina')
    const { [path]: loaded } = require.cache
    afterEach(() => { require.cache[path] = loaded })

    const withVersion = version => {
      require.cache[path] = { ...loaded, exports: { version } }
      return loadPiscina
    }

    for (const version of ['4.9.2', '5.1.4', '6.0.0']) {
      it(`threads() refuses ${version}`, () => {
        assert.throws(withVersion(version), { code: 'FAIRLANE_ERR_PEER', message: new RegExp(`and ${version} is installed`) })
      })
    }

    it('threads() refuses what cannot be loaded', () => {
      const { _load: load } = Module
      const failure = new Error('it is not there')
      Module._load = (name, ...rest) => { if (name === 'piscina') throw failure; return load(name, ...rest) }
      try {
        assert.throws(loadPiscina, { code: 'FAIRLANE_ERR_PEER', cause: failure })
      } finally {
        Module._load = load
      }
    })

    it('threads() takes 5.2.0 and later ones', () => {
      for (const version of ['5.2.0', '5.10.0']) assert.equal(withVersion(version)().version, version)
    })
  })
})

function describeOptions (options) {
  return typeof options !== 'object' || options === null
    ? String(options)
    : Object.entries(options).map(([name, value]) => `${name}: ${typeof value === 'function' ? 'a function' : JSON.stringify(value)}`).join()
}
