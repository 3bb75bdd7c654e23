'use strict'

// fairlane export: each job as a line of JSON.

const { jsonOf } = require('../job-json')

async function exportJobs ({ target, values: { type, payloads }, output }) {
  const size = await target.size()
  let count = 0
  for await (const job of target.jobs(type)) {
    await output.write(output.json(jsonOf(job, payloads)))
    output.progress.tell('exporting', ++count, size)
  }
}

module.exports = { exportJobs }
