'use strict'

// HOT (bench: distributed). What the broker is to be told and asked in a turn, put together into as few calls as can be: the end of a job
// takes the next one of its type with it, if a slot waits for that, or one ahead of a slot, or one of another type in the same partition
// (docs/decisions/0212-one-call-for-each-job.md).

class Matching {
  constructor () {
    this.supplies = [] // with something to tell or to ask
  }

  /** It is decided in a microtask, after the queue in memory has filled its slots. @param {object} supply is added once a turn */
  add (supply) {
    if (this.supplies.length === 0) queueMicrotask(() => this.decide())
    this.supplies.push(supply)
  }

  // private from here on

  decide () {
    const supplies = this.supplies
    this.supplies = []
    const ends = [] // supplies, and ends of jobs with which nothing of their own type is taken
    const asks = new Map() // partition → supplies, and slots that wait for a job
    for (const supply of supplies) this.decideOf(supply, ends, asks)
    for (const { supply, ending } of ends) {
      const { supply: taker, asker } = asks.get(supply.place.partition)?.shift() ?? {}
      supply.tell(ending, taker, asker)
    }
    for (const left of asks.values()) {
      for (const { supply, asker } of left) supply.ask(asker)
    }
  }

  decideOf (supply, ends, asks) {
    const { endings, askers } = supply.toDecide()
    for (const ending of endings) {
      const asker = ending.mayFetch ? askers.shift() : undefined
      const fetches = asker !== undefined || (ending.mayFetch && supply.mayTakeAhead())
      // what is told later, since its runner goes on, keeps no slot of another type waiting
      if (!fetches && ending.mayFetch && ending.delivery === undefined) ends.push({ supply, ending })
      else supply.tell(ending, fetches ? supply : undefined, asker)
    }
    if (askers.length === 0) return
    const { partition } = supply.place
    if (!asks.has(partition)) asks.set(partition, [])
    for (const asker of askers) asks.get(partition).push({ supply, asker })
  }
}

module.exports = { Matching }
