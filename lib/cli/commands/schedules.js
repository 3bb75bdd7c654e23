'use strict'

// fairlane schedules: when each pushes its next job, and when it has pushed its last one.

const { cut, timeText } = require('../text')

const COLUMNS = [
  { title: 'NAME', of: ({ name }) => cut(name) },
  { title: 'NEXT', of: ({ nextAt }) => timeText(nextAt) },
  { title: 'LAST', of: ({ lastAt }) => timeText(lastAt) }
]

async function schedules ({ target, output }) {
  const all = (await target.schedules()).map(({ name, nextAt, lastAt }) => ({ name, nextAt, lastAt }))
  if (output.isJson) await output.array(all)
  else await output.table(COLUMNS, all)
}

module.exports = { schedules }
