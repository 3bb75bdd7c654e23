'use strict'

// What rates of cost promise, told naively: all charges are kept, and each start looks at all of them.

/** What jobs were charged, each charge with its time. */
class CostModel {
  constructor () {
    this.charges = [] // { at, type, id, units, isStart }
    this.queueRates = undefined // { limit, intervalMs, of, from }[], and from which charge on they count
    this.typeRates = undefined // of each type
  }

  /** Rates of the whole queue, or of all types, from now on. Windows of the same interval that count the same go on. */
  setRates (isOfQueue, rates) {
    const before = (isOfQueue ? this.queueRates : this.typeRates) ?? []
    const known = rates?.map(rate => {
      const same = before.find(({ intervalMs, of }) => intervalMs === rate.intervalMs && of === rate.of)
      return { ...rate, from: same === undefined ? this.charges.length : same.from }
    })
    if (isOfQueue) this.queueRates = known
    else this.typeRates = known
  }

  /**
   * A job starts.
   * @param {number} [freshMs] it got its slot so long ago at most: what runners have said since then may be beyond the limit
   * @returns {string | undefined} what is wrong with that
   */
  start (id, type, units, now, freshMs = 0) {
    const wrong = this.lacking(type, units, now, 0, freshMs)
    this.charges.push({ at: now, type, id, units, isStart: true })
    return wrong
  }

  /** A job that runs is charged so many units in all. */
  correct (id, type, before, units, now) {
    if (units > before) this.charges.push({ at: now, type, id, units: units - before, isStart: false })
    let left = before - units
    for (const charge of this.charges.filter(charge => charge.id === id).reverse()) {
      if (left <= 0) break
      const given = Math.min(left, charge.units)
      charge.units -= given
      left -= given
    }
  }

  /**
   * @param {number} late by which part of an interval entries may be late
   * @param {number} [freshMs] what was said in so many ms does not count
   * @returns {string | undefined} which rate lets no job of that cost start now
   */
  lacking (type, units, now, late, freshMs = 0) {
    const ofQueue = (this.queueRates ?? []).map(rate => [rate, () => true])
    const ofType = (this.typeRates ?? []).map(rate => [rate, charge => charge.type === type])
    for (const [{ limit, intervalMs, of, from }, isOfIt] of [...ofQueue, ...ofType]) {
      const live = this.charges.slice(from).filter(charge => isOfIt(charge) && charge.at > now - intervalMs * (1 + late))
        .filter(({ at, isStart }) => isStart || at <= now - freshMs)
      const used = live.reduce((sum, charge) => sum + (of === 'cost' ? charge.units : Number(charge.isStart)), 0)
      const need = of === 'cost' ? Math.min(units, limit) : 1
      if (need > 0 && used + need > limit) return `${used} of ${limit} ${of ?? 'jobs'} in ${intervalMs} ms are used, and ${need} are needed`
    }
  }
}

module.exports = { CostModel }
