'use strict'

// A million at once, for the case eventloop: what one call, or one moment, ends or lets go. Each load is
// `{ label, prepare(fairlane, count, told) → act }`, where `told` is to be called for each, and act() begins it. Version 0.1.0 had not what
// `isOfLimits` need.

const noop = () => {}
const turn = () => new Promise((resolve) => setImmediate(resolve))
const repeat = (count, fn) => { for (let i = 0; i < count; i++) fn(i) }

const loads = {
  remove: {
    label: 'remove (before it returns)',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      repeat(count, (i) => queue.push(i, told))
      return () => queue.remove(() => true)
    }
  },

  clear: {
    label: 'clear (before it returns)',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      repeat(count, (i) => queue.push(i, told))
      return () => queue.clear()
    }
  },

  'clear-add': {
    label: 'clear, jobs of add',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      repeat(count, (i) => queue.add(i).catch(told))
      return () => queue.clear()
    }
  },

  'clear-equal': {
    label: 'clear, equal, 1,000 types',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { scheduler: 'equal' }).pause()
      repeat(count, (i) => queue.pushType(i % 1000, i, told))
      return () => queue.clear()
    }
  },

  'close-waiting': {
    label: 'close({ drain: false }), they wait',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      repeat(count, (i) => queue.push(i, told))
      return () => { queue.close({ drain: false }) }
    }
  },

  'close-running': {
    label: 'close({ drain: false }), they run',
    async prepare (fairlane, count, told) {
      const queue = fairlane(noop, Infinity)
      repeat(count, (i) => queue.push(i, told))
      while (queue.waiting > 0) await turn()
      return () => { queue.close({ drain: false }) }
    }
  },

  signal: {
    label: 'a signal that they share',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      const controller = new AbortController()
      repeat(count, (i) => queue.add(i, { signal: controller.signal }).catch(told))
      return () => controller.abort()
    }
  },

  'clear-add-equal': {
    label: 'clear, jobs of add, equal, as many types',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { scheduler: 'equal' }).pause()
      repeat(count, (i) => queue.add(i, { type: i }).catch(told))
      return () => queue.clear()
    }
  },

  'signal-keys': {
    label: 'a signal that they share, keys',
    isOfLimits: true,
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      const controller = new AbortController()
      repeat(count, (i) => queue.add(i, { key: i, signal: controller.signal }).catch(told))
      return () => controller.abort()
    }
  },

  'close-delayed': {
    label: 'close({ drain: false }), delayed, keys',
    isOfLimits: true,
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { scheduler: 'equal' })
      repeat(count, (i) => queue.add(i, { type: i % 1000, key: i, delayMs: 1e6 + i }).catch(told))
      return () => { queue.close({ drain: false }) }
    }
  },

  rates: {
    label: 'setRates with a function, as many types',
    isOfLimits: true,
    async prepare (fairlane, count, told) {
      const rate = { limit: 1, intervalMs: 1e9 }
      const queue = fairlane((payload, done) => done(), { scheduler: 'equal', concurrency: 1000, ratePerType: () => rate })
      repeat(count, (i) => queue.pushType(i, i))
      await queue.onIdle()
      repeat(count, (i) => queue.pushType(i, i))
      return () => {
        queue.setRates({ ratePerType: () => ({ limit: 2, intervalMs: 1e9 }) })
        repeat(count, told)
      }
    }
  },

  deadline: {
    label: 'maxWaitMs, due together',
    prepare (fairlane, count, told) {
      let time = 0
      let fire
      const clock = {
        now: () => time,
        setTimeout: (fn) => { fire = fn },
        clearTimeout: noop
      }
      const queue = fairlane(noop, { maxWaitMs: 1000, clock }).pause()
      repeat(count, (i) => queue.push(i, told))
      return () => {
        time = 2000
        fire()
      }
    }
  },

  'ready-closed': {
    label: 'close() with ready() pending',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { maxWaiting: 0, concurrency: 1 }).push(0)
      repeat(count, () => queue.ready().catch(told))
      return () => { queue.close({ drain: false }) }
    }
  },

  'ready-types': {
    label: 'ready() of as many types',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { scheduler: 'equal', maxWaiting: 0, concurrency: 1 }).pushType('first', 0)
      repeat(count, (i) => queue.ready(`type ${i}`).then(told))
      return () => queue.clear()
    }
  },

  onIdle: {
    label: 'onIdle',
    async prepare (fairlane, count, told) {
      let end
      const queue = fairlane((payload, done) => { end = done }).push(0)
      await turn()
      repeat(count, () => queue.onIdle().then(told))
      return () => end()
    }
  },

  fflush: {
    label: 'fflush, on an idle queue',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop)
      repeat(count, () => queue.fflush(told))
      return noop
    }
  },

  map: {
    label: 'map, maxPending: Infinity',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop).pause()
      const results = queue.map(sourceOf(count, told), { maxPending: Infinity })
      return () => { results.next() }
    }
  },

  pauseType: {
    label: 'pauseType of as many types (a loop of calls)',
    prepare (fairlane, count, told) {
      const queue = fairlane(noop, { scheduler: 'equal' })
      return () => repeat(count, (i) => {
        queue.pauseType(i)
        told()
      })
    }
  }
}

function * sourceOf (count, told) {
  for (let i = 0; i < count; i++) {
    told()
    yield i
  }
}

/**
 * @param {Function} fairlane
 * @param {keyof loads} name
 * @param {number} count
 * @returns {Promise<{ blockMs: number, cpuNs: number }>} the longest time between two turns of the event loop, the call included; the CPU
 *   time of all, for each
 */
async function measureTold (fairlane, name, count) {
  const told = { count: 0 }
  const { prepare } = loads[name]
  const act = await prepare(fairlane, count, () => { told.count++ })
  const begunCpu = process.cpuUsage()
  let blockMs = 0
  let last = performance.now()
  act()
  do {
    await turn()
    const now = performance.now()
    blockMs = Math.max(blockMs, now - last)
    last = now
  } while (told.count < count)
  const { user, system } = process.cpuUsage(begunCpu)
  return { blockMs, cpuNs: (user + system) * 1000 / count }
}

module.exports = { loads, measureTold }
