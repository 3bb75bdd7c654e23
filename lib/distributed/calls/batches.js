'use strict'

// Jobs that are pushed together: those of a partition with one call, which stores all of them or none.

const { brokerError } = require('../broker/failures')
const { entryOf } = require('../broker/pushes')
const { optsOf } = require('./intake')

class Batches {
  /** @param {{ announcer: object, broker: object, intake: object, outcomes: object, pushes: object }} parts */
  constructor ({ announcer, broker, intake, outcomes, pushes }) {
    this.announcer = announcer
    this.broker = broker
    this.intake = intake
    this.outcomes = outcomes
    this.pushes = pushes
    this.pending = new Set() // promises of what is on its way
  }

  /**
   * @param {{ place: object, job: object }[]} jobs as Intake.push() takes them
   * @returns {Promise<string[]>} their ids; rejects, if a partition fails, with an error that has the `ids` of what others have stored
   */
  async push (jobs) {
    const ids = new Array(jobs.length)
    const partitions = new Map() // partition → place → indices of jobs
    jobs.forEach(({ place }, at) => {
      const places = partitions.get(place.partition) ?? new Map()
      partitions.set(place.partition, places)
      places.set(place, [...places.get(place) ?? [], at])
    })
    const stored = Promise.allSettled([...partitions.values()].map(places => this.store(places, jobs, ids)))
    this.pending.add(stored)
    const failed = (await stored).find(({ status }) => status === 'rejected')
    this.pending.delete(stored)
    if (failed === undefined) return ids
    throw Object.assign(brokerError(failed.reason), { ids: ids.filter(id => id !== undefined) })
  }

  /** @returns {Promise<any>} resolves when all that was on its way is stored or was refused */
  flush () {
    return Promise.all(this.pending)
  }

  // private from here on

  async store (places, jobs, ids) {
    const groups = [...places].map(([place, indices]) => {
      return { place, indices, jobs: indices.map(at => entryOf({ ...jobs[at].job, opts: optsOf(jobs[at].job.limits) })) }
    })
    const settled = groups.map(({ place, indices }) => this.intake.expect(place, indices.length))
    const number = this.pushes.next()
    try {
      const { answers, waiting } = await this.broker.soon(() => this.storeAndAnnounce(groups, number))
      groups.forEach(({ place, indices }, group) => {
        indices.forEach((at, index) => {
          const [name, state] = answers[group][index]
          ids[at] = place.idOf(name)
          this.outcomes.count(place, state === 0 ? 'accepted' : 'joined')
        })
        this.intake.learn(place, waiting[group])
      })
    } catch (err) {
      for (const { place, indices } of groups) this.outcomes.count(place, 'rejected', indices.length)
      throw err
    } finally {
      for (const done of settled) done()
    }
  }

  async storeAndAnnounce (groups, number) {
    for (;;) {
      const { epoch } = this.broker
      const answers = await this.pushes.pushAll(groups, number)
      const waiting = await Promise.all(groups.map(({ place }) => this.announcer.announce(place)))
      // a broker that was away between the two may have come back without the jobs that it said to have
      if (epoch === this.broker.epoch) return { answers, waiting }
    }
  }
}

module.exports = { Batches }
