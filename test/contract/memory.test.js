'use strict'

const contract = require('../../lib/testing/contract')
const { inMemory } = require('./engines')

describe('a queue in memory keeps the contract of all engines:', () => {
  contract({ describe, it, make: inMemory, capabilities: contract.capabilitiesOf('memory'), entry: require('../../index.js') })
})
