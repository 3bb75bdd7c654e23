'use strict'

// The list of an observed queue with a window scheduler.

const { lists } = require('../core/internals')
const { observed } = require('./observed')

class ObservedWindow extends observed(lists.Window) {
  // private from here on

  accept (record, whenSettled, number) {
    this.ledger.accepted(this.ids.take(number), record.type)
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
