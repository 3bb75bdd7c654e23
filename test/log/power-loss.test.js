'use strict'

const assert = require('node:assert')
const { seeded, seedFromEnvironment } = require('../support/random')
const { rounds } = require('../support/rounds')
const { surviveCrashes } = require('./crashes')
const { SimulatedDisk } = require('./disk')
const { openOn, payload } = require('./history')
const { mutants } = require('./mutants')

const base = seedFromEnvironment()
const ROUNDS = rounds(8)
const MUTANT_ROUNDS = 60

describe('after a power failure or the end of the process at any moment', function () {
  for (const ack of ['disk', 'os']) {
    it(`a queue with ack '${ack}' is as it was after some call, with all that was acknowledged`, async () => {
      let imagesCount = 0
      for (let seed = base; seed < base + ROUNDS; seed++) imagesCount += await surviveCrashes(seed, ack)
      assert(imagesCount > ROUNDS * 30, `${imagesCount} crashes`)
    })
  }

  it('... also if writes fail before that, now and then', async () => {
    for (let seed = base; seed < base + ROUNDS / 2; seed++) await surviveCrashes(seed, ['disk', 'os'][seed % 2], 0.1)
  })

  for (const [name, { ack = 'disk', faultRate, from = 1, apply }] of Object.entries(mutants)) {
    it(`... which is not so if ${name}`, async () => {
      const undo = apply()
      try {
        await assert.rejects(async () => {
          for (let seed = from; seed < from + MUTANT_ROUNDS; seed++) await surviveCrashes(seed, ack, faultRate)
        }, /SEED=/)
      } finally {
        undo()
      }
    })
  }

  for (const take of ['pop', 'ack']) {
    it(`many payloads are finished together or not at all, more than a segment has room for too (${take})`, async () => {
      const disk = new SimulatedDisk()
      const queue = await openOn(disk)
      const numbers = Array.from({ length: 2000 }, (_, i) => i)
      await queue.push(numbers.map(number => payload(number, 4)))
      // those with odd numbers are left, so that each one that is finished is a run of its own
      const reserved = await queue.reserve(2000)
      const odd = reserved.filter((_, i) => i % 2 === 1).map(({ id }) => id)
      const even = reserved.filter((_, i) => i % 2 === 0).map(({ id }) => id)
      if (take === 'pop') queue.release(even)
      const random = seeded(base)
      const images = []
      disk.beforeStep = () => {
        for (let i = 0; i < 10; i++) images.push(disk.afterPowerLoss(random))
      }
      await (take === 'pop' ? queue.pop(1000) : queue.ack(even))
      queue.release(odd)
      disk.beforeStep()
      const counts = new Set()
      for (const image of images) {
        const again = await openOn(image)
        counts.add(again.length)
        await again.close()
      }
      assert.deepEqual([...counts].sort(), [1000, 2000], `SEED=${base}`)
      await queue.close()
    })
  }
})
