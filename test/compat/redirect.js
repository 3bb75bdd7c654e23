'use strict'

// Loaded before a peer's own tests: where they require the peer, as '../', they get the facade.

const Module = require('node:module')

const PEER_TEST = /[\\/]node_modules[\\/](fastq|quickq)[\\/]test[\\/]/

const { _resolveFilename: resolve } = Module

Module._resolveFilename = function (request, parent, ...rest) {
  const [, peer] = request === '../' ? PEER_TEST.exec(parent.filename) ?? [] : []
  return peer === undefined ? resolve.call(this, request, parent, ...rest) : require.resolve(`fairlane/compat/${peer}`)
}
