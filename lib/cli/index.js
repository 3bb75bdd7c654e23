#!/usr/bin/env node
'use strict'

/* istanbul ignore file: tests run it in processes of its own, which are not part of the coverage run */

// The program `fairlane`, which package.json names. What it does is in program.js.

const { run } = require('./program')

// such as that a broker is not set up to keep jobs; Node adds lines about itself
process.removeAllListeners('warning')
process.on('warning', ({ message }) => process.stderr.write(`fairlane: ${message}\n`))

run(process.argv.slice(2), process).then(code => { process.exitCode = code })
