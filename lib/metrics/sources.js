'use strict'

// The queues whose metrics a registry, or a meter, shows.

const { typeError, describe } = require('../arguments/errors')

class Sources {
  constructor () {
    this.byName = new Map()
  }

  /**
   * Adds a queue; for the second time it does nothing.
   * @param {string} name of the queue
   * @param {object} owner who shows them
   * @param {() => object} read gives what is shown
   * @returns {() => void} does it, once nothing else can fail
   * @throws FAIRLANE_ERR_ARGUMENT if another queue has the name
   */
  adding (name, owner, read) {
    if ((this.byName.get(name)?.owner ?? owner) !== owner) {
      const message = `another queue is already registered there as ${describe(name)}; give each its own, in the option name`
      throw typeError('FAIRLANE_ERR_ARGUMENT', message)
    }
    return () => { this.byName.set(name, { owner, read }) }
  }

  /** What all of them show. @returns {object[]} */
  views () {
    return [...this.byName.values()].map(({ read }) => read())
  }
}

module.exports = { Sources }
