'use strict'

// How many jobs of one type may run at once: a share of all slots, a number, a number per type; the lowest applies.
// And the reading of scheduler options, which has the same manners everywhere: unknown names and wrong values throw,
// undefined is as if absent, nothing is changed before all values have been found good, nothing is kept by reference.

const { typeError, rangeError, describe } = require('../lib/arguments/errors')
const { readByType, readOwn } = require('../lib/arguments/fields')

/** The caps of the types. Readers of its options are in `capReaders`. */
class Caps {
  /** @param {number} maxTypeShare */
  constructor (maxTypeShare) {
    this.concurrency = 10
    this.maxTypeShare = maxTypeShare
    this.maxTypeCap = Infinity
    this.typeCaps = new Map()
  }

  /**
   * @param {{ type: string, isShared: boolean }} lane
   * @returns {number} how many running jobs are too many for another: the first count that reaches a cap
   */
  limitOf (lane) {
    return Math.min(this.shareLimit(), this.numberOf(lane))
  }

  /** The same as far as numbers say, not shares. */
  numberOf ({ type, isShared }) {
    if (isShared) return Math.ceil(this.maxTypeCap)
    return Math.min(Math.ceil(this.maxTypeCap), Math.ceil(this.typeCaps.get(type) ?? Infinity))
  }

  /**
   * The least count for which count / concurrency >= maxTypeShare. That quotient is quickq's; the product of share and
   * concurrency rounds differently (0.07 * 100 > 7), so it is only where the search begins.
   */
  shareLimit () {
    const { concurrency, maxTypeShare } = this
    if (concurrency === Infinity) return maxTypeShare === 0 ? 0 : Infinity
    let count = Math.ceil(maxTypeShare * concurrency)
    if ((count - 1) / concurrency >= maxTypeShare) count--
    return count
  }
}

// name → how its value is read; `known` is what the scheduler has for that name
const capReaders = {
  concurrency: readPositive,
  maxTypeShare: readLimit,
  maxTypeCap: readLimit,
  typeCaps: (value, name, known) => readNumbers(value, name, known, readLimit)
}

module.exports = { Caps, capReaders, readOptions, readLimit, readPositive, readNumbers }

/**
 * Reads scheduler options into the fields of the same names of a target.
 * @param {object | undefined} options
 * @param {object} readers by name
 * @param {(name: string) => object} targetOf what has the field of that name
 * @returns {boolean} whether it changed anything; a Map or function that is given always counts as a change
 * @throws FAIRLANE_ERR_OPTION; then nothing has changed
 */
function readOptions (options = {}, readers, targetOf) {
  const names = Object.keys(readers)
  const fields = readOwn(options, 'the options of a scheduler', names, 'FAIRLANE_ERR_OPTION')
  const given = names.filter(name => fields[name] !== undefined)
  const values = given.map(name => readers[name](fields[name], name, targetOf(name)[name]))
  const isChange = given.some((name, i) => targetOf(name)[name] !== values[i])
  given.forEach((name, i) => { targetOf(name)[name] = values[i] })
  return isChange
}

/** A number from 0 to Infinity. */
function readLimit (value, name) {
  if (typeof value !== 'number') throw typeError('FAIRLANE_ERR_OPTION', `${name} must be a number, not ${describe(value)}`)
  if (!(value >= 0)) throw rangeError('FAIRLANE_ERR_OPTION', `${name} must be 0 or more, not ${value}`)
  return value
}

/** A number above 0; Infinity is one. */
function readPositive (value, name) {
  if (typeof value === 'number' && !(value > 0)) throw rangeError('FAIRLANE_ERR_OPTION', `${name} must be above 0, not ${value}`)
  return readLimit(value, name)
}

/**
 * Numbers by type, as an object or a Map. They are added to those known, as in quickq; null removes them all.
 * @returns {Map<string, number>} a new one
 */
function readNumbers (value, name, known, readNumber) {
  if (value === null) return new Map()
  return new Map([...known instanceof Map ? known : [], ...readByType(value, name, 'FAIRLANE_ERR_OPTION', readNumber)])
}
