'use strict'

// What calls to the broker fail with, by what it means for the caller. One table: it is asked for the code of an answer, which is its
// first word, for the name and the code of an error of the client or the system, and, of errors that have neither, for their first
// sentence.

const { codes } = require('../../arguments/codes')
const { FairlaneError } = require('../../arguments/errors')

const PASSING = 'passing' // says nothing of the call: the broker starts, fails over, moves slots, or cannot be reached
const DENIED = 'denied' // no call is let in before a setting is changed

const NO_NODE = 'No node of the cluster can be subscribed to'

const KINDS = new Map([
  ...[
    // answers
    'LOADING', 'READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN', 'ASK', 'MOVED', 'NOSCRIPT', 'NOREPLICAS', 'UNBLOCKED', 'BUSY',
    // names that ioredis and BullMQ give
    'MaxRetriesPerRequestError', 'ClusterAllFailedError', 'AbortError', 'ConnectionClosedError',
    // codes of the system
    'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'ENOENT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN',
    'ENOTFOUND', 'EAI_AGAIN',
    // errors of ioredis without a name of their own
    'Connection is closed', 'Too many Cluster redirections', 'None of startup nodes is available', 'Command timed out',
    'Cluster is disconnected', 'Cluster is disconnecting',
    "Stream isn't writeable and enableOfflineQueue options is false", "Cluster isn't ready and enableOfflineQueue options is false",
    'All keys in the pipeline should belong to the same slots allocation group',
    // and of our own
    NO_NODE
  ].map(word => [word, PASSING]),
  ...[
    'WRONGPASS', 'NOAUTH', 'NOPERM',
    // certificates
    'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'CERT_REVOKED', 'ERR_TLS_CERT_ALTNAME_INVALID'
  ].map(word => [word, DENIED])
])

/** Whether what a call failed with says nothing of the call itself: it is made again. */
function isPassing (err) {
  return kindOf(err) === PASSING
}

/** Whether no retry mends it: the broker does not let this process in, or it is not to be trusted. */
function isDenied (err) {
  return kindOf(err) === DENIED
}

/** Whether what was the master is a replica by now: another server is to be asked, which a new connection may find. */
function isDemoted (err) {
  return answerOf(err) === 'READONLY'
}

/** What callers get of an error of the broker. */
function brokerError (err) {
  if (Object.hasOwn(codes, err?.code)) return err
  const cause = causeOf(err)
  return new FairlaneError('FAIRLANE_ERR_BROKER', `The broker failed: ${cause.message}`, { cause })
}

/** The error behind those in which ioredis hides what a node, or a call of a transaction, failed with. */
function causeOf (err) {
  return err.lastNodeError ?? err.previousErrors?.[0] ?? err
}

function kindOf (err) {
  if (!(err instanceof Error)) return undefined
  const cause = causeOf(err)
  for (const word of [cause.code, answerOf(cause), cause.name, cause.message.split('. ', 1)[0].replace(/\.$/, '')]) {
    if (KINDS.has(word)) return KINDS.get(word)
  }
  return cause === err ? undefined : KINDS.get(err.name)
}

/** Servers before Redis 7 hide the code of an error within a script behind one of their own. */
function answerOf ({ message }) {
  return /^(?:ERR Error running script .*?: (?=@))?(?:@\w+: ?\d+: -?)*([A-Z]+)\b/.exec(message)?.[1]
}

module.exports = { NO_NODE, isPassing, isDenied, isDemoted, brokerError, causeOf }
