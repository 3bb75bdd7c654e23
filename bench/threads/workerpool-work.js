'use strict'

const { packagePath } = require('../durable/peers')
const run = require('./work')

require(packagePath('workerpool')).worker({ run })
