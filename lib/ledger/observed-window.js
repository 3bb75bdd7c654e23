'use strict'

// The list of an observed queue with a window scheduler.

const { lists } = require('../core/internals')
const { observed } = require('./observed')

/** A running job: what the list below knows of it, and its id. */
class ObservedOrigin {
  constructor (record, id) {
    this.record = record
    this.id = id
  }
}

class ObservedWindow extends observed(lists.Window) {
  misused ({ record }) {
    super.misused(record)
  }

  overran ({ record }, change) {
    super.overran(record, change)
  }

  // private from here on

  withId (record, id) {
    return new ObservedOrigin(record, id)
  }

  withoutId ({ record }) {
    return record
  }

  accept (record, whenSettled, number) {
    this.recorded(number, record.type, undefined, whenSettled)
    super.accept(record, whenSettled, number)
  }

  choose () {
    const at = super.choose()
    if (at >= 0) this.chosen = this.numbers.peekAt(at)
    return at
  }

  takeOut (at) {
    this.leaves(this.numbers.peekAt(at))
    return super.takeOut(at)
  }
}

module.exports = { ObservedWindow }
