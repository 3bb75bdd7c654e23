'use strict'

// Finds how many jobs may run at once: by how long they take, and by what the other side rejects. Loaded by those who ask for it.

const { Control } = require('./control')

module.exports = { adaptive }

/**
 * @param {{ most: number, least?: number, first?: number, classOf?: (type: string) => string, isOverload?: (err: any) => boolean }} options
 * @returns {Control} to be given to one queue, in its option `observers`
 * @throws FAIRLANE_ERR_OPTION
 */
function adaptive (options) {
  return new Control(options)
}
