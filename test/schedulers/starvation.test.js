'use strict'

// What one tenant can do to another, on a virtual clock: 10 slots, and jobs of 10 ms where nothing else is said. For each way
// to get 'equal' wrong that is known there is a scheduler with that mistake, which must fail.

const assert = require('node:assert/strict')
const { Equal, Fair } = require('../../schedulers')
const { share, waits, percentile, jain, slotTime } = require('../support/shares')
const { seeded } = require('../support/random')
const { simulation } = require('../support/simulation')

/** Newcomers begin at V. */
class NoDebit extends Equal {
  floorOf () { return this.virtualTime }
}

/** Newcomers begin by V alone, however much time others got since. */
class NoFluidTime extends Equal {
  advanceFluidTime () {}
}

/** In the fluid time each job counts as long as it took. */
class AllCounts extends Equal {
  constructor (options) {
    super(options)
    Object.defineProperty(this.jobLengths, 'usualMs', { get: () => Infinity, set () {} })
  }
}

/** Newcomers begin a mean job behind V. */
class MeanDebit extends Equal {
  floorOf (state) { return this.virtualTime + this.jobLengths.meanMs / state.weight }
}

/** Running jobs cost nothing until they end. */
class LateCharge extends Equal {
  keyOf (state) { return state.used }
}

/** Savings are lost only by those that run nothing. */
class IdleDebit extends Equal {
  forfeit (state) { if (state.lane.running === 0 && !state.lane.isResumed) super.forfeit(state) }
  forfeitCapped () {}
  paused (lane) {
    lane.isResumed = true
    super.paused(lane)
  }
}

const isBusy = type => type === 'busy'

describe('the other tenants', function () {
  it('of one that floods wait for less than a job, with fair and with equal', async function () {
    for (const scheduler of ['fair', 'equal']) {
      const sim = simulation({ scheduler })
      sim.push('flood', 10, 100000)
      for (let i = 0; i < 9; i++) sim.at(1 + 7 * i, () => sim.every(100, () => sim.push(`quiet ${i}`, 10)))
      await sim.runUntil(20000)
      const quiet = waits(sim.log, type => type !== 'flood')
      assert.equal(quiet.length, 1800)
      assert.ok(percentile(quiet, 50) <= 5 && percentile(quiet, 99) <= 10, `${percentile(quiet, 99)} ms (${scheduler})`)
    }
  })

  it('of one with ten times the backlog get the same with equal, a fair share of it with fair', async function () {
    const index = {}
    for (const scheduler of ['fair', 'equal']) {
      const sim = simulation({ scheduler })
      sim.push('many', 10, 20000)
      sim.push('few', 10, 2000)
      await sim.runUntil(1500)
      index[scheduler] = jain([...slotTime(sim.log, 0, 1500).values()])
    }
    assert.ok(index.equal > 0.9999, `equal: ${index.equal}`)
    assert.ok(index.fair > 0.6, `fair: ${index.fair}`)
  })

  it('of one with jobs 100 times as long keep their shares', async function () {
    const sim = simulation({ scheduler: 'equal' })
    for (let i = 0; i < 10; i++) sim.push(`short ${i}`, 10, 5000)
    sim.push('long', 1000, 500)
    await sim.runUntil(30000)
    const part = share(sim.log, 0, 30000, type => type === 'long')
    assert.ok(Math.abs(part - 1 / 11) < 0.002, `${part}`)
  })

  it('of ten among a hundred with jobs 100 times as long keep their shares', async function () {
    const sim = simulation({ scheduler: 'equal' })
    for (let i = 0; i < 90; i++) sim.push(`short ${i}`, 10, 1000)
    for (let i = 0; i < 10; i++) sim.push(`long ${i}`, 1000, 100)
    await sim.runUntil(60000)
    const part = share(sim.log, 0, 60000, type => type.startsWith('long'))
    assert.ok(Math.abs(part - 0.1) < 0.01, `${part}`)
  })

  it('of one with ten times the weight get a tenth of what it gets', async function () {
    const sim = simulation({ scheduler: 'equal', schedulerOptions: { weights: { heavy: 10 } } })
    sim.push('heavy', 10, 5000)
    for (let i = 0; i < 30; i++) sim.push(`light ${i}`, 10, 500)
    await sim.runUntil(10000)
    const part = share(sim.log, 0, 10000, type => type === 'heavy')
    assert.ok(Math.abs(part - 0.25) < 0.001, `${part}`)
  })

  it('of one that leaves and returns share the slots when it is there, and have them all when it is not', async function () {
    const sim = simulation({ scheduler: 'equal' })
    sim.push('busy', 10, 50000)
    sim.every(100, () => sim.push('on and off', 10, 30))
    await sim.runUntil(20000)
    const part = share(sim.log, 1000, 20000, isBusy)
    assert.ok(Math.abs(part - 0.7) < 0.01, `${part}`)
    const last = waits(sim.log, type => type === 'on and off').at(-1)
    assert.ok(last <= 60, `30 jobs on half of the slots wait for up to 60 ms; ${last}`)
  })
})

