'use strict'

// How far jobs are, as their runners say: listeners are told each time. The broker is told the last one: what a job says while a call of
// it is on its way goes with the next call.

class Progress {
  /** @param {{ broker: object, outcomes: object }} parts */
  constructor ({ broker, outcomes }) {
    this.broker = broker
    this.outcomes = outcomes
    this.texts = new Map() // job → what it said last and no call has taken yet; of jobs whose call is on its way
  }

  said (job, value) {
    this.outcomes.progressed(job, value)
    const text = textOf(value)
    if (text === undefined) return
    const isCalling = this.texts.has(job)
    this.texts.set(job, text)
    if (!isCalling) this.tell(job)
  }

  // private from here on

  async tell (job) {
    const { place, name } = job
    for (let text; (text = this.texts.get(job)) !== undefined;) {
      this.texts.set(job, undefined)
      // what is lost is said by the next one
      await this.broker.client.fairlaneProgress(place.key(name), place.key('events'), name, text).catch(ignore)
    }
    this.texts.delete(job)
  }
}

/** @returns {string | undefined} undefined for what is no JSON: that is for listeners only */
function textOf (value) {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function ignore () {}

module.exports = { Progress }
