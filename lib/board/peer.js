'use strict'

// @bull-board/api, whose pages show queues by adapters: an optional peer dependency.

const { peerError } = require('../platform/peers')

const RANGE = '^9'

module.exports = { loadBaseAdapter, RANGE }

/** @returns {Function} the class that all adapters extend @throws FAIRLANE_ERR_PEER if it is not there */
function loadBaseAdapter () {
  try {
    const { BaseAdapter } = require('@bull-board/api/dist/queueAdapters/base.js')
    if (typeof BaseAdapter === 'function') return BaseAdapter
    throw new Error('the installed version has no BaseAdapter')
  } catch (cause) {
    throw peerError('fairlane/board/bull-board', '@bull-board/api', RANGE, `which cannot be loaded (${cause.message})`, { cause })
  }
}