describe('a stream of one-job types that fills all slots', function () {
  it('leaves a backlogged type something', async function () {
    assert.ok(await busyShare(new Equal()) > 0.01)
  })

  it('... which newcomers at V do not', async function () {
    assert.ok(await busyShare(new NoDebit()) < 0.0002)
  })

  it('leaves it its part of all lanes when types are limited', async function () {
    const part = await busyShare(new Equal(), { maxTypes: 8 })
    assert.ok(part > 1 / 10, `8 own lanes and one for all others: ${part}`)
  })

  async function busyShare (scheduler, options) {
    const sim = simulation({ scheduler, ...options })
    sim.push('busy', 10, 20000)
    let count = 0
    sim.every(10, () => { for (let i = 0; i < 10; i++) sim.push(`once ${count++}`, 10) })
    await sim.runUntil(5000)
    return share(sim.log, 1000, 5000, isBusy)
  }
})

describe('twenty types with one job of 100 ms each, a new one whenever one has ended', function () {
  // as docs/reference/schedulers.md has it
  for (const [failures, least] of [[0, 0.86], [0.2, 0.86], [0.5, 0.86], [0.8, 0.85], [0.9, 0.66], [0.99, 0.06]]) {
    it(`leave a backlogged type ${least} of its part, if ${100 * failures} % of their jobs fail at once`, async function () {
      const part = 21 * await busyShare(new Equal(), failures)
      assert.ok(part > least && part < 1, `${part}`)
    })
  }

  it('... which newcomers that begin by V alone do not', async function () {
    assert.ok(await busyShare(new NoFluidTime(), 0) < 0.03)
    assert.ok(await busyShare(new NoFluidTime(), 0.5) < 0.001)
  })

  it('are forgotten, though one long job goes on all the time', async function () {
    assert.ok(await keptCount(new Equal()) < 50)
    assert.ok(await keptCount(new NoFluidTime()) > 1000, 'if they are kept until others have used as much')
  })

  async function busyShare (scheduler, failures) {
    const sim = simulation({ scheduler })
    sim.push('busy', 10, 5000)
    stream(sim, 20, failures)
    await sim.runUntil(30000)
    return share(sim.log, 2000, 30000, isBusy)
  }

  /** How many types are known at the end of a stream that leaves slots free. */
  async function keptCount (scheduler) {
    const sim = simulation({ scheduler })
    sim.push('long', 1e6)
    const names = stream(sim, 5, 0.5)
    await sim.runUntil(30000)
    assert.ok(names.length > 2000)
    return names.filter(type => sim.queue.stats(type).accepted > 0).length
  }

  function stream (sim, count, failures) {
    const random = seeded(1)
    const names = []
    sim.onEnd = type => { if (type.startsWith('once')) push() }
    for (let i = 0; i < count; i++) push()
    return names

    function push () {
      const type = `once ${names.length}`
      names.push(type)
      sim.push(type, random.chance(failures) ? 0 : 100)
    }
  }
})

