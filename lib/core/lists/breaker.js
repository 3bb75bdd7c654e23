'use strict'

// A circuit breaker for lane schedulers. Where one fails to pick a job (it throws, or gives what is no lane with a waiting job), the oldest
// job starts instead, for which each lane is looked at. So that this does not go on for ever, a scheduler that goes on failing is not asked
// any more: ArrivalOrder picks in its place until reset().

const { ArrivalOrder } = require('./arrival-order')

// A scheduler that fails so many times in a row is not asked any more.
const MOST_FAILURES = 10
// Nor is one whose failures have made the list look at more lanes than so many for each job that was ever pushed.
const MOST_LOOKS = 16

class Breaker {
  /** @param {object} list the Lanes whose scheduler this is about */
  constructor (list) {
    this.list = list
    this.failureCount = 0 // picks in a row in which the scheduler failed
    this.lastFailureAt = 0 // jobs that had left the list at the last failure
    this.lookCount = 0 // lanes that were looked at for the oldest job
  }

  /** The scheduler has failed to pick. O(lanes). @returns {object | undefined} the lane of the oldest job that is not paused */
  pickInstead () {
    const { list } = this
    const { pushedCount } = list
    const leftCount = pushedCount - list.size
    this.failureCount = leftCount - this.lastFailureAt <= 1 ? this.failureCount + 1 : 1
    this.lastFailureAt = leftCount
    this.lookCount += list.lanes.size
    if (this.failureCount >= MOST_FAILURES || this.lookCount > MOST_LOOKS * pushedCount) {
      list.scheduler = new ArrivalOrder(list.scheduler, list.all())
    }
    return this.oldest()
  }

  /** Has the scheduler be asked again, and forgets its failures. */
  reset () {
    const { list } = this
    if (list.scheduler instanceof ArrivalOrder) list.scheduler = list.scheduler.scheduler
    this.failureCount = this.lookCount = 0
  }

  // private from here on

  oldest () {
    let oldest
    for (const lane of this.list.all()) {
      if (lane.size > 0 && !lane.isPaused && !(lane.headSeq > oldest?.headSeq)) oldest = lane
    }
    return oldest
  }
}

module.exports = { Breaker }
