'use strict'

// Says every third of a lease that this process is there, and that its jobs, and the places of its runners, still are its. Those of
// which the broker does not agree are lost.

const MOST_AT_ONCE = 1000
const LEASES_THERE = 3 // for so many a process counts as there since its last heartbeat

class Leases {
  /**
   * @param {{ broker: object, crew: object, starts: object }} parts
   * @param {{ leaseMs: number, token: string }} options
   */
  constructor ({ broker, crew, starts }, { leaseMs, token }) {
    this.broker = broker
    this.crew = crew
    this.starts = starts
    this.leaseMs = leaseMs
    this.token = token
    this.timer = undefined
    this.isOver = false
  }

  begin () {
    this.timer = setTimeout(() => {
      this.renew().finally(() => { if (!this.isOver) this.begin() })
    }, this.leaseMs / 3)
  }

  stop () {
    this.isOver = true
    clearTimeout(this.timer)
  }

  /** Says that this process is there. @returns {Promise<any>[]} to each partition */
  heartbeats () {
    const until = Date.now() + LEASES_THERE * this.leaseMs
    return this.broker.partitions.map(({ workers }) => this.broker.client.zadd(workers, until, this.token))
  }

  /** Says that this process is gone. */
  leave () {
    if (!this.broker.isReady) return Promise.resolve()
    return Promise.all(this.broker.partitions.map(({ workers }) => this.broker.client.zrem(workers, this.token)))
  }

  // private from here on

  /** A broker that does not answer is not waited for: what is to be renewed in the end is not lost by that. */
  async renew () {
    if (!this.broker.isReady) return
    const calls = [...this.heartbeats(), this.starts.renew()]
    for (const supply of this.crew.supplies.values()) {
      if (supply.jobs.size + supply.overdue.size > 0) calls.push(this.renewOf(supply))
    }
    let timer
    const late = new Promise(resolve => { timer = setTimeout(resolve, this.leaseMs / 3) })
    await Promise.race([Promise.allSettled(calls), late])
    clearTimeout(timer)
  }

  async renewOf (supply) {
    const jobs = [...[...supply.jobs.values()].filter(job => !job.isEnding), ...supply.overdue]
    for (let at = 0; at < jobs.length; at += MOST_AT_ONCE) {
      const some = jobs.slice(at, at + MOST_AT_ONCE)
      const now = performance.now()
      const tokens = some.map(() => this.token)
      const refused = new Set(await supply.place.backend.extendLocks(some.map(({ name }) => name), tokens, this.leaseMs))
      for (const job of some) {
        if (!refused.has(job.name)) job.renewedAt = now
        else if (supply.overdue.delete(job)) continue // a runner whose place was given away
        // one that has ended meanwhile has no lock
        else if (!job.isEnding && supply.jobs.get(job.name) === job) supply.lose(job)
      }
    }
  }
}

module.exports = { Leases }
