'use strict'

// One measurement: one contender in one cell of one case, in this process and nothing else.
// argv[2] is { caseName, cell, contender } as JSON; { result, files } goes to file descriptor 3 as JSON, after which the process
// ends. No result, or an exit code other than 0, is a failure.

const fs = require('node:fs')

const { caseName, cell, contender } = JSON.parse(process.argv[2])

require(`./cases/${caseName}`).measure(cell, contender).then((result) => {
  fs.writeSync(3, JSON.stringify({ result, files: require('./code').loadedFiles() }))
  process.exit(0)
})
