'use strict'

// Slots for requests: what lets the requests of a server in, fairly among its tenants. Of Node's modules it needs none, since it is given
// requests and responses; fetch handlers have it anywhere.

const { admission } = require('./admission')

module.exports = { admission }
