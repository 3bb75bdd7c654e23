'use strict'

// Schedules, if there are any: what they need is loaded then.

class Scheduling {
  /**
   * @param {{ broker: object, intake: object, records: object }} parts
   * @param {{ schedules: object[] | undefined, token: string, serialize: object }} options schedules: read
   */
  constructor (parts, options) {
    this.broker = parts.broker
    this.parts = parts
    this.options = options
    this.key = `{fairlane:${this.broker.name}}:.schedules`
    this.made = undefined
  }

  get schedules () {
    if (this.made === undefined) {
      const { Schedules } = require('./schedules')
      this.made = new Schedules(this.parts, this.options)
    }
    return this.made
  }

  /** @returns {Promise<void>} resolves when the option's are at the broker */
  async open () {
    const { schedules } = this.options
    if (schedules !== undefined) await this.schedules.open(schedules)
    else await this.look()
  }

  /** This process has its turn with those that others have given. */
  async look () {
    if (this.made !== undefined || !this.broker.isReady) return
    if (await this.broker.client.exists(this.key) === 1) await this.schedules.open([])
  }

  /** @returns {Promise<void> | undefined} */
  stop () {
    return this.made?.stop()
  }
}

module.exports = { Scheduling }
