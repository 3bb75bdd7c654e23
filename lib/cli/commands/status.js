'use strict'

// fairlane status: how many jobs there are, and whether what is on disk is whole.

const { durationText, shown, sizeText } = require('../text')
const { damageLines, openText } = require('./damage')

async function status ({ target, output }) {
  const about = target.isFolder ? aboutFolder(target) : { queue: target.name, ...await target.queue.counts() }
  if (output.isJson) await output.write(output.json(about))
  else for (const line of linesOf(about)) await output.write(line(output))
  return target.isDamaged ? 1 : 0
}

function aboutFolder ({ found: { kind, serializer, folder } }) {
  const { path, bytes, segmentsCount, holder, damage, cut } = folder
  const counts = kind === 'bytes' ? { waiting: folder.entriesCount } : folder.counts()
  const { oldestAt, ...rest } = counts
  return {
    folder: path,
    kind,
    serializer,
    openIn: holder === undefined ? undefined : holder.pid,
    isOpen: holder !== undefined,
    bytes,
    segments: segmentsCount,
    ...rest,
    oldestWaitMs: oldestAt === undefined ? undefined : Math.max(0, Math.round(folder.now - oldestAt)),
    damage,
    cut
  }
}

/** @returns {((output: object) => string)[]} */
function linesOf (about) {
  const { waiting, delayed, running, dead, types, oldestWaitMs } = about
  const lines = [`${about.queue === undefined ? `folder   ${about.folder}` : `queue    ${about.queue}`}`]
  if (about.folder !== undefined) {
    lines.push(`open     ${openText(about)}`)
    lines.push(`on disk  ${sizeText(about.bytes)} in ${about.segments} ${about.segments === 1 ? 'segment' : 'segments'}`)
  }
  lines.push(`waiting  ${waiting}${delayed > 0 ? `, ${delayed} of these delayed` : ''}`)
  if (oldestWaitMs !== undefined) lines.push(`         the oldest one for ${durationText(oldestWaitMs)}`)
  if (running !== undefined) lines.push(`running  ${running}`, `dead     ${dead}`, `types    ${types}`)
  return [...lines.map(line => () => shown(line)), ...damageLines(about)]
}

module.exports = { status }
