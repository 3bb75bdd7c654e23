'use strict'

// The job queues on disk that are compared: one adapter for each, so that all get the same jobs.
//
// `open(folder, { runner, concurrency, whenDone, whenFailed })` gives a queue in which nothing runs before start():
//
//   push(payload), pushAll(payloads)   promises, or nothing if it has happened; resolve when the jobs are as safe as `syncs` says
//   start()                            runs what waits, and what comes
//   written()                          resolves when the ends of the jobs that are done are as safe as that
//   counts()                           { done, left }: how many jobs the queue says are done, and are not
//   close()
//   leave()                            ours only: closes, and jobs that wait stay on disk
//
// `runner` is an async function of the payload; `whenDone()` is called when the queue has noted the end of a job, `whenFailed(error)`
// when an attempt has failed. `peer` is what has to be installed (peers.js), `package` what its version is that of.

const fs = require('node:fs')
const { packagePath } = require('./peers')

/** Bytes that ours writes for an attempt and for an end. */
const ATTEMPT_BYTES = 24
const END_BYTES = 11

const json = { encode: payload => Buffer.from(JSON.stringify(payload)), decode: bytes => JSON.parse(bytes.toString()) }

const jobQueues = {
  fairlane: ours({ ack: 'os' }),
  'fairlane, disk': { ...ours({ ack: 'disk' }), syncs: true },
  'fairlane, JSON': { ...ours({ ack: 'os', serialize: json }), note: 'the option `serialize` makes JSON of payloads, as plainjob does' },
  'fairlane, equal': ours({ ack: 'os', scheduler: 'equal' }),
  'fairlane, maxWaitMs': ours({ ack: 'os', maxWaitMs: 1e9 }),
  plainjob: {
    ...plainjob({ syncsPushes: false }),
    note: 'on better-sqlite3, journal mode WAL, synchronous = NORMAL; a worker for each slot (one alone takes no less), which looks for jobs each ms ' +
      'while there are none; a logger that is silent; jobs that are pushed together by addMany(). It keeps jobs that are done'
  },
  'plainjob, synced': {
    ...plainjob({ syncsPushes: true }),
    syncs: true,
    note: 'as plainjob, but with synchronous = FULL while jobs are added, which it has no option for'
  },
  'bare loop': {
    ...bareLoop(() => {}),
    note: 'no queue: one write for each push call, and one for the ends of ten jobs and the attempts of the next ten; payloads stay in memory'
  },
  'bare loop, synced': { ...bareLoop(fs.fdatasyncSync), syncs: true, note: 'as the bare loop, and a sync for each push call' }
}

function ours (options) {
  return {
    package: 'fairlane',
    async open (folder, { runner, concurrency, whenDone, whenFailed }) {
      const { durable } = require('../../lib/durable')
      const queue = await durable(runner, { path: folder, concurrency, ...options })
      queue.on('done', whenDone)
      for (const event of ['retry', 'failed']) queue.on(event, ({ error }) => whenFailed(error))
      queue.pause()
      const push = options.scheduler === undefined ? payload => queue.push(payload) : payload => queue.pushType('tenant', payload)
      return {
        push,
        pushAll: payloads => Promise.all(payloads.map(push)),
        start: () => queue.resume(),
        // the end of a job is handed to the operating system in the turn in which it ends
        written: () => options.ack === 'disk' ? queue.flush() : new Promise(resolve => setImmediate(resolve)),
        counts: () => ({ done: queue.stats().done, left: queue.length }),
        close: () => queue.close(),
        leave: () => queue.close({ timeoutMs: 0 })
      }
    }
  }
}

function plainjob ({ syncsPushes }) {
  return {
    peer: 'plainjob',
    package: 'plainjob',
    open (folder, { runner, concurrency, whenDone, whenFailed }) {
      const Database = require(packagePath('better-sqlite3'))
      const { better, defineQueue, defineWorker, JobStatus } = require(packagePath('plainjob'))
      const logger = { error () {}, warn () {}, info () {}, debug () {} }
      const connection = better(new Database(`${folder}.db`))
      const queue = defineQueue({ connection, logger })
      const run = job => runner(JSON.parse(job.data))
      const options = { queue, logger, pollIntervall: 1, onCompleted: whenDone, onFailed: (job, message) => whenFailed(new Error(message)) }
      const workers = Array.from({ length: concurrency }, () => defineWorker('job', run, options))
      const running = []
      // until it starts only pushes write
      if (syncsPushes) connection.pragma('synchronous = FULL')
      return {
        push: payload => safely(() => { queue.add('job', payload) }),
        pushAll: payloads => safely(() => { queue.addMany('job', payloads) }),
        start () {
          if (syncsPushes) connection.pragma('synchronous = NORMAL')
          for (const worker of workers) running.push(worker.start())
        },
        written () { if (syncsPushes) connection.pragma('wal_checkpoint(PASSIVE)') },
        counts () {
          const countOf = status => queue.countJobs({ status })
          const open = [JobStatus.Pending, JobStatus.Processing, JobStatus.Failed]
          return { done: countOf(JobStatus.Done), left: open.reduce((sum, status) => sum + countOf(status), 0) }
        },
        async close () {
          for (const worker of workers) await worker.stop()
          await Promise.all(running)
          queue.close()
        }
      }

      function safely (add) {
        const isToggled = syncsPushes && running.length > 0
        if (isToggled) connection.pragma('synchronous = FULL')
        add()
        if (isToggled) connection.pragma('synchronous = NORMAL')
      }
    }
  }
}

/** What a queue can not do without, if its jobs are to be with the operating system and attempts and ends are to be written in groups. */
function bareLoop (sync) {
  return {
    package: null,
    isBare: true,
    open (folder, { runner, concurrency, whenDone }) {
      const fd = fs.openSync(`${folder}.log`, 'a')
      let waiting = []
      let at = 0
      let doneCount = 0
      let isStarted = false
      let isRunning = false
      return {
        push: payload => pushAll([payload]),
        pushAll,
        start () {
          isStarted = true
          if (!isRunning) run()
        },
        written: () => sync(fd),
        counts: () => ({ done: doneCount, left: waiting.length - at }),
        close: () => fs.closeSync(fd)
      }

      function pushAll (payloads) {
        fs.writeSync(fd, Buffer.from(payloads.map(payload => JSON.stringify(payload)).join('')))
        sync(fd)
        waiting.push(...payloads)
        if (isStarted && !isRunning) run()
      }

      async function run () {
        isRunning = true
        let ended = 0
        await undefined // as a queue, it does not run jobs inside push
        while (at < waiting.length) {
          const group = waiting.slice(at, at + concurrency)
          at += group.length
          fs.writeSync(fd, Buffer.alloc(group.length * ATTEMPT_BYTES + ended * END_BYTES))
          await Promise.all(group.map(runner))
          ended = group.length
          for (let i = 0; i < ended; i++) {
            doneCount++
            whenDone()
          }
        }
        fs.writeSync(fd, Buffer.alloc(ended * END_BYTES))
        waiting = []
        at = 0
        isRunning = false
      }
    }
  }
}

module.exports = { jobQueues }
