'use strict'

const { describeFairness } = require('./fairness')
const { atServer } = require('./opened')
require('../support/rounds') // npm run test:long plays more of it

describeFairness(atServer)