describe('quiet tenants after a batch of jobs that took long', function () {
  it('wait for a free slot', async function () {
    assert.ok(await longestWait(new Equal(), { longMs: 6000 }) <= 50)
  })

  it('... but for all that the others have missed, if all of it counts', async function () {
    assert.ok(await longestWait(new AllCounts(), { longMs: 6000 }) > 2000)
  })

  it('wait for a free slot, though nothing else was known of job lengths', async function () {
    assert.ok(await longestWait(new Equal(), { longMs: 30000, longCount: 10 }) <= 50)
  })

  it('wait longer for half a minute only, if all of it counts', async function () {
    const late = { longMs: 6000, gapMs: 2000, fromMs: 30000 }
    assert.ok(await longestWait(new AllCounts(), late) <= 50)
    class WholeFluidTime extends AllCounts {
      advanceFluidTime () {
        this.slotTime *= 8 / 7
        super.advanceFluidTime()
      }
    }
    assert.ok(await longestWait(new WholeFluidTime(), late) > 500, 'a minute, if the fluid time rises by all of it')
  })

  /**
   * Ten types that always wait, and one with long jobs, which came before them. When those have ended, a new type comes again and again.
   * @returns {Promise<number>} how long one waited that started so long after the batch
   */
  async function longestWait (scheduler, { longMs, longCount = 9, gapMs = 500, fromMs = 0 }) {
    const sim = simulation({ scheduler })
    let count = 0
    sim.push('long', longMs, longCount)
    sim.at(100, () => { for (let i = 0; i < 10; i++) sim.push(`busy ${i}`, 10, 20) })
    sim.onEnd = type => { if (type.startsWith('busy')) sim.push(type, 10) }
    sim.at(longMs + 100, () => sim.every(gapMs, () => sim.push(`quiet ${count++}`, 10)))
    await sim.runUntil(longMs + fromMs + 20000)
    const quiet = waits(sim.log.filter(({ at }) => at > longMs + fromMs), type => type.startsWith('quiet'))
    assert.ok(quiet.length >= 10)
    return quiet.at(-1)
  }
})

describe('a newcomer with slow jobs', function () {
  it('gets no more than its half after the first second, and leaves some of that, too', async function () {
    const [first, later] = await busyShares(new Equal())
    assert.ok(first > 0.25, `first second: ${first}`)
    assert.ok(later > 0.5 && later < 0.6, `first two seconds: ${later}`)
  })

  it('... but takes all slots for a second when jobs are charged at their end', async function () {
    const [first] = await busyShares(new LateCharge())
    assert.ok(first < 0.01, `first second: ${first}`)
  })

  async function busyShares (scheduler) {
    const sim = simulation({ scheduler })
    sim.push('busy', 10, 20000)
    sim.at(1000, () => sim.push('slow', 1000, 100))
    await sim.runUntil(3000)
    return [share(sim.log, 1000, 2000, isBusy), share(sim.log, 1000, 3000, isBusy)]
  }
})

describe('quiet tenants among hogs', function () {
  it('wait for the next free slot', async function () {
    const wait = await medianWait(new Equal())
    assert.ok(wait < 50, `${wait} ms`)
  })

  it("... but for the hogs' jobs when newcomers pay for a mean job", async function () {
    const wait = await medianWait(new MeanDebit())
    assert.ok(wait > 300, `${wait} ms`)
  })

  async function medianWait (scheduler) {
    const sim = simulation({ scheduler })
    for (let i = 0; i < 20; i++) sim.push(`hog ${i}`, 250 + 7 * i, 1000)
    for (let i = 0; i < 20; i++) sim.at(47 * i, () => sim.every(1000, () => sim.push(`quiet ${i}`, 10)))
    await sim.runUntil(20000)
    return percentile(waits(sim.log.filter(({ at }) => at > 5000), type => type.startsWith('quiet')), 50)
  }
})

