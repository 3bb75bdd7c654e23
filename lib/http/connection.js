'use strict'

// Requests that were pipelined on one connection of HTTP/1. The answer of a later one cannot be sent before that of an earlier one, so it
// must not hold a slot that the earlier one needs: the first takes its slot, and the others come after it, one at a time.

class Connection {
  constructor (socket) {
    this.socket = socket
    this.visits = [] // those whose responses have not closed, in the order in which they came
  }

  add (visit) {
    this.visits.push(visit)
  }

  isFirst (visit) {
    return this.visits[0] === visit
  }

  /** Whether somebody has taken the socket off its response, as for an upgrade: what is on its way has no response any more. */
  isTakenFrom (visit) {
    return this.isFirst(visit) && visit.response.socket === null && !this.socket._httpMessage // of one that no admission knows
  }

  isLast (visit) {
    return this.visits.at(-1) === visit
  }

  /** The response has closed, or does not matter any more. */
  remove (visit) {
    const { visits } = this
    const at = visits.indexOf(visit)
    if (at === -1) return
    if (at === 0) visits.shift() // most often it is the only one
    else visits.splice(at, 1)
    if (at === 0 && visits.length > 0 && !this.socket.destroyed) visits[0].unpark()
  }

  /** With it all who have come by it are gone, also those whose responses are not told so: the ones that were never sent, or taken over. */
  close () {
    for (const visit of this.visits.splice(0)) visit.left()
  }
}

/**
 * The connection of a request.
 * @param {object} socket @param {symbol} key of an admission, each of which has connections of its own
 * @returns {Connection}
 */
function connectionOf (socket, key) {
  if (socket[key] !== undefined) return socket[key]
  const connection = socket[key] = new Connection(socket)
  socket.on('close', () => connection.close())
  return connection
}

module.exports = { connectionOf }
