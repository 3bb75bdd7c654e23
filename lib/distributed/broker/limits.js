'use strict'

// What limits the types of all processes, as the options of this one say: written when it opens the queue, and again when the broker has
// come back empty, which its generation tells (docs/decisions/0119-our-own-take-and-end.md).

const { randomBytes } = require('node:crypto')
const { nameOf, partitionOf } = require('../names')

class Limits {
  /**
   * @param {{ broker: object }} parts
   * @param {{ globalTypeCap: number, globalTypeCaps: Map<string, number>, ratePerType: { all: object[] | undefined, byType: Map<string,
   *   object[]> }, priorityMs: number | undefined }} options
   */
  constructor ({ broker }, { globalTypeCap, globalTypeCaps, ratePerType, priorityMs }) {
    this.broker = broker
    this.common = []
    if (globalTypeCap !== Infinity) this.common.push('cap', globalTypeCap)
    if (ratePerType.all !== undefined) this.common.push('rates', JSON.stringify(ratePerType.all))
    if (priorityMs !== undefined) this.common.push('priorityMs', priorityMs)
    this.caps = globalTypeCaps
    this.rates = ratePerType.byType
    this.writing = new Map() // partition → Promise
    this.changed = ignore // called with a partition when its limits may be others than before
  }

  /** @returns {Promise<any>} resolves when they are at the broker */
  open () {
    return Promise.all(this.broker.partitions.map(partition => this.write(partition)))
  }

  /**
   * An answer of the broker has another generation than this process knew.
   * @returns {Promise<void>} resolves when jobs may be asked for again
   */
  async noticed (partition, generation) {
    if (generation === '') {
      if (!this.writing.has(partition)) {
        this.writing.set(partition, this.write(partition).finally(() => this.writing.delete(partition)))
      }
      await this.writing.get(partition)
    } else if (generation !== partition.generation) {
      partition.generation = generation
      this.changed(partition)
    }
  }

  // private from here on

  async write (partition) {
    const { client, partitions } = this.broker
    const fields = [...this.common]
    const add = (what, type, value) => {
      const name = nameOf(type)
      if (partitions[partitionOf(name, partitions.length)] === partition) fields.push(`${what}:${name}`, value)
    }
    for (const [type, cap] of this.caps) add('cap', type, cap === Infinity ? '' : cap)
    for (const [type, rates] of this.rates) add('rates', type, JSON.stringify(rates))
    const own = randomBytes(6).toString('base64url')
    partition.generation = await this.broker.soon(() => client.fairlaneLimits(partition.limits, own, ...fields))
    this.changed(partition)
  }
}

function ignore () {}

module.exports = { Limits }
