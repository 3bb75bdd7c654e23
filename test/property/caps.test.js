'use strict'

// Hard caps in random interleavings of pushes, completions, pauses and changes of every cap, on a whole queue.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { withoutTime } = require('../support/time')
const { turns } = require('../support/turns')

const ROUNDS = rounds(20)
const STEPS = 150
const TYPES = ['a', 'b', 'c', 'd']
const base = seedFromEnvironment()

describe('hard caps', function () {
  for (const scheduler of ['fair', 'capped', 'equal']) {
    it(`of ${scheduler} are never exceeded, and nobody waits for longer than they make him`, async function () {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        try {
          await withoutTime(() => play(scheduler, seeded(seed)))
        } catch (err) {
          err.message = `SEED=${seed}: ${err.message}`
          throw err
        }
      }
    })
  }
})

async function play (scheduler, random) {
  const hasTypeCaps = scheduler !== 'fair'
  const caps = { concurrency: 6, maxTypeShare: 0.5, maxTypeCap: Infinity, typeCaps: {} }
  const running = Object.fromEntries(TYPES.map(type => [type, 0]))
  const waiting = Object.fromEntries(TYPES.map(type => [type, 0]))
  const paused = new Set()
  const open = []
  const queue = fairlane((payload, done, { type }) => {
    assert.ok(!isCapped(type), `${type} was started with ${running[type]} running: ${JSON.stringify(caps)}`)
    assert.ok(!paused.has(type), `${type} was started, paused`)
    running[type]++
    waiting[type]--
    open.push({ done, type })
  }, {
    concurrency: caps.concurrency,
    scheduler,
    schedulerOptions: { maxTypeShare: 0.5, ...scheduler !== 'equal' && { hard: true } }
  })

  const steps = {
    push () {
      for (let n = random.below(8); n >= 0; n--) {
        const type = random.pick(TYPES)
        waiting[type]++
        queue[random.chance(0.2) ? 'unshiftType' : 'pushType'](type, 0)
      }
    },
    end () {
      if (open.length === 0) return
      const [{ done, type }] = open.splice(random.below(open.length), 1)
      running[type]--
      done()
    },
    pause () {
      const type = random.pick(TYPES)
      paused.add(type)
      queue.pauseType(type)
    },
    resume () {
      const type = random.pick(TYPES)
      paused.delete(type)
      queue.resumeType(type)
    },
    share () { configure({ maxTypeShare: random.pick([0, 0.1, 0.25, 0.5, 0.9, 1]) }) },
    cap () { if (hasTypeCaps) configure({ maxTypeCap: random.pick([0, 1, 2, 3.5, Infinity]) }) },
    typeCaps () { if (hasTypeCaps) configure({ typeCaps: { [random.pick(TYPES)]: random.pick([0, 1, 2, Infinity]) } }) },
    noTypeCaps () {
      if (!hasTypeCaps) return
      queue.scheduler.configure({ typeCaps: null })
      caps.typeCaps = {}
    },
    concurrency () {
      caps.concurrency = 1 + random.below(12)
      if (random.chance(0.5)) queue.concurrency = caps.concurrency
      else queue.pause().resume(caps.concurrency)
    },
    remove () { if (random.chance(0.2)) clear(random.pick(TYPES)) }
  }
  const names = ['push', 'push', 'end', 'end', 'end', ...Object.keys(steps)]
  for (let i = 0; i < STEPS; i++) {
    steps[random.pick(names)]()
    await turns(2)
    for (const type of TYPES) {
      const mayStart = waiting[type] > 0 && !paused.has(type) && !isCapped(type)
      assert.ok(!mayStart || queue.running >= caps.concurrency, `${type} waits in vain: ${JSON.stringify({ caps, running, waiting })}`)
    }
  }

  function isCapped (type) {
    const count = running[type]
    const { concurrency, maxTypeShare, maxTypeCap, typeCaps } = caps
    return count / concurrency >= maxTypeShare || count >= maxTypeCap || count >= (typeCaps[type] ?? Infinity)
  }

  function configure (options) {
    queue.scheduler.configure(options)
    Object.assign(caps, options, { typeCaps: { ...caps.typeCaps, ...options.typeCaps } })
  }

  function clear (type) {
    assert.equal(queue.clear({ type }), waiting[type])
    waiting[type] = 0
  }
}
