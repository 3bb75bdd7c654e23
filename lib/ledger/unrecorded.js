'use strict'

/** In the place of a ledger where nobody wants records: it keeps nothing of what it is told. */
class Unrecorded {
  accepted () {}
  started () {}
  ended () {}
  charged () {}
  cancelled () {}
  cancelledAll () {}
  failed () {}
  refused () {}
  recovered () {}
  undecided () {}
  again () {}
  postponed () {}
  delayed () {}
  due () {}
  dead () {}
  revived () {}
  buried () {}
  uncounted () {}
  unaccepted () {}
  outlived () {}
  outlivedEnds () {}
}

Unrecorded.prototype.records = undefined

module.exports = { Unrecorded }
