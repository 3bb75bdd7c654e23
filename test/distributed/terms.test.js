'use strict'

const assert = require('node:assert')
const { readers, readNewRates } = require('../../lib/distributed/limits/options')
const { Terms, differences, fieldOfCap, fieldOfConcurrency, fieldsOfOptions, fieldsOfRates, nameIn, publicTerms } =
  require('../../lib/distributed/limits/terms')

const SECOND = { limit: 5, intervalMs: 1000 }
const MINUTE = { limit: 100, intervalMs: 60000 }

function open (terms, options) {
  const read = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, readers[name](value)]))
  for (const [kind, fields] of fieldsOfOptions(read)) terms.give(kind, fields)
  return publicTerms(terms)
}

describe('what limits all processes', () => {
  it('is nothing where nobody has said anything', () => {
    const none = {
      rate: null, ratePerType: null, globalConcurrency: Infinity, globalTypeCap: Infinity, globalTypeCaps: {}, paused: false
    }
    assert.deepEqual(publicTerms(new Terms()), none)
    assert.deepEqual(open(new Terms(), {}), none)
  })

  it('is what an opening gives, as it gives it', () => {
    const all = {
      rate: [SECOND, MINUTE], ratePerType: SECOND, globalConcurrency: 7, globalTypeCap: 3, globalTypeCaps: { a: 1, '': 2, 'ö:': Infinity }
    }
    assert.deepEqual(open(new Terms(), all), { ...all, paused: false })
    const byType = new Map([['a', SECOND], ['b', [SECOND, MINUTE]]])
    assert.deepEqual(open(new Terms(), { ratePerType: byType }).ratePerType, byType)
  })

  it('is written by an opening only where it differs from what the last one gave', () => {
    const terms = new Terms()
    const options = { rate: SECOND, globalTypeCap: 3, globalTypeCaps: { a: 1, b: 2 } }
    open(terms, options)
    terms.set('rate', JSON.stringify([MINUTE]))
    terms.set(...fieldOfCap('a', 9))
    terms.set('cap', undefined)
    const emergency = { rate: MINUTE, globalTypeCap: Infinity, globalTypeCaps: { a: 9, b: 2 } }
    const now = () => (({ rate, globalTypeCap, globalTypeCaps }) => ({ rate, globalTypeCap, globalTypeCaps }))(publicTerms(terms))
    open(terms, options)
    assert.deepEqual(now(), emergency)
    open(terms, {}) // one that says nothing of it
    assert.deepEqual(now(), emergency)
    open(terms, { globalTypeCaps: { a: 1, b: 4 } })
    assert.deepEqual(now(), { ...emergency, globalTypeCaps: { a: 9, b: 4 } })
    open(terms, { ...options, rate: { limit: 6, intervalMs: 1000 }, globalTypeCaps: { a: 2 } })
    assert.deepEqual(now(), { rate: { limit: 6, intervalMs: 1000 }, globalTypeCap: Infinity, globalTypeCaps: { a: 2 } })
    open(terms, { globalTypeCap: 4 })
    assert.equal(now().globalTypeCap, 4)
  })

  it('is taken away by an option that says so, and by one that leaves a type out', () => {
    const terms = new Terms()
    open(terms, { globalConcurrency: 7, globalTypeCaps: { a: 1 } })
    terms.set(...fieldOfCap('called', 5))
    assert.deepEqual(open(terms, { globalConcurrency: Infinity, globalTypeCaps: {} }).globalTypeCaps, { called: 5 })
    assert.equal(publicTerms(terms).globalConcurrency, Infinity)
    terms.set('concurrency', fieldOfConcurrency(2))
    open(terms, { globalConcurrency: Infinity })
    assert.equal(publicTerms(terms).globalConcurrency, 2)
    const { fields } = terms
    open(terms, { globalTypeCaps: {} })
    assert.deepEqual(differences(fields, terms.fields), [])
  })

  it('is one rate for all types or a rate for some, whichever was said last', () => {
    const terms = new Terms()
    const byType = new Map([['a', SECOND], ['b', SECOND]])
    open(terms, { ratePerType: byType })
    terms.setAll('rates', fieldsOfRates({ all: [MINUTE], byType: new Map() }))
    assert.deepEqual(publicTerms(terms).ratePerType, MINUTE)
    open(terms, { ratePerType: byType })
    assert.deepEqual(publicTerms(terms).ratePerType, MINUTE)
    open(terms, { ratePerType: new Map([['a', MINUTE]]) })
    assert.deepEqual(publicTerms(terms).ratePerType, new Map([['a', MINUTE]]))
    open(terms, { ratePerType: SECOND })
    assert.deepEqual(publicTerms(terms).ratePerType, SECOND)
    open(terms, { ratePerType: byType })
    terms.setAll('rates', fieldsOfRates({ byType: new Map([['b', [MINUTE]]]) }))
    assert.deepEqual(publicTerms(terms).ratePerType, new Map([['b', MINUTE]]))
    terms.setAll('rates', new Map())
    assert.equal(publicTerms(terms).ratePerType, null)
  })

  it('is read back as it was written', () => {
    const terms = new Terms('17', '4')
    open(terms, { rate: SECOND, globalTypeCaps: { a: 1 } })
    terms.set('rate', undefined)
    const flat = [...new Map([['generation', '17'], ['born', '4'], ...terms.fields])].flat()
    const read = Terms.read(flat)
    assert.deepEqual(read, terms)
    assert.deepEqual(read.copy(), terms)
    assert.equal(open(read, { rate: SECOND }).rate, null)
  })

  it('is filled in where the broker has begun anew', () => {
    const known = new Terms('5', '1')
    open(known, { rate: SECOND, globalConcurrency: 3, globalTypeCaps: { a: 1 } })
    known.set('rate', JSON.stringify([MINUTE]))
    const fresh = new Terms('9', '9')
    open(fresh, { globalConcurrency: 4 })
    fresh.restore(known)
    assert.deepEqual(publicTerms(fresh), { ...publicTerms(known), globalConcurrency: 4 })
    assert.deepEqual(open(fresh, { rate: SECOND }).rate, MINUTE)
  })

  it('says of a field which type it is of', () => {
    assert.deepEqual(['cap', 'cap:%', 'rates:a%3Ab'].map(nameIn), [undefined, '%', 'a%3Ab'])
  })
})

