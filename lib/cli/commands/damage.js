'use strict'

// How it is told what is wrong with the files of a folder, and who has it open.

const { shown } = require('../text')

/** @param {{ damage?: object[], cut?: object }} about @returns {((output: object) => string)[]} */
function damageLines ({ damage = [], cut }) {
  const lines = damage.map(({ file, offset, bytes, what }) => {
    return output => output.red(shown(`damaged  ${file}, offset ${offset}${bytes > 0 ? `, ${bytes} bytes` : ''}: ${what}`))
  })
  if (cut !== undefined) {
    lines.push(() => shown(`cut      ${cut.file}, offset ${cut.offset}, ${cut.bytes} bytes: left by a crash, or being written now`))
  }
  return lines
}

function openText ({ isOpen, openIn }) {
  if (!isOpen) return 'no'
  return openIn === undefined ? 'yes' : `in process ${openIn}`
}

module.exports = { damageLines, openText }
