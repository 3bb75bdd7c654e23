'use strict'

// Lives of a queue on a simulated disk, each ended by a crash, and images of the disk as a crash at another moment would have
// left it: before any change, in the middle of the work, of recovery, of closing.

const assert = require('node:assert')
const { seeded } = require('../support/random')
const { SimulatedDisk, systemError } = require('./disk')
const { History, openOn, numbersIn, work, payload, numberOf } = require('./history')

const LIVES = 2
const CALLS = 100
const NEW = 1e6 // the number of a payload that is pushed to an image

/**
 * Goes through some lives, and opens all images.
 * @param {number} faultRate how many of the writes, and of the makings of files, fail
 * @returns {Promise<number>} how many images there were
 * @throws what a queue did that no crash may lead to, with its seed
 */
async function surviveCrashes (seed, ack, faultRate = 0) {
  const { now } = performance
  // the same for each run with a seed, on whatever machine
  let time = 0
  performance.now = () => ++time
  try {
    const random = seeded(seed)
    const nothing = numbers => assert.deepEqual(numbers, [])
    let life = { disk: new SimulatedDisk(), legal: { kill: nothing, power: nothing }, number: 1, toldId: 0 }
    let imagesCount = 0
    for (let i = 0; i < LIVES; i++) {
      life = await live(life, random, ack, faultRate, `SEED=${seed} ack ${ack}, life ${i}`)
      for (const image of life.images) await checkImage(image)
      imagesCount += life.images.length
    }
    return imagesCount
  } catch (err) {
    throw err.message.includes('SEED=') ? err : new Error(`SEED=${seed} ack ${ack}: ${err.message}`, { cause: err })
  } finally {
    performance.now = now
  }
}

/** @returns {Promise<object>} the next life, and images of this one */
async function live ({ disk, legal, number, toldId }, random, ack, faultRate, name) {
  const images = []
  const message = kind => `${name}, step ${disk.steps} (${kind})`
  let legalHere = () => legal
  let toldHere = () => toldId
  let isOver = false
  const crash = kind => {
    const legalNow = legalHere(message(kind))
    const about = { toldId: toldHere(), message: message(kind) }
    if (random.chance(0.2)) return { disk: disk.afterKill(), legal: legalNow, numbersLegal: legalNow.kill, ...about }
    const left = disk.afterPowerLoss(random)
    // what is durable now is so for good
    return { disk: left, legal: { kill: legalNow.power, power: legalNow.power }, numbersLegal: legalNow.power, ...about }
  }
  disk.beforeStep = kind => {
    if (!isOver && random.chance(0.3)) images.push(crash(kind))
  }
  const queue = await opening(disk, ack, name)
  const numbers = await numbersIn(queue)
  legal.kill(numbers)
  const history = new History(numbers, ack)
  legalHere = message => history.legalNow(message)
  toldHere = () => Math.max(toldId, history.toldId)
  disk.fault = kind => {
    if (faultRate === 0 || !['write', 'create'].includes(kind) || !random.chance(faultRate)) return undefined
    return kind === 'write' && random.chance(0.2) ? 'short' : systemError('EIO')
  }
  number = await work(queue, history, random, CALLS, number)
  disk.fault = () => undefined
  const isClosed = random.chance(0.5)
  if (isClosed) await queue.close()
  const next = crash('end')
  isOver = true
  await queue.close()
  assert.equal(disk.openCount, 0, name)
  return { ...next, number, images }
}

/** What is there must be legal, and the queue must work, and have what was done to it when it is opened again. */
async function checkImage ({ disk, numbersLegal, toldId, message }) {
  const queue = await opening(disk, 'disk', message)
  const numbers = await numbersIn(queue)
  numbersLegal(numbers)
  await queue.push(payload(NEW, 10))
  await queue.close()
  const again = await opening(disk, 'disk', message)
  assert.deepEqual(await numbersIn(again), [...numbers, NEW], message)
  const reserved = await again.reserve(Infinity)
  assert.deepEqual(reserved.map(({ payload }) => numberOf(payload)), [...numbers, NEW], message)
  const { id } = reserved.at(-1)
  assert(id > toldId, `${message}: the new payload has number ${id}, and ${toldId} was told`)
  await again.ack(reserved.map(({ id }) => id))
  await again.close()
  assert.equal(disk.openCount, 0, message)
}

async function opening (disk, ack, message) {
  try {
    return await openOn(disk, { ack })
  } catch (err) {
    throw new Error(`${message}: does not open`, { cause: err })
  }
}

module.exports = { surviveCrashes }
