'use strict'

// Channels of node:diagnostics_channel, by which others learn what happens here. Where there are none (browsers), nobody subscribes.

const INERT = Object.freeze({ hasSubscribers: false, publish () {}, runStores: (message, fn) => fn() })

module.exports = { channelOf }

/**
 * @returns {{ hasSubscribers: boolean, publish: (message: object) => void, runStores: Function }} what subscribers throw becomes an
 *   uncaught exception
 */
function channelOf (name) {
  const hasModules = typeof process === 'object' && typeof process.getBuiltinModule === 'function'
  const module = hasModules ? process.getBuiltinModule('node:diagnostics_channel') : undefined
  return module === undefined ? INERT : module.channel(name)
}