describe('options that limit all processes', () => {
  it('have intervals of 1000 ms at least, in whole ms, and no functions', () => {
    const option = { code: 'FAIRLANE_ERR_OPTION' }
    for (const name of ['rate', 'ratePerType']) {
      for (const value of [{ limit: 1, intervalMs: 999 }, { limit: 1, intervalMs: '1000' }, { limit: 0, intervalMs: 1000 }, [], [undefined]]) {
        assert.throws(() => readers[name](value), option)
      }
      assert.equal(readers[name](undefined), undefined)
    }
    assert.throws(() => readers.ratePerType(() => SECOND), option)
    assert.deepEqual(readers.rate({ limit: 1, intervalMs: 1000.5 }), [{ limit: 1, intervalMs: 1001 }])
    for (const name of ['globalConcurrency', 'globalTypeCap']) assert.throws(() => readers[name](0), option)
    assert.throws(() => readers.globalTypeCaps({ a: 0 }), option)
  })

  it('are arguments where a call says them', () => {
    const argument = { code: 'FAIRLANE_ERR_ARGUMENT' }
    for (const rates of [{ rate: { limit: 1, intervalMs: 10 } }, { ratePerType: () => SECOND }, { other: 1 }, 5]) {
      assert.throws(() => readNewRates(rates), argument)
    }
    assert.deepEqual(readNewRates({}), { rate: undefined, ratePerType: undefined })
    assert.deepEqual(readNewRates({ rate: null, ratePerType: null }), { rate: null, ratePerType: { all: undefined, byType: new Map() } })
    assert.deepEqual(readNewRates({ rate: SECOND, ratePerType: new Map([['a', SECOND]]) }), {
      rate: [SECOND], ratePerType: { all: undefined, byType: new Map([['a', [SECOND]]]) }
    })
  })
})
