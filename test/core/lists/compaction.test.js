'use strict'

// Jobs that are removed leave marks in the lists, which go when they outnumber the jobs. What that costs is counted, not timed.

const assert = require('node:assert/strict')
const { Fifo } = require('../../../lib/core/lists/fifo')
const { Lane } = require('../../../lib/core/lists/lane')
const { Lanes } = require('../../../lib/core/lists/lanes')
const { fakeClock } = require('../../../lib/testing')
const { payloads, taken } = require('../../support/lists')
const { seeded } = require('../../support/random')

const JOBS = 4000

class Ticket {
  block = undefined
  at = 0
  lane = undefined
  generation = 0
  isTaken = false
}

/** Takes the job that is oldest in 'a', else in any lane. */
class FirstLane {
  lanes = new Set()
  queued (lane) { this.lanes.add(lane) }
  next () { return [...this.lanes].find(({ size }) => size > 0) }
  started () {}
  ended () {}
  removed () {}
  paused () {}
  resumed () {}
}

const lists = {
  'the FIFO list': () => new Fifo(),
  lanes: () => {
    const read = { maxTypes: Infinity, clock: fakeClock(), maxWaitingPerType: { byType: new Map() } }
    return new Lanes(new FirstLane(), read, type => ({ type }))
  }
}

/** Tickets of so many jobs in the list, whose payloads are their numbers. */
function fill (list, count) {
  return Array.from({ length: count }, (_, i) => {
    const ticket = new Ticket()
    list.pushTicket('a', i, ticket)
    return ticket
  })
}

/** Counts the jobs that are moved together. */
function countMoves (list) {
  const moves = { count: 0, times: 0 }
  const isFifo = list instanceof Fifo
  const { compactIfSparse, scan } = isFifo ? list : Lane.prototype
  const target = isFifo ? list : Lane.prototype
  let isCompacting = false
  target.compactIfSparse = function () {
    isCompacting = true
    compactIfSparse.call(this)
    isCompacting = false
  }
  target.scan = function (visit) {
    if (isCompacting) moves.times++
    return scan.call(this, (...job) => {
      if (isCompacting) moves.count++
      visit(...job)
    })
  }
  moves.release = () => Object.assign(target, { compactIfSparse, scan })
  return moves
}

for (const [name, make] of Object.entries(lists)) {
  describe(`marks of removed jobs in ${name}`, function () {
    let list, moves

    beforeEach(function () {
      list = make()
      moves = countMoves(list)
    })
    afterEach(function () { moves.release() })

    for (const [order, sort] of Object.entries({ 'from the first on': () => {}, 'from the last on': tickets => tickets.reverse(), 'at random': shuffle })) {
      it(`cost a move or two per job that is dropped, ${order}`, function () {
        const tickets = fill(list, JOBS)
        sort(tickets)
        tickets.forEach((ticket, i) => {
          list.drop(ticket)
          assert.equal(list.size, JOBS - 1 - i)
        })
        assert.ok(moves.count <= 2 * JOBS, `${moves.count} moves`)
        assert.ok(moves.times <= 20, `${moves.times} times`)
      })
    }

    it('take no more room than the jobs, whatever is dropped and taken', function () {
      const random = seeded(7)
      const tickets = new Set(fill(list, JOBS))
      const byNumber = [...tickets]
      while (tickets.size > 0) {
        if (random.chance(0.3)) {
          tickets.delete(byNumber[taken(list)])
        } else {
          const ticket = random.pick([...tickets].slice(-500))
          tickets.delete(ticket)
          list.drop(ticket)
        }
        assert.ok(roomOf(list) <= Math.max(2 * list.size, list.size + 64) + 2, `room for ${roomOf(list)} of ${list.size}`)
      }
      assert.ok(moves.count <= 2 * JOBS, `${moves.count} moves`)
    })

    it('are not counted any more when the jobs before them have been taken', function () {
      // each round leaves one job more, so that the list is never empty, and there are never more marks than jobs
      for (let round = 0; round < 20; round++) {
        const tickets = fill(list, 100)
        for (let i = 10; i < 50; i++) list.drop(tickets[i])
        for (let i = 0; i < 59; i++) taken(list)
      }
      assert.equal(moves.count, 0)
    })

    it('are not counted any more when the list has been empty', function () {
      for (let round = 0; round < 50; round++) {
        const tickets = fill(list, 12)
        for (const ticket of tickets.reverse()) list.drop(ticket)
      }
      assert.ok(moves.count <= 50, `${moves.count} moves`)
    })

    it('go when most jobs were removed together, also by a test that another one is inside of', function () {
      fill(list, JOBS)
      list.remove(payload => {
        if (payload === 0) list.remove(payload => payload % 10 === 1)
        return payload % 10 > 2
      })
      assert.equal(list.size, JOBS / 5)
      assert.ok(roomOf(list) < 2 * list.size, `room for ${roomOf(list)} of ${list.size}`)
      assert.deepEqual(payloads(list).slice(0, 4), [0, 2, 10, 12])
    })

    it('stay where they are while a test of remove looks along the list that has a job dropped', function () {
      const tickets = fill(list, 300)
      const removed = list.remove(payload => {
        if (payload === 150) for (let i = 0; i < 300; i++) if (i % 10 !== 0 && i !== 150) list.drop(tickets[i])
        return payload % 20 === 0
      })
      assert.deepEqual(payloads(removed), numbers(0, 300, 20))
      assert.deepEqual(payloads(list), numbers(10, 300, 20))
    })
  })
}

function numbers (from, to, step) {
  const found = []
  for (let i = from; i < to; i += step) found.push(i)
  return found
}

/** How many places of jobs there are from the first job to the end. */
function roomOf (list) {
  if (list instanceof Fifo) {
    const { head, tail, full, headAt, tailAt } = list
    return head === tail ? (tailAt - headAt) / 2 : (head.length - headAt + tailAt) / 2 + (full?.size() ?? 0) * tail.length / 2
  }
  let places = 0
  for (const { head, headAt, tail, tailAt } of list.all()) {
    let block = head
    for (; block !== tail; block = block[block.length - 1]) places += (block.length - 1) / 3
    places += (tailAt - headAt) / 3
  }
  return places
}

function shuffle (list) {
  const random = seeded(3)
  for (let i = list.length - 1; i > 0; i--) {
    const at = random.below(i + 1)
    const moved = list[i]
    list[i] = list[at]
    list[at] = moved
  }
}
