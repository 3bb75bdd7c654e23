'use strict'

// What queues of one kind do not have and others have: it is refused with a code and a word of what to use here, and is not undefined.

const { typeError } = require('./errors')
const { hasMethods } = require('./fields')

const refusing = new WeakSet() // the methods that throw

module.exports = { refuseMembers, supports, unsupported }

/** Whether a queue has methods that do something. @param {string[]} names */
function supports (queue, names) {
  return hasMethods(queue, names) && !names.some(name => refusing.has(queue[name]))
}

/**
 * Gives a class members that throw. They are not seen where its objects are listed, spread or printed.
 * @param {object} prototype
 * @param {string} where these queues are, as 'at a broker'
 * @param {Record<string, [string, string]>} methods by name: which queues have it, and what to use here
 * @param {Record<string, [string, string]>} [values] the same of members that are no methods
 */
function refuseMembers (prototype, where, methods, values = {}) {
  for (const [name, [whose, hint]] of Object.entries(values)) {
    const refuse = () => { throw unsupported(where, name, whose, hint) }
    Object.defineProperty(prototype, name, { get: refuse, set: refuse, enumerable: false, configurable: true })
  }
  for (const [name, [whose, hint]] of Object.entries(methods)) {
    const refuse = { [name] () { throw unsupported(where, `${name}()`, whose, hint) } }[name]
    refusing.add(refuse)
    Object.defineProperty(prototype, name, { value: refuse, enumerable: false, configurable: true, writable: true })
  }
}

/**
 * @param {string} where as above
 * @param {string} member or a call of one
 * @param {string} whose which queues have it
 * @param {string} hint what to use here
 */
function unsupported (where, member, whose, hint) {
  return typeError('FAIRLANE_ERR_UNSUPPORTED', `queue.${member} is not available ${where}. ${whose} have it. ${hint}`)
}
