'use strict'

// Says what becomes of its thread: that it is loading, and when its event loop turns after that.

const { parentPort } = require('node:worker_threads')

parentPort.postMessage('loading')
exports.exported = new Promise(resolve => setImmediate(resolve, () => {}))
exports.exported.then(() => setImmediate(() => parentPort.postMessage('turned')))
