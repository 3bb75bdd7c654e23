'use strict'

const assert = require('node:assert')
const { setTimeout: sleep } = require('node:timers/promises')
const { once: measured } = require('../support/attempts')
const { describeWithRedis } = require('../support/redis')
const { isLong } = require('../support/rounds')
const { describeLoad } = require('./load')
const { atServer } = require('./opened')
const { until } = require('./until')

describeLoad(atServer)

describeWithRedis('many types and processes', function () {
  const at = atServer()

  const commands = () => Number(/total_commands_processed:(\d+)/.exec(at.server.cli('info', 'stats'))[1])
  const callsOf = name => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(at.server.cli('info', 'commandstats'))?.[1] ?? 0)

  it('nothing polls by type', async () => {
    // the keeper walks twice a lease: that is once for all processes, and not in this second
    const queue = await at.open(async () => {}, { concurrency: 50, scheduler: 'fair', leaseMs: 600000 })
    await Promise.all(Array.from({ length: isLong ? 10000 : 300 }, (_, n) => queue.pushType(`type-${n}`, n)))
    await queue.onIdle()
    await until(() => at.server.cli('exists', `{fairlane:${at.name}}:.ready`) === '0')
    await measured(async () => { // what its end has left to do may still go on
      await sleep(200)
      const before = commands()
      await sleep(500)
      const calls = commands() - before
      assert(calls < 10, `${calls} calls`)
    })
  })

  it('a type that becomes ready makes few of many workers ask', async () => {
    const workers = await Promise.all(Array.from({ length: 40 }, () => at.open(async () => {})))
    const producer = await at.open(null)
    await producer.push(0)
    await producer.onIdle()
    const rounds = isLong ? 20 : 4
    let pushedCount = 1
    await measured(async () => { // where the job is taken late, those that look once more ask, too
      at.server.cli('config', 'resetstat')
      for (let n = 0; n < rounds; n++) {
        await producer.push(n)
        pushedCount++
        await producer.onIdle()
        await sleep(130) // those that did not ask look once more
      }
      await until(() => workers.map(worker => worker.stats().done).reduce((a, b) => a + b) === pushedCount)
      // a job is asked for by rpoplpush, whether there is one or not
      const asks = callsOf('rpoplpush')
      assert(asks > rounds / 2)
      assert(asks / rounds <= 14, `${asks / rounds} in a round`) // 8 on average; so many only once in a hundred thousand runs
    })
  })

  it('counts of a type that are asked for in one turn are asked of the broker once, and are told to each by themselves', async () => {
    const queue = await at.open(null)
    await queue.pushType('a', 1)
    const callsFor = async ask => {
      at.server.cli('config', 'resetstat')
      await ask()
      return callsOf('llen') // by which jobs are counted that wait, and those that run
    }
    const alone = await callsFor(() => queue.counts('a'))
    assert(alone > 0)
    let told
    assert.equal(await callsFor(async () => { told = await Promise.all([queue.counts('a'), queue.counts('a')]) }), alone)
    assert.notEqual(told[0], told[1])
    assert.deepEqual(told[0], told[1])
    await queue.pushType('a', 2)
    assert.deepEqual((await Promise.all([queue.counts('a'), queue.counts('b')])).map(({ waiting }) => waiting), [2, 0])
  })

  it('a waiting job takes little room at the broker', async () => {
    const queue = await at.open(null)
    const used = () => Number(/^used_memory_dataset:(\d+)/m.exec(at.server.cli('info', 'memory'))[1])
    await queue.push('x'.repeat(100))
    const before = used()
    await Promise.all(Array.from({ length: 1000 }, () => queue.push('x'.repeat(100))))
    const bytes = (used() - before) / 1000 - 100
    assert(bytes <= 850, `${bytes} bytes`) // 560 to 810, by server and allocator
  })

  it('a type leaves few events at the broker', async () => {
    const queue = await at.open(async () => {}, { concurrency: 20 })
    await Promise.all(Array.from({ length: 300 }, (_, n) => queue.push(n)))
    await queue.onIdle()
    const count = Number(at.server.cli('xlen', `{fairlane:${at.name}}:%:events`))
    assert(count >= 100 && count < 300, `${count} events`) // it is cut where that is cheap
  })
})
