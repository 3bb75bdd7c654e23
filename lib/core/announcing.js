'use strict'

// Tells subscribers of the channel `fairlane:queue` of a queue that is being made, so that they may add observers.

const { typeError } = require('../arguments/errors')
const { hasMethods } = require('../arguments/fields')
const { OBSERVE } = require('./options')

/**
 * @param {object} channel
 * @param {{ queue: object, name: string | undefined }} about
 * @param {object[]} observers those of its options; others are added
 */
function announce (channel, about, observers) {
  let isMade = false
  const observe = observer => {
    if (isMade) throw typeError('FAIRLANE_ERR_OPTION', 'observe: the queue has been made; call observe() before the subscriber returns')
    if (!hasMethods(observer, [OBSERVE]) || observers.includes(observer)) {
      throw typeError('FAIRLANE_ERR_OPTION', 'observe: an observer comes from fairlane/history, metrics or adaptive, for one queue only')
    }
    observers.push(observer)
  }
  channel.publish({ ...about, observe })
  isMade = true
}

module.exports = { announce }
