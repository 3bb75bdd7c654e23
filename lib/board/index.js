'use strict'

// A page for those who run a queue of many tenants, as a handler of HTTP requests. Node only; loaded by those who ask for it.

const { board } = require('./board')

module.exports = { board }
