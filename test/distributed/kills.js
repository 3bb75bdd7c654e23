'use strict'

// What takes long of what becomes of jobs in several processes, and when these and brokers end: npm run test:kill

const { describeBrokerEnds, describeCapsOfRunners, describeCutOff, describeEnds, describeManyJobs } = require('./faults')

describeManyJobs({ jobsCount: 20000 })
describeEnds({ jobsCount: 300, poisonTypes: ['type-1', 'other'], besideCount: 400 })
describeBrokerEnds({ jobsCount: 300, killsCount: 4 })
describeCapsOfRunners({ jobsCount: 600, killsCount: 3 })
describeCutOff()
