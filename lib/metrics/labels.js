'use strict'

// Which label types are counted under. A function of the caller's that says so may do anything, and a type is first met in the middle of a
// change: so it is called in a microtask, and counts of the type are kept until then.

const { describe, describeThrown, typeError, warn } = require('../arguments/errors')
const { fit, MOST_CHARACTERS } = require('./places')

/** A type whose label has not been asked for, and what has been counted of it. */
class Unlabelled {
  constructor (type, number) {
    this.type = type
    this.number = number // in the ledger, or that of another type by now
    this.counts = new Map() // by cell of a place
  }

  count (cell) {
    this.counts.set(cell, (this.counts.get(cell) ?? 0) + 1)
  }
}

class Labels {
  /**
   * @param {((type: string) => string) | 'group' | undefined} labelOf the caller's
   * @param {string} otherLabel
   */
  constructor (labelOf, otherLabel) {
    this.labelOf = labelOf
    this.otherLabel = otherLabel
    this.hasWarned = false
    this.byNumber = new Map() // of the types that have no label as yet
    this.all = [] // the same, and those whose number has gone to another type
  }

  /** Has types have the labels of their groups, if that is what `labelOf` says. @throws FAIRLANE_ERR_OPTION if there are no groups */
  askFor (scheduler) {
    if (this.labelOf !== 'group') return
    if (typeof scheduler?.groupOf !== 'function') {
      throw typeError('FAIRLANE_ERR_OPTION', "labelOf: 'group' needs a queue with groups: see groupOf, in schedulerOptions of 'equal'")
    }
    this.labelOf = type => scheduler.groupOf(type) ?? this.otherLabel
  }

  /** The label of a type, if nobody has to be asked for it. @returns {string | undefined} */
  known (type) {
    if (type === undefined) return ''
    return this.labelOf === undefined ? fit(type) : undefined
  }

  /**
   * Whether a label is the text of one type, and of no other: a text that was cut, or in which something was replaced, may be that of
   * several.
   */
  isType (label) {
    const isWhole = label !== '' && label.length < MOST_CHARACTERS && !label.includes('\uFFFD')
    return isWhole && this.labelOf === undefined && label !== this.otherLabel
  }

  /** Keeps a type until it gets its label. @returns {boolean} whether it is the first one that is kept */
  put (type, number) {
    const one = new Unlabelled(type, number)
    this.byNumber.set(number, one)
    return this.all.push(one) === 1
  }

  /** @returns {[Unlabelled, string][]} those that were kept, each with its label */
  ask () {
    const asked = []
    for (const one of this.all.splice(0)) {
      const label = this.labelFor(one.type)
      const isCurrent = this.byNumber.get(one.number) === one
      if (isCurrent) this.byNumber.delete(one.number)
      asked.push([one, label, isCurrent])
    }
    return asked
  }

  // private from here on

  labelFor (type) {
    let label
    try {
      label = this.labelOf(type)
      if (typeof label === 'string') return fit(label)
    } catch (err) {
      this.blame(`threw ${describeThrown(err)}`)
      return this.otherLabel
    }
    this.blame(`returned ${describe(label)}`)
    return this.otherLabel
  }

  blame (what) {
    if (this.hasWarned) return
    this.hasWarned = true
    warn('FAIRLANE_ERR_OPTION', `labelOf must return a string, but it ${what}. Such types are counted under '${this.otherLabel}'.`)
  }
}

module.exports = { Labels }
