'use strict'

const assert = require('node:assert')
const { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join, relative } = require('node:path')
const { root, node, tool } = require('../support/child')
const { importersOf } = require('../room')
const { temporaryFolder } = require('../support/folders')

const { scripts } = require('../../package.json')

describe('the scripts of the package', () => {
  it('leave mocha to run one file alone', async () => {
    const { code, stdout } = await tool('mocha', 'mocha', ['--reporter', 'json', 'test/testing/clock.test.js'])
    assert.equal(code, 0)
    const { stats, tests } = JSON.parse(stdout)
    assert(stats.passes > 0)
    assert.deepEqual([...new Set(tests.map(({ file }) => file))], [join(root, 'test/testing/clock.test.js')])
  })

  it('run each test file with coverage or without', () => {
    const [without] = scripts['test:uncovered'].match(/(?<=")test\/\{.*\}(?=\/)/)
    assert(scripts['test:covered'].includes(`--ignore "${without}/**" "test/**/*.test.js"`))
  })

  it('play rounds in the long run, by all files that have any', () => {
    const [, config] = scripts['test:rounds'].match(/--config (.*)/)
    const played = require(join(root, config)).spec.map(file => relative(root, file).replaceAll('\\', '/'))
    assert(played.includes('test/property/queue.test.js'))
    const [, ...inside] = scripts['test:uncovered'].match(/test\/\{(.*),(.*)\}\//)
    for (const file of readdirSync(join(root, 'test'), { recursive: true }).filter(file => file.endsWith('.test.js'))) {
      const name = `test/${file.replaceAll('\\', '/')}`
      if (join(root, name) === __filename) continue // it only speaks of them
      const hasRounds = /\b(rounds\(|isLong\b)/.test(readFileSync(join(root, name), 'utf8'))
      const isElsewhere = inside.some(folder => name.startsWith(`test/${folder}/`))
      assert.equal(played.includes(name), hasRounds && !isElsewhere, name)
    }
  })

  it('change files that are there, and run tests that are', () => {
    const text = readFileSync(join(root, 'test/mutation/mutate.js'), 'utf8').replace(/\$\{CORE\}/g, 'lib/core')
    const named = [...text.matchAll(/\[['`]([\w/-]+\.js)['`],/g)].map(([, file]) => file)
    assert(named.length > 10)
    for (const file of named) assert(existsSync(join(root, file)), file)
    for (const [file] of text.matchAll(/test\/[\w/-]+\.test\.js/g)) assert(existsSync(join(root, file)), file)
  })

  it('run a room with those that import it', async () => {
    assert.deepEqual(importersOf('ledger'), ['adaptive', 'history', 'metrics'])
    assert(importersOf('core').includes('distributed'))
    const { code, stdout } = await node([join(root, 'test/room.js'), 'threads', '--dry-run'])
    assert.equal(code, 0)
    assert.match(stdout, /^The tests of threads$/m)
  })

  it('say which rooms there are to somebody who names none', async () => {
    const { code, stderr } = await node([join(root, 'test/room.js'), 'attic'])
    assert.equal(code, 2)
    assert.match(stderr, /^rooms: .*\bdurable\b/m)
  })

  describe('that run several others', () => {
    let folder

    // in the place of npm: notes what it is to run, and fails at what is red
    before(() => {
      folder = temporaryFolder()
      mkdirSync(join(folder, 'bin'))
      writeFileSync(join(folder, 'bin/npm.js'), `
        require('node:fs').appendFileSync(${JSON.stringify(join(folder, 'runs'))}, process.argv.slice(2).join(' ') + ' ' + process.env.FAIRLANE_ROUNDS + '\\n')
        process.exitCode = process.argv[3] === 'red' ? 3 : 0
        const output = process.argv.find(arg => arg.startsWith('output='))?.slice('output='.length)
        if (output !== undefined && process.env.FAILED !== undefined) {
          require('node:fs').writeFileSync(output, process.env.FAILED)
          process.exitCode = 1
        }
      `)
    })
    beforeEach(() => writeFileSync(join(folder, 'runs'), ''))
    after(() => rmSync(folder, { recursive: true }))

    const run = (...args) => runWith({}, ...args)

    const runWith = async (more, ...args) => {
      const { execPath } = process
      const programs = { REDIS_SERVER: execPath, CHROMIUM: execPath, FIREFOX: execPath } // whatever this machine has
      const env = { npm_execpath: join(folder, 'bin/npm.js'), FAIRLANE_ROUNDS: undefined, ...programs, ...more }
      const result = await node([join(root, 'test/run.js'), ...args], { env })
      return { ...result, runs: readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n') }
    }

    it('run all of them, and fail if one has failed', async () => {
      const { code, stderr, runs } = await run('lint', 'red', 'green')
      assert.equal(code, 1)
      assert.match(stderr, /^Failed: red$/m)
      assert.deepEqual(runs, ['run lint undefined', 'run red undefined', 'run green undefined'])
    })

    it('succeed if none has, and say how many rounds there are to be', async () => {
      const { code, stderr, runs } = await run('--rounds', '7', 'one', 'other')
      assert.deepEqual([code, stderr], [0, ''])
      assert.deepEqual(runs, ['run one 7', 'run other 7'])
    })

    it('say at the end what was skipped, since something is missing', async () => {
      const missing = { REDIS_SERVER: 'none', CHROMIUM: 'none', FIREFOX: 'none', REQUIRE_REDIS: undefined } // which would skip none
      const { code, stderr } = await runWith(missing, 'one')
      assert.equal(code, 0)
      assert.match(stderr, /^[1-9]\d* tests of fairlane\/distributed were skipped, .*apt-get install redis-server/m)
      assert.match(stderr, /^[1-9]\d* tests of pages were skipped, .*apt-get install chromium/m)
      assert.match(stderr, /^The tests of pages in Firefox were skipped: apt-get install firefox-esr/m)
    })

    it('run the files once more in which a test has failed, where they are told to', async () => {
      const { code, runs } = await runWith({ FAILED: 'test/a.test.js\ntest/b.test.js' }, '--again', 'test:covered', 'lint')
      assert.equal(code, 0)
      assert.match(runs[0], /^run test:covered -- --reporter \S+failed-files\.js --reporter-option output=\S+ undefined$/)
      assert.deepEqual(runs.slice(1), ['run test:covered:again -- test/a.test.js test/b.test.js undefined', 'run lint undefined'])
    })

    it('run no file again where something has failed that is in none', async () => {
      const { code, stderr, runs } = await runWith({ FAILED: 'test/a.test.js\n' }, '--again', 'test:uncovered')
      assert.equal(code, 1)
      assert.match(stderr, /^Failed: test:uncovered$/m)
      assert.equal(runs.length, 1)
    })

    it('name the lint, the covered and the uncovered tests', () => {
      assert.equal(scripts.test, 'node test/run.js lint test:covered test:uncovered')
    })
  })

  describe('the reporter of files that failed', () => {
    const reporter = join(root, 'test/support/failed-files.js')
    let folder

    beforeEach(() => { folder = temporaryFolder() })
    afterEach(() => rmSync(folder, { recursive: true }))

    for (const args of [[], ['--parallel', '--jobs', '2']]) {
      it(`names each once, with ${args.join(' ') || 'no arguments'}`, async () => {
        const files = ['good', 'bad', 'before'].map(name => join(folder, `${name}.test.js`))
        writeFileSync(files[0], "it('passes', () => {})")
        writeFileSync(files[1], "it('fails', () => { throw new Error('x') })\nit('fails too', () => { throw new Error('y') })")
        writeFileSync(files[2], "describe('a suite', () => { before(() => { throw new Error('z') })\nit('is not run', () => {}) })")
        const output = join(folder, 'failed')
        const { code, stdout } = await tool('mocha', 'mocha', ['--reporter', reporter, '--reporter-option', `output=${output}`, ...args, ...files])
        assert.equal(code, 3)
        assert.match(stdout, /3 failing/)
        assert.deepEqual(readFileSync(output, 'utf8').split('\n').sort(), [files[1], files[2]])
      })
    }

    it('writes nothing where nothing has failed', async () => {
      const file = join(folder, 'good.test.js')
      writeFileSync(file, "it('passes', () => {})")
      const output = join(folder, 'failed')
      const { code } = await tool('mocha', 'mocha', ['--reporter', reporter, '--reporter-option', `output=${output}`, file])
      assert.equal(code, 0)
      assert.equal(existsSync(output), false)
    })
  })
})
