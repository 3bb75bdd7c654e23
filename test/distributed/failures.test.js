'use strict'

const assert = require('node:assert')
const { brokerError, causeOf, isDemoted, isDenied, isPassing } = require('../../lib/distributed/broker/failures')
const { FairlaneError, rangeError } = require('../../lib/arguments/errors')

const PASSING = [
  'LOADING Redis is loading the dataset in memory', "READONLY You can't write against a read only replica.",
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  'CLUSTERDOWN The cluster is down', 'CLUSTERDOWN Hash slot not served', 'TRYAGAIN Multiple keys request during rehashing of slot',
  'ASK 5061 127.0.0.1:7001', 'MOVED 5061 127.0.0.1:7001',
  'NOSCRIPT No matching script. Please use EVAL.', 'NOREPLICAS Not enough good replicas to write.',
  'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
  'BUSY Redis is busy running a script.', 'Too many Cluster redirections. Last error: ReplyError: TRYAGAIN',
  'None of startup nodes is available', 'Connection is closed.', 'Command timed out',
  "Stream isn't writeable and enableOfflineQueue options is false",
  'All keys in the pipeline should belong to the same slots allocation group',
  "ERR Error running script (call to f_0a1b): @user_script:12: -READONLY You can't write against a read only replica.",
  "@user_script: 12: READONLY You can't write against a read only replica.",
  "ERR Error running script (call to f_0a1b): @user_script: 12: READONLY You can't write against a read only replica.",
  "ERR Error running script (call to f_0a1b): @user_script:12: @user_script: 12: -READONLY You can't write against a read only replica."
]
const REFUSED = [
  'OOM command not allowed', 'WRONGTYPE Operation against a key', 'ERR unknown command', 'Missing lock for job 1',
  'ERR LOADING is no command', 'BUSYGROUP exists', '',
  'the Connection is closed.', 'ERR Error running script (call to f_0a1b): @user_script:12: WRONGTYPE Operation against a key',
  'ERR Error running script (call to f_0a1b): @user_script:12: @user_script: 12: -WRONGTYPE Operation against a key'
]
const DENIED = [
  'WRONGPASS invalid username-password pair or user is disabled.', 'NOAUTH Authentication required.', 'NOPERM this user has no permissions'
]

const named = (name, message = 'it has a name') => Object.assign(new Error(message), { name })
const coded = (code, message = 'it has a code') => Object.assign(new Error(message), { code })

describe('an error of the broker', () => {
  for (const message of PASSING) {
    it(`has a call made again if it passes: ${message.slice(0, 60)}`, () => {
      assert(isPassing(new Error(message)))
      assert(!isDenied(new Error(message)))
    })
  }

  it('has one made again by its name, or its code', () => {
    for (const name of [
      'MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError', 'ConnectionClosedError'
    ]) assert(isPassing(named(name)), name)
    for (const code of [
      'ETIMEDOUT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN'
    ]) assert(isPassing(coded(code)), code)
  })

  it('has none made again if it refuses the call itself', () => {
    for (const message of REFUSED) {
      assert(!isPassing(new Error(message)), message)
      assert(!isDenied(new Error(message)), message)
    }
    for (const nothing of [undefined, null, 'Connection is closed.', 5]) assert(!isPassing(nothing))
    assert(!isPassing(coded(-1, 'Missing key for job 1')))
    assert(!isPassing(new TypeError("Cannot read properties of undefined (reading 'ETIMEDOUT')")))
  })

  it('that no retry mends is told from both', () => {
    for (const message of DENIED) {
      assert(isDenied(new Error(message)), message)
      assert(!isPassing(new Error(message)), message)
    }
    assert(isDenied(coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')))
  })

  it('of all nodes of a Cluster is what the last one said, and passes if that says nothing', () => {
    const all = lastNodeError => Object.assign(named('ClusterAllFailedError', 'Failed to refresh slots cache.'), { lastNodeError })
    const denied = new Error(DENIED[0])
    assert(isDenied(all(denied)))
    assert.equal(brokerError(all(denied)).cause, denied)
    assert(isPassing(all(coded('ECONNREFUSED'))))
    assert(isPassing(all(new Error('timeout'))))
    assert(isPassing(all(null)))
  })

  it('of a transaction is what its first call failed with', () => {
    const discarded = previousErrors => Object.assign(
      new Error('EXECABORT Transaction discarded because of previous errors.'), { previousErrors }
    )
    const moved = new Error('MOVED 5061 127.0.0.1:7001')
    assert(isPassing(discarded([moved, moved])))
    assert.equal(causeOf(discarded([moved])), moved)
    assert(!isPassing(discarded([])))
    assert(!isPassing(discarded([new Error('ERR no')])))
  })

  it('says that the server has become a replica', () => {
    for (const message of PASSING) assert.equal(isDemoted(new Error(message)), message.includes('READONLY'), message)
  })

  it('reaches callers with a code, and as its cause', () => {
    const cause = new Error('WRONGTYPE Operation against a key')
    const error = brokerError(cause)
    assert(error instanceof FairlaneError)
    assert.deepEqual([error.code, error.cause, error.message], ['FAIRLANE_ERR_BROKER', cause, `The broker failed: ${cause.message}`])
    assert.equal(brokerError(error), error)
    const own = rangeError('FAIRLANE_ERR_OPTION', 'no')
    assert.equal(brokerError(own), own)
  })
})
