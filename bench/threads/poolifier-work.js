'use strict'

const { packagePath } = require('../durable/peers')
const run = require('./work')

const { ThreadWorker } = require(packagePath('poolifier'))
module.exports = new ThreadWorker(run)
