'use strict'

// What may be the key of a job, the same in memory, on disk and at a broker.

const { revoked } = require('../support/proxies')

/** Keys as they are given, and the text that each is made into. */
const KEYS = [['k', 'k'], ['', ''], ['NaN', 'NaN'], ['__proto__', '__proto__'], [7, '7'], [-0.5, '-0.5'], [0, '0'], [-0, '0'], [1e21, '1e+21']]

/** Most of them have a text, which would be that of other jobs too. */
const NO_KEYS = [
  null, NaN, Infinity, -Infinity, true, false, 1n, Symbol('k'), {}, [], ['a'], new Date(0), () => 'k', new String('k'), new Number(1), // eslint-disable-line no-new-wrappers
  Object.create(null), { toString: () => 'k' }, { toString () { throw new Error('expected') } }, revoked()
]

module.exports = { KEYS, NO_KEYS }
