'use strict'

// What is asked of the broker in a turn goes to it together: for fifty types that a page asks about that is one write, not hundreds.

const { inGroups } = require('./groups')

const MOST_AT_ONCE = 1000 // calls that go together, where nobody has more

class Questions {
  /** @param {{ client: object }} broker */
  constructor (broker) {
    this.broker = broker
    this.asked = [] // { calls, resolve, reject }, of this turn
  }

  /** @param {[string, ...any[]][]} calls names of methods, and arguments @returns {Promise<any[]>} rejects with the first error */
  ask (calls) {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) setImmediate(() => this.sendAll())
      this.asked.push({ calls, resolve, reject })
    })
  }

  // private from here on

  sendAll () {
    for (const questions of inGroups(this.asked.splice(0), MOST_AT_ONCE, ({ calls }) => calls.length)) this.send(questions)
  }

  async send (questions) {
    try {
      const answers = await this.broker.client.pipeline(questions.flatMap(({ calls }) => calls)).exec()
      let at = 0
      for (const { calls, resolve, reject } of questions) {
        const own = answers.slice(at, at += calls.length)
        const failed = own.find(([err]) => err)
        if (failed === undefined) resolve(own.map(([, answer]) => answer))
        else reject(failed[0])
      }
    } catch (err) {
      for (const { reject } of questions) reject(err)
    }
  }
}

module.exports = { Questions }
