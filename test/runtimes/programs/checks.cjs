'use strict'

// What every runtime has to do: each check is given the entries of the package, as a program of that runtime has loaded them.
// Plain JavaScript without a module of Node, since browsers run it too.

module.exports = { runChecks }

const checks = {
  'callbacks get results and errors, in order' ({ fairlane }) {
    const queue = fairlane((payload, done) => payload < 0 ? done(new Error('less')) : done(null, payload * 2), 2)
    return settled(5, (i, end) => queue.push(i - 1, (err, result) => end(err?.message ?? result)), ['less', 0, 2, 4, 6])
  },

  async 'add() gives promises, and no more jobs run than may' ({ fairlane }) {
    let running = 0
    let most = 0
    const queue = fairlane(async payload => {
      most = Math.max(most, ++running)
      await later()
      running--
      return payload + 1
    }, { concurrency: 3, settleBy: 'promise' })
    equal(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(i => queue.add(i))), [2, 3, 4, 5, 6, 7, 8])
    equal(most, 3)
  },

  async 'map() goes through a source' ({ fairlane }) {
    const results = []
    for await (const result of fairlane(async payload => payload * payload, 2).map([1, 2, 3, 4])) results.push(result)
    equal(results, [1, 4, 9, 16])
  },

  async 'a tenant is not kept waiting by a flood of another' ({ fairlane }) {
    const ended = []
    const queue = fairlane((payload, done) => { later().then(() => done()) }, { concurrency: 4, scheduler: 'equal' })
    for (let i = 0; i < 100; i++) queue.pushType('loud', i, () => ended.push('loud'))
    queue.pushType('quiet', 0, () => ended.push('quiet'))
    await queue.onIdle()
    equal([ended.length, ended.indexOf('quiet') < 10], [101, true])
  },

  async 'a signal and a time limit end jobs' ({ fairlane }) {
    const controller = new AbortController()
    const queue = fairlane((payload, done) => {}, { concurrency: 1, timeoutMs: 20, onTimeout: 'release' })
    const jobs = [queue.add(1), queue.add(2, { signal: controller.signal })]
    controller.abort()
    equal(await codesOf(jobs), ['FAIRLANE_ERR_TIMEOUT', 'FAIRLANE_ERR_ABORTED'])
  },

  async 'close() settles all' ({ fairlane }) {
    const queue = fairlane((payload, done) => { later().then(() => done(null, payload)) })
    const jobs = [queue.add(1), queue.add(2)]
    await queue.close()
    equal(await Promise.all(jobs), [1, 2])
    equal(await codesOf([queue.add(3)]), ['FAIRLANE_ERR_CLOSED'])
  },

  'wrong use throws an error with a code' ({ fairlane, Queue }) {
    for (const use of [() => fairlane(1), () => new Queue(() => {}, { concurrency: 0 })]) {
      let code
      try { use() } catch (err) { code = err.code }
      if (!/^FAIRLANE_ERR_/.test(code)) throw new Error(`${code}`)
    }
  },

  async 'the facades run the programs of others' ({ quickq, fastq, async }) {
    const runner = (payload, done) => done(null, payload + 1)
    for (const queue of [quickq(runner, 2), fastq(runner, 2), async.queue(runner, 2)]) {
      equal(await new Promise((resolve, reject) => queue.push(1, (err, result) => err ? reject(err) : resolve(result))), 2)
    }
  },

  async 'tens of thousands of jobs that end at once leave the event loop its turns' ({ fairlane }) {
    let turnCount = 0
    let endedCount = 0
    const timer = setInterval(() => { turnCount++ }, 0)
    const queue = fairlane((payload, done) => {
      for (let i = 0; i < 1000; i++) payload = Math.sin(payload)
      done()
    })
    for (let i = 0; i < 20000; i++) queue.push(i, () => { endedCount++ })
    await queue.onIdle()
    clearInterval(timer)
    equal([endedCount, turnCount > 0], [20000, true])
  }
}

/**
 * Runs the checks above and, of `fairlane/testing`, those that each scheduler has to pass.
 * @param {object} entries what the program has loaded
 * @param {Record<string, (entries: object) => unknown>} [more] checks of this runtime only
 * @returns {Promise<{ passed: number, failed: string[] }>}
 */
async function runChecks (entries, more = {}) {
  const all = Object.entries({ ...checks, ...more }).map(([title, run]) => ({ title, run: () => run(entries) }))
  for (const [name, Scheduler] of Object.entries(entries.schedulers)) {
    for (const { title, run } of entries.testing.schedulerChecks(() => new Scheduler())) all.push({ title: `${name}: ${title}`, run })
  }
  const result = { passed: 0, failed: [] }
  for (const { title, run } of all) {
    try {
      await run()
      result.passed++
    } catch (err) {
      result.failed.push(`${title}: ${err.stack ?? err}`)
    }
  }
  return result
}

function later () {
  return new Promise(resolve => setTimeout(resolve, 1))
}

async function codesOf (promises) {
  return (await Promise.allSettled(promises)).map(({ reason }) => reason?.code)
}

function settled (count, start, expected) {
  return Promise.all(Array.from({ length: count }, (_, i) => new Promise(resolve => start(i, resolve)))).then(seen => equal(seen, expected))
}

function equal (seen, expected) {
  const [left, right] = [seen, expected].map(value => JSON.stringify(value))
  if (left !== right) throw new Error(`${left} is not ${right}`)
}
