'use strict'

const assert = require('node:assert')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const { join } = require('node:path')
const { temporaryFolder } = require('../support/folders')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')

const KILLS = rounds(4)
const MAX_LIVES = 60 + 3 * KILLS // the poison jobs that are left end one each
const MAX_ATTEMPTS = 3
const MOST_COST = 96

describe('job queues whose process is killed', function () {
  let folder

  beforeEach(() => { folder = temporaryFolder() })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  for (const ack of ['os', 'disk']) {
    it(`with kill -9, and by poison jobs, run all that was safe with '${ack}' until it is done, dead or cancelled, ` +
      'and nothing again that was done or cancelled, none early, none beside one of its key, one for each time of a schedule, ' +
      'those of a batch all or none, each charged what it costs, or its runner has said in the same process', async () => {
      const seed = seedFromEnvironment()
      const random = seeded(seed)
      const path = join(folder, 'queue')
      const seen = {
        safe: new Set(),
        ended: new Set(),
        done: new Set(),
        dead: new Set(),
        asked: new Set(),
        cancelled: new Set(),
        attempts: new Map(),
        holders: new Map(),
        ticks: new Map(),
        batches: new Map(),
        charged: new Set()
      }
      for (let life = 0; life < KILLS; life++) {
        // the first not before the poison job of it is there
        await live([path, ack, '200'], seen, `SEED=${seed}, life ${life}`, (life === 0 ? 400 : 20) + random.below(600))
      }
      let isOver = false
      for (let life = 0; life < MAX_LIVES && !isOver; life++) {
        isOver = await live([path, ack, '0', 'final'], seen, `SEED=${seed}, last lives`)
      }
      assert(isOver, `SEED=${seed}: jobs are left`)
      const settled = new Set([...seen.ended, ...seen.dead, ...seen.asked])
      assert.deepEqual([...seen.safe].filter(id => !settled.has(id)), [], `SEED=${seed}: jobs are lost`)
      for (const [batch, ids] of seen.batches) assert.equal(ids.size, 4, `SEED=${seed}: of batch ${batch} there were ${[...ids]}`)
      assert(seen.charged.has(0), `SEED=${seed}: jobs had costs`)
      assert(seen.batches.size > 0, `SEED=${seed}: there were batches`)
      assert(seen.ticks.size > 0, `SEED=${seed}: a schedule had jobs`)
      assert(seen.cancelled.size > 0, `SEED=${seed}: jobs were cancelled`)
      assert(seen.dead.size > 0, `SEED=${seed}: there were poison jobs`)
    })
  }
})

/** One life of the child, until it has said so many lines, or ends. @returns {Promise<boolean>} whether it came to its end */
async function live (args, {
  safe, ended, done, dead, asked, cancelled, attempts, holders, ticks, batches, charged
}, message, linesCount = Infinity) {
  // without the hooks of the coverage run, which take most of the time of many short lives
  const command = ['-u', 'NODE_OPTIONS', process.execPath, join(__dirname, 'killed-jobs.js'), ...args]
  const child = spawn('env', command, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  let count = 0
  child.stdout.on('data', data => {
    text += data
    count += data.toString().split('\n').length - 1
    if (count >= linesCount) child.kill('SIGKILL')
  })
  await once(child, 'close')
  for (const line of text.slice(0, text.lastIndexOf('\n')).split('\n')) {
    const [sign, id, attempt, code] = line.split(' ').map((word, i) => i === 0 || i === 3 ? word : Number(word))
    if (sign === '+') safe.add(id)
    if (sign === '~') ended.add(id)
    if (sign === '-') done.add(id)
    if (sign === '?') asked.add(id)
    if (sign === 'c') cancelled.add(id)
    assert(sign !== 'e', `${message}: job ${id} is early`)
    if (sign === '$') {
      assert(attempt >= 0 && attempt <= (id === 0 ? 0 : 3 * MOST_COST), `${message}: at job ${id}, ${attempt} units too much were charged`)
      charged.add(attempt)
    }
    if (sign === '/') attempts.set(id, attempt - 1)
    if (sign === 's') {
      assert.equal(ticks.get(attempt) ?? id, id, `${message}: two jobs for the time ${attempt}`)
      ticks.set(attempt, id)
    }
    if (['~', '?', 'x'].includes(sign)) for (const [key, holder] of holders) if (holder === id) holders.delete(key)
    if (sign === 'x') {
      dead.add(id)
      assert.deepEqual([attempt, code], [MAX_ATTEMPTS, 'FAIRLANE_ERR_CRASHED'], `${message}: job ${id} is dead`)
    }
    if (sign === 'b') batches.set(code, (batches.get(code) ?? new Set()).add(id))
    if (sign !== '=') continue
    assert(!done.has(id), `${message}: job ${id} is back`)
    assert(!dead.has(id), `${message}: job ${id} is alive again`)
    assert(!cancelled.has(id), `${message}: job ${id} runs, which was cancelled`)
    assert(attempt > (attempts.get(id) ?? 0), `${message}: attempt ${attempt} of job ${id} comes twice`)
    attempts.set(id, attempt)
    if (code === '') continue
    assert.equal(holders.get(code) ?? id, id, `${message}: two jobs have the key ${code}`)
    holders.set(code, id)
  }
  return text.endsWith('end\n')
}
