'use strict'

// What limits all processes, as fields of hashes at the broker. Knows nothing of the broker: it says which fields an opening, or a call,
// writes, and what fields mean.
//
//   rate, concurrency                 of the queue: JSON of windows, a number
//   cap, cap:<name>; rates, rates:<name>    of types: a number, '' for none; JSON of windows, '[]' for none
//   paused                            '1': nothing starts
//   priorityMs                        of queues whose jobs have priorities
//   given:<field>                     beside a field that a call has set: what the last opening gave for it

const { nameOf, typeOf } = require('../names')

const NOT_GIVEN = '-'
const GIVEN = 'given:'
const NONE = { cap: '', rates: '[]' } // of a type, whatever all types have
const KINDS = {
  rate: field => field === 'rate',
  rates: field => field === 'rates' || field.startsWith('rates:'),
  concurrency: field => field === 'concurrency',
  cap: field => field === 'cap',
  'cap:': field => field.startsWith('cap:'),
  priorityMs: field => field === 'priorityMs'
}
const OF_COPIES = /^(cap|rates)(:|$)|^(paused|priorityMs)$/ // fields that each partition has a copy of

/** The fields at one time. */
class Terms {
  /** @param {string} generation '' if the broker has none @param {string} born the generation in which it got its first ones */
  constructor (generation = '', born = '', values = new Map(), given = new Map()) {
    this.generation = generation
    this.born = born
    this.values = values
    this.given = given
  }

  /** @param {string[]} flat fields and values of the hash at the broker, one after the other */
  static read (flat) {
    const terms = new Terms()
    for (let at = 0; at < flat.length; at += 2) {
      const [field, value] = [flat[at], flat[at + 1]]
      if (field === 'generation' || field === 'born') terms[field] = value
      else if (field.startsWith(GIVEN)) terms.given.set(field.slice(GIVEN.length), value)
      else terms.values.set(field, value)
    }
    return terms
  }

  /** Fields and values as the hash has them, but for the generation. */
  get fields () {
    const fields = new Map(this.values)
    for (const [field, value] of this.given) fields.set(GIVEN + field, value)
    return fields
  }

  /** @returns {Terms} to be changed */
  copy () {
    return new Terms(this.generation, this.born, new Map(this.values), new Map(this.given))
  }

  /** A call sets a field; undefined: it is taken away. */
  set (field, value) {
    if (!this.given.has(field)) this.given.set(field, this.values.get(field) ?? NOT_GIVEN)
    this.put(field, value)
    const given = this.given.get(field)
    if (given === (value ?? NOT_GIVEN)) this.given.delete(field)
  }

  /** A call sets all fields of a kind. @param {Map<string, string>} fields */
  setAll (kind, fields) {
    for (const field of this.fieldsOf(kind)) if (!fields.has(field)) this.set(field, undefined)
    for (const [field, value] of fields) this.set(field, value)
  }

  /**
   * An opening gives the fields of a kind, those of types too. What the last one gave is left as it is: a call may have changed it.
   * @param {Map<string, string | undefined>} fields undefined: expressly none
   */
  give (kind, fields) {
    const before = this.fieldsOf(kind).filter(field => this.givenOf(field) !== undefined)
    const gone = before.filter(field => !fields.has(field))
    const changed = [...fields].filter(([field, value]) => this.givenOf(field) !== (value ?? ''))
    if (gone.length + changed.length === 0) return
    // one for all and some for types are two ways to say it: the new one takes the place of the other
    const replaced = fields.has(kind) === this.values.has(kind) ? gone : this.fieldsOf(kind).filter(field => !fields.has(field))
    for (const field of replaced) this.take(field, undefined)
    for (const [field, value] of changed) {
      this.take(field, value)
      if (value === undefined) this.given.set(field, '') // expressly none
    }
  }

  /** What is missing here of what was known before the broker lost it. */
  restore (known) {
    for (const [field, value] of known.values) {
      if (this.values.has(field) || this.given.has(field)) continue
      this.values.set(field, value)
      if (known.given.has(field)) this.given.set(field, known.given.get(field))
    }
  }

  // private from here on

  fieldsOf (kind) {
    const fields = new Set([...this.values.keys(), ...this.given.keys()])
    return [...fields].filter(KINDS[kind])
  }

