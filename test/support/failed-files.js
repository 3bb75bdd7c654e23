'use strict'

// A reporter for mocha: prints what `spec` prints, and writes the paths of the files in which something has failed, one a line, into the
// file that the option `output` names. A failure that belongs to no file gives an empty line.

const { writeFileSync } = require('node:fs')
const { reporters: { Spec } } = require('mocha')

module.exports = class FailedFiles extends Spec {
  constructor (runner, options) {
    super(runner, options)
    const { output } = options.reporterOptions
    const files = new Set()
    runner.on('fail', ({ file = '' }) => {
      files.add(file)
      writeFileSync(output, [...files].join('\n'))
    })
  }
}
