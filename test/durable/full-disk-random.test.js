'use strict'

const assert = require('node:assert')
const { seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { captureWarnings } = require('../support/uncaught')
const { surviveFullDisk } = require('./full-disk-rounds')

const base = seedFromEnvironment()
const ROUNDS = rounds(40)

describe('job queues on small disks, at random', () => {
  let warnings

  before(() => { warnings = captureWarnings() })
  after(() => warnings.release())

  it('lose no job, go on when there is room, and empty the disks that they have filled themselves', async () => {
    const sum = { jobs: 0, outages: 0, retries: 0, dead: 0, reopened: 0, killed: 0 }
    for (let i = 0; i < ROUNDS; i++) {
      const seen = await surviveFullDisk((base + i) % 2 ** 32)
      for (const name of Object.keys(sum)) sum[name] += seen[name]
    }
    for (const [name, count] of Object.entries(sum)) assert(count > 0, `${name}: none in ${ROUNDS} rounds, SEED=${base}`)
  })

  // those that have found mistakes
  for (const seed of [3, 70, 1261, 5422, 2361640360, 4004713236]) it(`... also with seed ${seed}`, () => surviveFullDisk(seed))
})