describe('a tenant that saved up for 100 s and then floods', function () {
  const histories = {
    'by keeping one job running, its queue 0, 1, 0 …' (sim) {
      sim.every(10, () => { if (sim.clock.now() < 100000) sim.push('saver', 10) })
      sim.at(100000, () => sim.push('saver', 10, 5000))
    },
    'by pushing the next job when one ends' (sim) {
      sim.onEnd = type => { if (type === 'saver' && sim.clock.now() < 100000) sim.push('saver', 10) }
      sim.push('saver', 10)
      sim.at(100000, () => sim.push('saver', 10, 5000))
    },
    'by long jobs that overlap' (sim) {
      for (let i = 0; i <= 100; i++) sim.at(1000 * i, () => sim.push('saver', 1010))
      sim.at(100000, () => sim.push('saver', 10, 5000))
    },
    'under a cap of 1, which is then lifted' (sim) {
      sim.queue.scheduler.configure({ typeCaps: { saver: 1 } })
      sim.push('saver', 10, 15000)
      sim.at(100000, () => sim.queue.scheduler.configure({ typeCaps: null }))
    },
    'while it was paused' (sim) {
      sim.push('saver', 10, 5000)
      sim.queue.pauseType('saver')
      sim.at(100000, () => sim.queue.resumeType('saver'))
    }
  }
  for (const [how, begin] of Object.entries(histories)) {
    it(`${how}: leaves the others their part of the next seconds`, async function () {
      const sim = await history(new Equal(), begin)
      for (const [from, to] of [[100000, 101000], [101000, 103000]]) {
        const part = share(sim.log, from, to, type => type === 'saver')
        assert.ok(part < 0.53, `${part} from ${from} to ${to}`)
      }
    })
  }

  for (const how of Object.keys(histories).filter(how => !how.startsWith('by pushing'))) {
    it(`${how}: ... which it does not if only those that run nothing lose their savings`, async function () {
      const isResume = how === 'while it was paused'
      class NoDebitAtResume extends Equal {
        resumed (lane) { this.place(lane.state, false) }
      }
      const sim = await history(isResume ? new NoDebitAtResume() : new IdleDebit(), histories[how])
      const part = share(sim.log, 100000, 101000, type => type === 'saver')
      assert.ok(part > 0.9, `${part}`)
    })
  }

  it('at its cap all the time: has no more than its part when many others come', async function () {
    assert.ok(await cappedShare(new Equal()) < 0.03)
    class Saving extends Equal {
      forfeitCapped () {}
    }
    assert.ok(await cappedShare(new Saving()) > 0.3, 'with savings, its cap')
  })

  async function cappedShare (scheduler) {
    scheduler.configure({ typeCaps: { saver: 4 } })
    const sim = simulation({ scheduler })
    for (const type of ['saver', 'busy']) sim.push(type, 10, 15000)
    sim.at(20000, () => { for (let i = 0; i < 98; i++) sim.push(`late ${i}`, 10, 300) })
    await sim.runUntil(22000)
    assert.ok(Math.abs(share(sim.log, 10000, 20000, type => type === 'saver') - 0.4) < 0.01, 'it has its cap as long as that is its part')
    return share(sim.log, 20500, 22000, type => type === 'saver')
  }

  it('under a share that binds until the concurrency rises: gets what its weight is worth then, no more', async function () {
    assert.ok(Math.abs(await shareAfterRise(new Equal()) - 0.6) < 0.01)
    assert.ok(Math.abs(await shareAfterRise(new IdleDebit()) - 2 / 3) < 0.01, 'with savings, all that it can run')
  })

  /** Half of 2 slots is 1, half of 3 slots is 2. */
  async function shareAfterRise (scheduler) {
    scheduler.configure({ maxTypeShare: 0.5, weights: { saver: 1.5 } })
    const sim = simulation({ scheduler, concurrency: 2 })
    sim.push('busy', 10, 15000)
    sim.push('saver', 10, 15000)
    sim.at(100000, () => { sim.queue.concurrency = 3 })
    await sim.runUntil(110000)
    return share(sim.log, 100000, 110000, type => type === 'saver')
  }

  async function history (scheduler, begin) {
    const sim = simulation({ scheduler })
    sim.push('busy', 10, 110000)
    begin(sim)
    await sim.runUntil(103000)
    return sim
  }
})

describe('a fair scheduler that starves', function () {
  it('is seen by the same measures: shares by backlog give nine slots in ten to the larger', async function () {
    const sim = simulation({ scheduler: new Fair({ maxTypeShare: 1 }) })
    sim.push('many', 10, 20000)
    sim.push('busy', 10, 2000)
    await sim.runUntil(1500)
    assert.ok(share(sim.log, 0, 1500, isBusy) < 0.15)
  })
})