  /** @returns {string | undefined} what the last opening gave; '' for expressly none, undefined if it said nothing */
  givenOf (field) {
    const given = this.given.get(field) ?? this.values.get(field)
    return given === NOT_GIVEN ? undefined : given
  }

  /** The value that an opening gives. */
  take (field, value) {
    this.put(field, value)
    this.given.delete(field)
  }

  put (field, value) {
    if (value === undefined) this.values.delete(field)
    else this.values.set(field, value)
  }
}

/**
 * @param {object} options read; what is undefined was not given
 * @returns {[string, Map<string, string | undefined>][]} kinds and their fields, of what was given
 */
function fieldsOfOptions ({ rate, ratePerType, globalConcurrency, globalTypeCap, globalTypeCaps, priorityMs }) {
  const kinds = []
  if (rate !== undefined) kinds.push(['rate', new Map([['rate', JSON.stringify(rate)]])])
  if (ratePerType !== undefined) kinds.push(['rates', fieldsOfRates(ratePerType)])
  if (globalConcurrency !== undefined) kinds.push(['concurrency', new Map([['concurrency', fieldOfConcurrency(globalConcurrency)]])])
  if (globalTypeCap !== undefined) kinds.push(['cap', new Map([['cap', finite(globalTypeCap)]])])
  if (priorityMs !== undefined) kinds.push(['priorityMs', new Map([['priorityMs', String(priorityMs)]])])
  if (globalTypeCaps !== undefined) {
    kinds.push(['cap:', new Map(Array.from(globalTypeCaps, ([type, cap]) => fieldOfCap(type, cap)))])
  }
  return kinds
}

/** @param {{ all?: object[], byType: Map<string, object[]> }} ratePerType @returns {Map<string, string>} */
function fieldsOfRates ({ all, byType }) {
  if (all !== undefined) return new Map([['rates', JSON.stringify(all)]])
  return new Map(Array.from(byType, ([type, rates]) => [`rates:${nameOf(type)}`, JSON.stringify(rates)]))
}

/** @returns {[string, string]} */
function fieldOfCap (type, cap) {
  return [`cap:${nameOf(type)}`, finite(cap) ?? NONE.cap]
}

/** @returns {string | undefined} undefined: none */
function fieldOfConcurrency (n) {
  return finite(n)
}

function finite (n) {
  return n === Infinity ? undefined : String(n)
}

/** @returns {string[]} fields that differ, of those that count */
function differences (before, after) {
  const fields = new Set([...before.keys(), ...after.keys()])
  return [...fields].filter(field => before.get(field) !== after.get(field))
}

/** @returns {string | undefined} the name of the type that a field is of */
function nameIn (field) {
  const at = field.indexOf(':')
  return at === -1 ? undefined : field.slice(at + 1)
}

/** As callers say it. */
function publicTerms ({ values }) {
  const caps = typesIn(values, 'cap:', text => text === NONE.cap ? Infinity : Number(text))
  const rates = typesIn(values, 'rates:', rateIn)
  return {
    rate: rateIn(values.get('rate')),
    ratePerType: rates.length > 0 ? new Map(rates) : rateIn(values.get('rates')),
    globalConcurrency: numberIn(values.get('concurrency')),
    globalTypeCap: numberIn(values.get('cap')),
    globalTypeCaps: Object.fromEntries(caps),
    paused: values.has('paused')
  }
}

function typesIn (values, prefix, read) {
  const found = [...values].filter(([field]) => field.startsWith(prefix))
  return found.map(([field, value]) => [typeOf(field.slice(prefix.length)), read(value)]).sort(byName)
}

function byName ([a], [b]) {
  return a < b ? -1 : 1
}

/** @returns {object | object[] | null} one window as it is, several in an array, null for none */
function rateIn (text) {
  const windows = text === undefined ? [] : JSON.parse(text)
  return windows.length > 1 ? windows : windows[0] ?? null
}

function numberIn (text) {
  return text === undefined ? Infinity : Number(text)
}

module.exports = { Terms, fieldsOfOptions, fieldsOfRates, fieldOfCap, fieldOfConcurrency, differences, publicTerms, nameIn, OF_COPIES }
