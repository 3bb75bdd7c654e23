'use strict'

// Programs of this machine.

const { accessSync, constants } = require('node:fs')
const { delimiter, join } = require('node:path')

module.exports = { programOf }

/**
 * @param {string} variable of the environment, which says where it is; 'none': nowhere
 * @param {string[]} names that it goes by on one system or another
 * @returns {string | undefined} its path
 */
function programOf (variable, names) {
  const { [variable]: given = '', PATH = '' } = process.env
  if (given !== '') return given === 'none' ? undefined : given
  return names.flatMap(name => PATH.split(delimiter).map(folder => join(folder, name))).find(isProgram)
}

function isProgram (path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
