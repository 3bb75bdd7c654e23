'use strict'

// Where the numbers were taken: goes into every result file.

const os = require('node:os')
const { spawnSync } = require('node:child_process')

/**
 * @param {string} node the binary that runs the children
 * @returns {{ node: string, major: number, v8: string, cpu: string, cores: number, memoryGB: number, system: string }|null}
 *   null when that binary can't be run
 */
function describeEnvironment (node) {
  const asked = spawnSync(node, ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' })
  if (asked.status !== 0) return null
  const versions = JSON.parse(asked.stdout)
  const cpus = os.cpus()
  return {
    node: versions.node,
    major: parseInt(versions.node, 10),
    v8: versions.v8,
    cpu: cpus.length > 0 ? cpus[0].model.trim() : 'unknown CPU',
    cores: cpus.length,
    memoryGB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.arch()}`
  }
}

module.exports = { describeEnvironment }
