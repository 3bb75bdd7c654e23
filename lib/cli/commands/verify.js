'use strict'

// fairlane verify: reads all files of a folder, and says what of them is not whole.

const { shown, sizeText } = require('../text')
const { damageLines } = require('./damage')

async function verify ({ target, output }) {
  const { kind, folder: { path, bytes, segmentsCount: segments, entriesCount: entries, damage, cut } } = target.found
  const isWhole = damage.length === 0
  if (output.isJson) {
    await output.write(output.json({ folder: path, kind, isWhole, bytes, segments, entries, damage, cut }))
  } else {
    for (const line of damageLines({ damage, cut })) await output.write(line(output))
    const files = `${sizeText(bytes)} in ${segments} ${segments === 1 ? 'segment' : 'segments'}`
    const what = `${files}, with ${entries} ${kind === 'jobs' ? 'jobs' : 'payloads'}`
    await output.write(shown(`${isWhole ? 'whole' : 'not whole'}: ${what} (${path})`))
  }
  return isWhole ? 0 : 1
}

module.exports = { verify }
