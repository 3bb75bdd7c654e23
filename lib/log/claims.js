'use strict'

// What records may take of the reserve when the disk is full: each kind a share of it, by what the record frees. No other file says
// so: callers of append() ask here.
//
//   0 ──── attempts ────┬── states ──┬─ moved jobs ─┬── ends ──┬─ TRIM ─┐
//                     12/16        13/16          14/16      15/16      1

// What is used comes back when a segment is removed, and when what became of jobs is condensed. A kind may be written as long as no more
// than its share is used, so each leaves some to those that come after it in the life of a job:
//
//   TRIM   frees a segment, and all else is for that. There always is room for one.
//   END    mostly frees the record of its job, and a job whose end is not written runs again. To become a dead letter is an end, too.
//   MOVE   frees a segment, if all that is alive in it is moved. What is moved must not take the room of ends. Once begun, with room for
//          all, it has the claim of an end: what was moved and frees nothing would hold the room for good.
//   STATE  frees nothing: without it a job that failed is tried again earlier after a crash. It must not take the room of what frees.
//          Texts of errors are cut off, and written when there is room.
//   START  frees nothing, but leads to an end. A job is started only if there is room for what becomes of it, and of all that were
//          started: so retries cannot take what ends need, nor attempts what retries need.
//   NONE   a job that comes, or changes: takes room, and its push can be refused.
const CLAIM = Object.freeze({ NONE: 0, START: 12 / 16, STATE: 13 / 16, MOVE: 14 / 16, END: 15 / 16, ALL: Infinity })

// Jobs are refused when they come. A queue of bytes refuses its payloads before they are encoded, and frees by all that it writes else.
const OF_JOBS = Object.freeze({ push: CLAIM.NONE, move: CLAIM.MOVE, ack: CLAIM.END, trim: CLAIM.ALL, condensed: CLAIM.END })
const OF_BYTES = Object.freeze({ push: CLAIM.ALL, move: CLAIM.ALL, ack: CLAIM.ALL, trim: CLAIM.ALL, condensed: CLAIM.END })

/** The claims of records other than states, each of which has its own (`claim`). @param {'bytes' | 'jobs'} kind of the log */
function claimsOf (kind) {
  return kind === 'jobs' ? OF_JOBS : OF_BYTES
}

module.exports = { CLAIM, claimsOf }
