'use strict'

// Why a push is refused: the queue has closed or its log has failed, it is full, or a record cannot be written.

class Refusals {
  /**
   * @param {{ [name: string]: object }} parts of the queue
   * @param {{ hasTypes: boolean }} options hasTypes: it has a scheduler
   */
  constructor ({ admission, report: { counts, ledger }, stage, status, store }, { hasTypes }) {
    this.admission = admission
    this.counts = counts
    this.ledger = ledger
    this.stage = stage
    this.status = status
    this.store = store
    this.hasTypes = hasTypes
  }

  /** @returns {Error | undefined} of the last of some jobs, which have so many bytes together; counted */
  of (type, bytes, count = 1) {
    const { error, isClosed } = this.status
    if (error !== undefined) return this.count(error)
    const name = this.hasTypes ? type : undefined
    const lack = isClosed ? undefined : this.admission.lack(count, bytes)
    if (lack !== undefined) return this.count(this.stage.fullElsewhere(name, lack.waiting, lack.limit))
    return this.stage.refuse(name)
  }

  /** @returns {Error | undefined} of records that cannot be written; counted */
  ofRecords (count, bytes, type) {
    return this.count(this.store.refusal(count, bytes, type))
  }

  /**
   * Why a record cannot be written again that has so many bytes then, after which, and others, there are so many bytes more on disk.
   * @returns {Error | undefined}
   */
  ofChange (type, growth, bytes) {
    const lack = this.admission.lack(0, growth)
    if (lack !== undefined) return this.stage.fullElsewhere(type, lack.waiting, lack.limit)
    return this.store.refusal(1, bytes, type)
  }

  /** @param {Error | undefined} refusal @returns {Error | undefined} the same */
  count (refusal) {
    if (refusal !== undefined) this.counts.rejected++
    return refusal
  }

  /** A push is refused. @returns {{ job: undefined, promise: Promise<number>, entry: undefined }} as Intake.accept() */
  tell (type, error) {
    this.counts.types.count(type, 'rejected', 1, 0)
    this.ledger?.refused(type, error)
    return { job: undefined, promise: Promise.reject(error), entry: undefined }
  }

  /**
   * Several pushes are refused together, one of which is counted.
   * @param {{ type: string | undefined }[]} pushes
   * @returns {Promise<never>}
   */
  tellAll (pushes, error) {
    this.counts.rejected += pushes.length - 1
    for (const { type } of pushes) {
      this.counts.types.count(type, 'rejected', 1, 0)
      this.ledger?.refused(type, error)
    }
    return Promise.reject(error)
  }
}

module.exports = { Refusals }
