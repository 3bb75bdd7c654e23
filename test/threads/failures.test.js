'use strict'

const assert = require('node:assert')
const { runInNewContext } = require('node:vm')
const { takeApart, putTogether } = require('../../lib/threads/failures')

const cross = reason => putTogether(structuredClone(takeApart(reason)))

describe('an error that leaves its thread', () => {
  for (const Class of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) {
    it(`is a ${Class.name} again, with its message and stack`, () => {
      const err = new Class('it fails')
      const crossed = cross(err)
      assert.equal(crossed.constructor, Class)
      assert.deepEqual([crossed.message, crossed.stack, crossed.name], ['it fails', err.stack, Class.name])
      assert.deepEqual(Object.keys(crossed), [])
    })
  }

  it('has its own plain properties, and none that cannot be cloned', () => {
    const err = Object.assign(new TypeError('it fails'), { code: 'E', retryAfterMs: 5, at: { line: 1 }, helper () {}, [Symbol('s')]: 1 })
    const { code, retryAfterMs, at, helper } = cross(err)
    assert.deepEqual({ code, retryAfterMs, at, helper }, { code: 'E', retryAfterMs: 5, at: { line: 1 }, helper: undefined })
    assert.deepEqual(Object.keys(cross(err)), ['code', 'retryAfterMs', 'at'])
  })

  it('of a class of its own is one of the standard class that it extends, with its name', () => {
    class LimitError extends RangeError {
      get name () { return 'LimitError' }
    }
    class NamedError extends Error {
      name = 'NamedError'
    }
    const limit = cross(new LimitError('too much'))
    assert.equal(limit.constructor, RangeError)
    assert.equal(`${limit}`, 'LimitError: too much')
    assert.deepEqual(Object.keys(limit), [])
    assert.equal(`${cross(new NamedError('x'))}`, 'NamedError: x')
  })

  it('has its causes, with their properties', () => {
    const cause = Object.assign(new RangeError('inner', { cause: new Error('innermost', { cause: 5 }) }), { code: 'INNER' })
    const crossed = cross(new Error('outer', { cause }))
    assert(crossed.cause instanceof RangeError)
    assert.deepEqual([crossed.cause.code, crossed.cause.cause.message, crossed.cause.cause.cause], ['INNER', 'innermost', 5])
    assert.deepEqual(Object.keys(crossed), [])
    assert.equal(Object.hasOwn(cross(new Error('none')), 'cause'), false)
  })

  it('may be its own cause', () => {
    const err = new Error('round')
    err.cause = err
    let depth = 0
    for (let crossed = cross(err); crossed !== undefined; crossed = crossed.cause) depth++
    assert.equal(depth, 9)
  })

  it('is an AggregateError again, with its errors', () => {
    const crossed = cross(new AggregateError([Object.assign(new TypeError('a'), { code: 'A' }), 5], 'both'))
    assert(crossed instanceof AggregateError)
    assert.equal(crossed.message, 'both')
    assert.deepEqual([crossed.errors[0].constructor, crossed.errors[0].code, crossed.errors[1]], [TypeError, 'A', 5])
  })

  it('is a DOMException again', () => {
    const crossed = cross(new DOMException('too late', 'TimeoutError'))
    assert(crossed instanceof DOMException)
    assert.deepEqual([crossed.name, crossed.message, crossed.code], ['TimeoutError', 'too late', DOMException.TIMEOUT_ERR])
  })

  it('may be of another realm', () => {
    const err = runInNewContext("Object.assign(new TypeError('theirs'), { code: 'VM' })")
    assert.deepEqual([cross(err).message, cross(err).name, cross(err).code], ['theirs', 'TypeError', 'VM'])
  })

  it('may be one that throws when it is looked at', () => {
    const err = Object.defineProperty(new Error('x'), 'message', { get () { throw new Error('y') } })
    assert.match(cross(err).message, /cannot be read/)
  })
})

describe('what leaves its thread and is no error', () => {
  it('is as it was', () => {
    for (const reason of [undefined, null, 0, '', 'text', { code: 'E' }, [1]]) assert.deepEqual(cross(reason), reason)
  })

  it('is told of if it cannot be cloned', () => {
    assert.match(cross(() => {}).message, /failed with a function/)
    assert.match(cross(Symbol('s')).message, /Symbol\(s\)/)
  })
})
