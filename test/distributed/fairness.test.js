'use strict'

const { isLong } = require('../support/rounds')
const { describeFairness } = require('./fairness')
const { atServer } = require('./opened')

describeFairness(isLong ? { ms: 3000, floodCount: 2000 } : { ms: 700, floodCount: 500 }, atServer)
