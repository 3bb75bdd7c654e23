'use strict'

Object.defineProperty(exports, '__esModule', { value: true })
exports.default = payload => payload === 'exit' ? process.exit() : `compiled ${payload}`
Object.assign(exports, { hidden: payload => payload === 'exit' ? process.exit() : `hidden ${payload}` })
