'use strict'

// The schedulers that queues know by name.

const { Fair } = require('./fair')
const { Capped } = require('./capped')
const { Equal } = require('./equal')
const { makeEqual } = require('./make-equal')

module.exports = { Fair, Capped, Equal, makeEqual }
