'use strict'

const assert = require('node:assert')
const { node } = require('../support/child')
const { fileOf } = require('./start')

const JOBS = JSON.stringify(fileOf('jobs.js'))

// The files that are loaded then, without those of packages.
const LOADED = `Object.keys(require.cache).map(file => file.slice(process.cwd().length + 1).replaceAll(require('node:path').sep, '/'))
  .filter(file => !file.startsWith('node_modules/')).sort()`
const PACKAGES = "[...new Set(Object.keys(require.cache).map(file => file.split('/node_modules/')[1]?.split('/')[0]).filter(Boolean))].sort()"

describe('a process', () => {
  const outputOf = async program => {
    const { code, stdout, stderr } = await node(['--eval', program])
    assert.equal(code, 0, stderr)
    return stdout.trim().split('\n').map(line => JSON.parse(line))
  }

  it('that requires fairlane loads neither the threads nor piscina', async () => {
    const [files, packages] = await outputOf(`
      require('fairlane')(() => {}).push(1)
      console.log(JSON.stringify(${LOADED}))
      console.log(JSON.stringify(${PACKAGES}))
    `)
    assert.deepEqual(files.filter(file => file.includes('threads')), [])
    assert.deepEqual(packages.filter(name => name === 'piscina'), [])
  })

  it('that requires fairlane/threads loads nothing of the core, and piscina when it is called', async () => {
    const [files, packages, after] = await outputOf(`
      const { threads } = require('fairlane/threads')
      console.log(JSON.stringify(${LOADED}))
      console.log(JSON.stringify(${PACKAGES}))
      threads(${JOBS}, { threads: 1 })
      console.log(JSON.stringify(${PACKAGES}))
    `)
    const own = ['failures', 'index', 'jobs', 'message', 'options', 'peer', 'pool'].map(name => `lib/threads/${name}.js`)
    const platform = ['clock', 'guard', 'peers', 'signals'].map(name => `platform/${name}`)
    const shared = ['arguments/errors', 'arguments/fields', ...platform].map(name => `lib/${name}.js`)
    assert.deepEqual(files, [...shared, ...own])
    assert.deepEqual([packages, after], [[], ['piscina']])
  })

  const QUEUE = `
    const fairlane = require('fairlane')
    const { threads } = require('fairlane/threads')
    const runner = threads(${JOBS}, { threads: 2 })
    const queue = fairlane(runner, { concurrency: runner.concurrency, scheduler: 'equal' })
    const tell = what => console.log(JSON.stringify(what))
  `

  it('ends by itself when both are closed, and nothing is left', async () => {
    const lines = await outputOf(`${QUEUE}
      const { once } = require('node:events')
      async function main () {
        const jobs = [{ act: 'exit' }, { act: 'value', value: 1 }, { act: 'fail' }].map(job => queue.add(job, { type: 'a', timeoutMs: 60000 }))
        tell((await Promise.allSettled(jobs)).map(({ status }) => status))
        const looping = queue.add({ act: 'loop' }, { type: 'b' }).catch(({ code }) => tell(code))
        while (queue.running < 1) await new Promise(setImmediate)
        tell(await queue.close({ drain: false, timeoutMs: 60000 }))
        await runner.close()
        await looping
        await new Promise(setImmediate) // the ends of threads are looked at in the turn after
        tell(process.getActiveResourcesInfo().filter(name => !/TTY|Pipe|FSReq/.test(name)))
      }
      main()
    `)
    assert.deepEqual(lines, [['rejected', 'fulfilled', 'rejected'], 'FAIRLANE_ERR_CLOSED', 0, []])
  })

  it('ends by itself when no job is left, though nothing was closed', async () => {
    assert.deepEqual(await outputOf(`${QUEUE} queue.add({ act: 'value', value: 1 }, { type: 'a' }).then(tell)`), [1])
  })

  it('has what a job has printed before that is done', async () => {
    const lines = await outputOf(`${QUEUE}
      const job = { act: 'print', text: JSON.stringify('printed') }
      queue.add(job, { type: 'a' }).then(() => tell('done')).then(() => queue.add({ act: 'exit' }, { type: 'a' })).catch(({ code }) => tell(code))
    `)
    assert.deepEqual(lines, ['printed', 'done', 'FAIRLANE_ERR_CRASHED'])
  })

  it('goes on until a job whose thread has ended is told', async () => {
    assert.deepEqual(await outputOf(`${QUEUE} queue.add({ act: 'exit' }, { type: 'a' }).catch(({ code }) => tell(code))`), ['FAIRLANE_ERR_CRASHED'])
  })

  it('goes on until all threads are there, if somebody waits for it', async () => {
    assert.deepEqual(await outputOf(`${QUEUE} runner.ready().then(() => tell('ready'))`), ['ready'])
  })

  it('keeps no context of the caller for the threads that it starts later', async () => {
    const [stores] = await outputOf(`
      const { AsyncLocalStorage } = require('node:async_hooks')
      const { threads } = require('fairlane/threads')
      const storage = new AsyncLocalStorage()
      const stores = []
      process.on('worker', () => stores.push(storage.getStore() ?? null))
      const runner = threads('/nowhere.js', { threads: 1 })
      runner.ready().catch(() => storage.run('tenant', () => runner({}).catch(async () => {
        await runner.close()
        console.log(JSON.stringify(stores.slice(0, 3)))
      })))
    `)
    assert.deepEqual(stores, [null, null, null])
  })
})
