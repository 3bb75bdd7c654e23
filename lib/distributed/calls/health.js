'use strict'

// How this process gets on with the broker: each partition is asked when its keeper last walked, so that what is told is of now.

const ANSWER_MS = 2000 // a partition that takes longer for an answer is not connected

class Health {
  /** @param {{ broker: object }} parts */
  constructor ({ broker }) {
    this.broker = broker
  }

  /** @returns {Promise<object>} as of DistributedQueue.health() */
  async look () {
    const { broker } = this
    const partitions = await Promise.all(broker.partitions.map(partition => this.lookAt(partition)))
    const walks = partitions.map(({ lastKeeperWalkAt }) => lastKeeperWalkAt)
    return {
      connected: partitions.every(({ connected }) => connected),
      lastAnswerAt: broker.lastAnswerAt,
      lastKeeperWalkAt: walks.includes(undefined) ? undefined : Math.min(...walks),
      lastError: broker.latestError,
      lastErrorAt: broker.latestErrorAt,
      partitions
    }
  }

  // private from here on

  async lookAt ({ prefix, walked }) {
    const { broker } = this
    const state = { prefix, connected: false, lastKeeperWalkAt: undefined }
    if (!broker.isReady) return state
    let timer
    const late = new Promise(resolve => { timer = setTimeout(resolve, ANSWER_MS) })
    try {
      const answer = await Promise.race([broker.client.get(walked), late])
      if (answer === undefined) return state
      broker.lastAnswerAt = Date.now()
      return { ...state, connected: true, lastKeeperWalkAt: answer === null ? undefined : Number(answer) }
    } catch (err) {
      broker.failed(err)
      return state
    } finally {
      clearTimeout(timer)
    }
  }
}

module.exports = { Health }
