'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const vm = require('node:vm')
const { gzipSync } = require('node:zlib')
const { MessageChannel } = require('node:worker_threads')
const esbuild = require('esbuild')
const { root } = require('../support/child')

const { exports: entries } = require('../../package.json')

const NODE_ONLY = ['./log', './durable', './history', './distributed', './board', './board/bull-board', './threads', './package.json']
const nodeNames = ['process', 'setImmediate', 'global', 'require']
const options = {
  stdin: { contents: "import fairlane from 'fairlane'\nglobalThis.fairlane = fairlane", resolveDir: root },
  bundle: true,
  write: false,
  metafile: true,
  logLevel: 'silent'
}

describe('bundled for a browser', function () {
  let bundle
  const channels = []

  before(async () => {
    bundle = await esbuild.build(options)
  })

  // Open ports would keep this process alive.
  afterEach(() => {
    for (const { port1 } of channels.splice(0)) port1.close()
  })

  it('needs no module of Node', () => {
    assert.deepEqual(bundle.warnings, [])
    const imports = Object.values(bundle.metafile.inputs).flatMap(input => input.imports)
    assert.deepEqual(imports.filter(({ external }) => external), [])
    assert.doesNotMatch(bundle.outputFiles[0].text, /require\("/)
  })

  it('contains the package and its three dependencies, nothing else', () => {
    const packages = Object.keys(bundle.metafile.inputs)
      .filter(file => file.startsWith('node_modules/'))
      .map(file => file.split('/')[1])
    assert.deepEqual([...new Set(packages)].sort(), ['aflow', 'eventemitter3', 'qlist'])
  })

  it('has the size that README.md says, minified and gzipped', async () => {
    const [, minified, gzipped] = readFileSync(join(root, 'README.md'), 'utf8').match(/about (\d+) kB minified and (\d+) kB gzipped/)
    const { outputFiles: [{ contents }] } = await esbuild.build({ ...options, minify: true })
    assertNear(contents.length, minified * 1000)
    assertNear(gzipSync(contents).length, gzipped * 1000)
  })

  it('needs the format that docs/reference/browsers.md names if the program has an await outside of functions', async () => {
    const [, format] = readFileSync(join(root, 'docs/reference/browsers.md'), 'utf8').match(/`await` outside of functions[^.]*`--format=(\w+)`/)
    const contents = "import fairlane from 'fairlane'\nawait fairlane(async () => {}).onIdle()"
    const program = { ...options, stdin: { contents, resolveDir: root } }
    await assert.rejects(esbuild.build(program), /Top-level await/)
    assert.deepEqual((await esbuild.build({ ...program, format })).warnings, [])
  })

  describe('with what aflow reads of Node, `global` and `process.nextTick`, lent to it while it loads,', () => {
    for (const entry of Object.keys(entries).filter(entry => !NODE_ONLY.includes(entry))) {
      const name = entry.replace('.', 'fairlane')

      it(`${name} leaves neither behind`, async () => {
        const { outputFiles: [{ text }] } = await esbuild.build({ ...options, stdin: { contents: `import '${name}'; require('${name}')`, resolveDir: root } })
        const { names, run } = page({}, text)
        assert.deepEqual(await run('return Object.getOwnPropertyNames(globalThis)'), names)
      })
    }

    it('what a page has under these names stays as it was', async () => {
      const process = { env: {} }
      const global = {}
      const { run } = page({ process, global })
      assert.deepEqual(await run('return [process, global]'), [process, global])
      assert.deepEqual([process, global], [{ env: {} }, {}])
    })

    // aflow calls it after each fortieth slice; by this clock a slice has time for two jobs
    for (const globals of [{}, { process: { env: {} } }]) {
      it(`the event loop gets its turns${globals.process ? ', where a page has a process of its own' : ''}`, async () => {
        let time = 0
        const now = () => {
          time += 0.4
          return time
        }
        const { run } = page({ ...globals, performance: { now } })
        assert.equal(await run(`
          let doneCount = 0
          const queue = fairlane((payload, done) => done())
          for (let i = 0; i < 200; i++) queue.push(i, () => { doneCount++ })
          return queue.onIdle().then(() => doneCount)
        `), 200)
        assert(time > 41, `${time} ms`)
      })
    }
  })

  const variants = {
    'with MessageChannel': { MessageChannel: recordingChannel },
    'without MessageChannel': {}
  }
  for (const [variant, globals] of Object.entries(variants)) {
    describe(variant, () => {
      it('runs jobs that complete at once, later, and by a promise', async () => {
        const { run } = page(globals)
        const outcomes = await run(`
          const runners = {
            atOnce: (payload, done) => done(null, payload),
            later: (payload, done) => { setTimeout(done, 1, null, payload) },
            byPromise: async payload => payload,
            thrown: payload => { throw payload }
          }
          return Promise.all(Object.values(runners).map(runner => new Promise(resolve => {
            const outcomes = []
            const queue = fairlane(runner, 2)
            queue.drain = () => resolve(outcomes.join())
            for (const payload of ['a', 'b', 'c', 'd']) queue.push(payload, (err, result) => outcomes.push(err ? '!' + err : result))
          })))
        `)
        assert.deepEqual([...outcomes], ['a,b,c,d', 'a,b,c,d', 'a,b,c,d', '!a,!b,!c,!d'])
      })

      it('starts nothing inside push', async () => {
        const { run } = page(globals)
        assert.equal(await run(`
          let hasStarted = false
          const queue = fairlane((payload, done) => { hasStarted = true; done() })
          const wasStarted = [queue.push(1), queue.resume(), hasStarted][2]
          return queue.onIdle().then(() => wasStarted + ',' + hasStarted)
        `), 'false,true')
      })

      it('survives tens of thousands of synchronous completions', async () => {
        const { run } = page(globals)
        assert.equal(await run(`
          let doneCount = 0
          const queue = fairlane((payload, done) => done(null, payload), 4)
          for (let i = 0; i < 50000; i++) queue.push(i, () => { doneCount++ })
          return queue.onIdle().then(() => doneCount)
        `), 50000)
      })

      it('reports a job that was settled twice on the console', async () => {
        const warnings = []
        const { run } = page({ ...globals, console: { warn: text => warnings.push(text) } })
        await run(`
          const queue = fairlane((payload, done) => { done(); done() })
          queue.push(1).push(2)
          return queue.onIdle()
        `)
        assert.equal(warnings.length, 1)
        assert.match(warnings[0], /FAIRLANE_WARN_SETTLED_TWICE/)
      })
    })
  }

  /** A page of its own with the bundle loaded, that has the globals of browsers and none of Node. */
  function page (globals, text = bundle.outputFiles[0].text) {
    const context = vm.createContext({
      console,
      queueMicrotask,
      setTimeout,
      clearTimeout,
      setInterval,
      clearInterval,
      performance,
      AbortController,
      AbortSignal,
      Event,
      EventTarget,
      ...globals
    })
    assert.deepEqual(nodeNames.filter(name => vm.runInContext(`typeof ${name} !== 'undefined'`, context)), nodeNames.filter(name => name in globals))
    const names = vm.runInContext('Object.getOwnPropertyNames(globalThis)', context)
    vm.runInContext(text, context)
    return { names, run: body => vm.runInContext(`(() => {${body}})()`, context) }
  }

  function recordingChannel () {
    const channel = new MessageChannel()
    channels.push(channel)
    return channel
  }
})

/** As near as a sentence has to be that says "about". */
function assertNear (size, said) {
  assert(Math.abs(size / said - 1) < 0.05, `${size} bytes`)
}
