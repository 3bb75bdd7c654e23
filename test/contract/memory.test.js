'use strict'

const contract = require('../../lib/testing/contract')
const { inMemory } = require('./engines')
const { itOf } = require('./pending')

describe('a queue in memory keeps the contract of all engines:', () => {
  contract({ describe, it: itOf('memory'), make: inMemory, capabilities: contract.capabilitiesOf('memory'), entry: require('../../index.js') })
})
