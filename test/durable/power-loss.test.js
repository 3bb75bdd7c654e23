'use strict'

const assert = require('node:assert')
const { seeded, seedFromEnvironment } = require('../support/random')
const { SimulatedDisk } = require('./disk')
const { History, openOn, numbersIn, work, payload, numberOf } = require('./history')

const base = seedFromEnvironment()
const ROUNDS = Number(process.env.ROUNDS ?? 40)

// Each round takes an image of the disk before every change to it, in the middle of the queue's work, and opens those.
describe('after a power failure at any moment', function () {
  this.timeout(120000 + ROUNDS * 1000)

  for (const ack of ['disk', 'os']) {
    it(`a queue with ack '${ack}' is as it was after some call, with all that was acknowledged`, async () => {
      for (let seed = base; seed < base + ROUNDS; seed++) {
        for (const image of await crashes(seed, ack)) await checkImage(image)
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
      for (const image of images) counts.add(await opened(image, `SEED=${base}`, async queue => queue.length))
      assert.deepEqual([...counts].sort(), [1000, 2000])
      await queue.close()
    })
  }

  it('a crash while it recovers changes nothing', async () => {
    for (let seed = base; seed < base + ROUNDS / 4; seed++) {
      const random = seeded(seed ^ 0x5bd1e995)
      for (const image of (await crashes(seed, 'disk')).filter(() => random.chance(0.1))) {
        const { history, sureCount, callsCount, message } = image
        const images = []
        image.disk.beforeStep = () => images.push(image.disk.afterPowerLoss(random))
        const numbers = await opened(image.disk, message, numbersIn)
        for (const disk of images) {
          const again = await opened(disk, message, numbersIn)
          history.check(again, sureCount, callsCount, message)
          assert.deepEqual(again, numbers, message)
        }
      }
    }
  })
})

/** @returns {Promise<object[]>} images of a disk, with what was acknowledged when they were taken */
async function crashes (seed, ack) {
  const random = seeded(seed)
  const disk = new SimulatedDisk()
  const images = []
  const history = new History()
  disk.beforeStep = kind => {
    if (!random.chance(0.3)) return
    const isKill = random.chance(0.15)
    images.push({
      disk: isKill ? disk.afterKill() : disk.afterPowerLoss(random),
      history,
      // with ack 'os' a power failure may take all back
      sureCount: ack === 'disk' || isKill ? history.sureCount : 0,
      callsCount: history.calls.length,
      message: `SEED=${seed} ack ${ack}, step ${disk.steps} (${kind})`
    })
  }
  const queue = await openOn(disk, { ack })
  await work(queue, history, random, 150, 1)
  await queue.close()
  // a call that was under way had been made, if not noted
  for (const image of images) image.callsCount = Math.min(image.callsCount + 1, history.calls.length)
  return images
}

async function checkImage ({ disk, history, sureCount, callsCount, message }) {
  await opened(disk, message, async queue => {
    history.check(await numbersIn(queue), sureCount, callsCount, message)
    await queue.push(payload(1e6, 10))
  })
  await opened(disk, message, async queue => {
    const numbers = await numbersIn(queue)
    assert.equal(numbers.at(-1), 1e6, message)
    assert.deepEqual((await queue.pop(Infinity)).map(numberOf), numbers, message)
  })
}

/** What use makes of a queue that opens without fault on the disk. */
async function opened (disk, message, use) {
  let queue
  try {
    queue = await openOn(disk)
  } catch (err) {
    throw new Error(`${message}: does not open`, { cause: err })
  }
  const result = await use(queue)
  await queue.close()
  assert.equal(disk.openCount, 0, message)
  return result
}
