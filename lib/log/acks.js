'use strict'

// HOT (bench: durable). ACK records: that jobs are finished. Numbers that follow each other share one.

const { ACK, ACK_BYTES, readSeq, writeSeq, writeU32 } = require('./format')

/** Writes in one frame that jobs are finished. @param {number[]} seqs ascending, at least one @returns {object} the group */
function writeAcks (log, seqs, claim) {
  let runsCount = 1
  for (let i = 1; i < seqs.length; i++) if (seqs[i] !== seqs[i - 1] + 1) runsCount++
  let at = log.append(runsCount * ACK_BYTES, runsCount, claim)
  const { group } = log
  for (let i = 0; i < seqs.length; at += ACK_BYTES) {
    const first = i++
    while (i < seqs.length && seqs[i] === seqs[i - 1] + 1) i++
    writeAck(group.buffer, seqs[first], i - first, at)
    group.ackAt = at
  }
  return group
}

/** Writes that a job is finished. @returns {object} the group */
function writeOneAck (log, seq, claim) {
  if (log.group !== undefined && extend(log.group, seq)) return log.group
  const at = log.append(ACK_BYTES, 1, claim)
  const { group } = log
  writeAck(group.buffer, seq, 1, at)
  group.ackAt = at
  return group
}

/** Has the last record of a group say one number more, if that follows. @returns {boolean} whether it does */
function extend ({ ackAt, buffer }, seq) {
  if (ackAt === 0) return false
  const count = buffer.readUInt32LE(ackAt + 7)
  if (readSeq(buffer, ackAt + 1) + count !== seq) return false
  writeU32(buffer, count + 1, ackAt + 7)
  return true
}

/** Writes that so many jobs from a number on are finished. */
function writeAck (buffer, seq, count, at) {
  buffer[at] = ACK
  writeSeq(buffer, seq, at + 1)
  writeU32(buffer, count, at + 7)
}

module.exports = { writeAcks, writeOneAck, writeAck }
