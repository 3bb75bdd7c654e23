'use strict'

const contract = require('../../lib/testing/contract')
const { onDisk } = require('./engines')

describe('a queue on disk keeps the contract of all engines:', () => {
  contract({ describe, it, make: onDisk, capabilities: contract.capabilitiesOf('disk'), entry: require('../../lib/durable') })
})
