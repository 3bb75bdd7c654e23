'use strict'

const { isLong } = require('../support/rounds')
const { describeFairness } = require('./fairness')
const { atServer } = require('./opened')

describeFairness(isLong ? { ms: 3000, floodCount: 2000 } : { ms: 1000, floodCount: 800 }, atServer)
