'use strict'

// What takes long of what becomes of jobs when processes and brokers end: npm run test:kill

const { describeBrokerEnds, describeCutOff, describeEnds } = require('./faults')

describeEnds({ jobsCount: 300, poisonTypes: ['type-1', 'other'], besideCount: 400 })
describeBrokerEnds({ jobsCount: 300, killsCount: 4 })
describeCutOff()
