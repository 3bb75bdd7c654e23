'use strict'

// Rates of cost while processes that run the jobs are killed and others come: what was charged stays charged for as long as its window
// says, and not longer.

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { seeded, seedFromEnvironment } = require('../support/random')
const { describeWithRedis } = require('../support/redis')
const { isLong, playRounds, rounds } = require('../support/rounds')
const { servers } = require('./opened')

const LIMIT = 300
const RATE = { limit: LIMIT, intervalMs: 1000, of: 'cost' }
const TYPES = ['a', 'b']
const [JOBS, WORKERS, KILLS] = isLong ? [80, 3, 3] : [24, 2, 1]

describeWithRedis('units at a broker, where processes are killed with kill -9', function () {
  const { startServer, open } = servers()
  const children = new Set()

  afterEach(() => Promise.all([...children].map(kill)))

  async function start ({ path, folder }, options, pids) {
    const settings = { path, folder, options: { leaseMs: 1000, backoffMs: 1, concurrency: 4, ...options } }
    const child = fork(join(__dirname, 'unit-process.js'), [JSON.stringify(settings)], { env: { ...process.env, NODE_OPTIONS: '' } })
    pids.push(child.pid)
    children.add(child)
    child.once('exit', () => {
      if (children.delete(child)) start({ path, folder }, options, pids) // it was not this test that ended it
    })
    await once(child, 'message')
  }

  async function kill (child) {
    children.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  const scopes = [
    { title: 'of each type', rates: { ratePerType: RATE }, scopeOf: ({ type }) => type },
    { title: 'of the whole queue', rates: { rate: RATE }, scopeOf: () => 'all' }
  ]
  for (const { title, rates, scopeOf } of scopes) {
    const seed = seedFromEnvironment()
    it(`${title} exceed no limit in any stretch of time, no job is lost, and each unit is free again (SEED=${seed})`, function () {
      return playRounds(rounds(1), seed, seeded, random => play(random, rates, scopeOf))
    })
  }

  async function play (random, rates, scopeOf) {
    const server = await startServer()
    const options = { scheduler: 'equal', ...rates }
    const producer = await open(server, null, { ...options, leaseMs: 1000 })
    const pids = []
    await Promise.all(Array.from({ length: WORKERS }, () => start(server, options, pids)))
    const lines = () => pids.flatMap(pid => readLines(join(server.folder, `units-${pid}`)))
    const jobs = Array.from({ length: JOBS }, () => jobOf(random))
    for (let killed = 0; killed < KILLS; killed++) jobs[random.below(JOBS)].isPoison = true
    await Promise.all(jobs.map(job => producer.add(job, { type: random.pick(TYPES), cost: job.cost })))
    check(lines(), scopeOf)
    const attempts = lines().filter(([what]) => what === 'start').map(([, , attempt]) => attempt)
    assert.ok(Math.max(...attempts) > 1 && pids.length > WORKERS, `${attempts}, ${pids}`)

    // they start in a window of which nothing is left, and not before
    for (const type of TYPES) await producer.add({ cost: LIMIT, parts: [], ms: 1 }, { type, cost: LIMIT })
    check(lines(), scopeOf)
    for (const type of TYPES) {
      const { waiting, running, delayed } = await producer.counts(type)
      assert.deepEqual({ waiting, running, delayed }, { waiting: 0, running: 0, delayed: 0 })
    }
    await producer.close()
    await Promise.all([...children].map(kill))
  }
})

function jobOf (random) {
  const cost = random.chance(0.1) ? 150 + random.below(LIMIT - 150) : random.below(60)
  const parts = []
  for (let units = cost; parts.length < 2 && random.chance(0.4); units = parts.at(-1)) parts.push(random.below(units + 1))
  return { cost, parts, ms: 1 + random.below(60) }
}

function readLines (file) {
  if (!existsSync(file)) return []
  const words = line => line.split(' ').map((word, i) => i < 2 || /\D/.test(word) ? word : Number(word))
  return readFileSync(file, 'utf8').split('\n').slice(0, -1).map(words)
}

/** @param {any[][]} lines of unit-process.js, of all processes */
function check (lines, scopeOf) {
  const starts = []
  const said = new Map() // by attempt: what its runner has said, and when
  for (const [what, id, attempt, ...words] of lines) {
    if (what === 'start') {
      const [type, cost, charged, from, to] = words
      starts.push({ id, attempt, type, cost, charged, from, to })
    } else if (what === 'spent') {
      const key = `${id} ${attempt}`
      if (!said.has(key)) said.set(key, [])
      said.get(key).push({ units: words[0], at: words[1] })
    }
  }
  const saidOf = ({ id, attempt }) => said.get(`${id} ${attempt}`) ?? []
  for (const start of starts) {
    const { id, attempt, cost, charged } = start
    const before = starts.filter(other => other.id === id && other.attempt < attempt)
    const known = before.flatMap(saidOf).map(({ units }) => units) // or nobody heard of it any more
    assert.ok([cost, ...known].includes(charged), `attempt ${attempt} of job ${id}, which costs ${cost}, was charged ${charged}`)
    let sum = 0
    for (const other of starts) {
      if (scopeOf(other) !== scopeOf(start) || other.to > start.to || other.from <= start.to - RATE.intervalMs * 1000) continue
      sum += saidOf(other).findLast(({ at }) => at <= start.to)?.units ?? other.charged
    }
    assert.ok(sum <= LIMIT, `${sum} units in ${RATE.intervalMs} ms until job ${id} began`)
  }
}
