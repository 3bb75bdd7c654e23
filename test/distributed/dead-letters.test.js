'use strict'

const assert = require('node:assert')
const { describeWithRedis } = require('../support/redis')
const { expectReject } = require('./expectations')
const { atServer } = require('./opened')
const { rigged } = require('./rigged')

describeWithRedis('dead letters at a broker', function () {
  const at = atServer()

  const fails = options => at.open(async () => { throw new Error('no') }, { maxAttempts: 1, concurrency: 10, ...options })

  /** Ids of the pages of deadLetters(), one after the other. */
  async function pagesOf (queue, options, seen = async () => {}) {
    const pages = []
    for (let after; ;) {
      const page = await queue.deadLetters({ ...options, after })
      if (page.length === 0) return pages
      pages.push(page.map(({ id }) => id))
      await seen(page)
      after = page.at(-1).id
    }
  }

  it('come page by page, each once, those of one millisecond too', async () => {
    const queue = await fails({ partitions: 3 })
    await Promise.all(Array.from({ length: 45 }, (_, n) => queue.pushType(`type-${n % 4}`, n)))
    await queue.onIdle()
    for (const type of ['type-0', 'type-1', 'type-2', 'type-3']) { // all of them have died at once
      const key = `{fairlane:${at.name}:*}:${type}:failed`
      const [found] = at.server.cli('keys', key).split('\n')
      for (const name of at.server.cli('zrange', found, '0', '-1').split('\n')) at.server.cli('zadd', found, name < 'j.m' ? '5' : '6', name)
    }
    const all = (await queue.deadLetters({ limit: Infinity })).map(({ id }) => id)
    assert.equal(all.length, 45)
    for (const limit of [1, 7, 45]) {
      const pages = await pagesOf(queue, { limit })
      assert.deepEqual(pages.flat(), all)
      assert.deepEqual(pages.map(page => page.length).slice(0, -1), pages.slice(1).map(() => limit))
    }
    const ofType = all.filter(id => id.startsWith('type-2:'))
    assert.deepEqual((await pagesOf(queue, { type: 'type-2', limit: 4 })).flat(), ofType)
    const [later] = await queue.deadLetters({ type: 'type-2', after: all[20], limit: 1 })
    assert.equal(later.id, all.slice(21).find(id => id.startsWith('type-2:')))
  })

  it('come so too while each page is deleted or retried, as long as the queue remembers where that ended', async () => {
    const queue = await fails()
    await Promise.all(Array.from({ length: 105 }, (_, n) => queue.pushType('a', n)))
    await queue.onIdle()
    const all = (await queue.deadLetters()).map(({ id }) => id)
    const pages = await pagesOf(queue, { limit: 1 }, ([{ id }]) => queue.deleteDead(id))
    assert.deepEqual(pages.flat(), all)
    assert.deepEqual(await queue.deadLetters({ after: all.at(-1) }), [])
    for (const after of [all[0], 'nobody', 'a:nothing']) await expectReject(queue.deadLetters({ after }), 'FAIRLANE_ERR_ARGUMENT')
    for (const options of [{ after: 5 }, { after: null }, { limit: 0 }, { from: 'a' }]) {
      assert.throws(() => queue.deadLetters(options), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('stay when a queue is cleared, unless it is said that they go, too', async () => {
    const queue = await fails({ partitions: 2 })
    await Promise.all(['a', 'b', 'c'].flatMap(type => [queue.pushType(type, 1), queue.pushType(type, 2)]))
    await queue.onIdle()
    queue.pause()
    await queue.pushType('a', 3)
    await queue.pushType('b', 4, { delayMs: 3600000 })
    const { waiting, delayed, dead } = await queue.counts()
    assert.deepEqual([waiting, delayed, dead], [2, 1, 6])
    assert.equal(await queue.clear({ type: 'a' }), 1)
    assert.equal(await queue.clear({ type: 'a', dead: true }), 2)
    assert.deepEqual((await queue.types()).map(({ type, dead }) => [type, dead]), [['b', 2], ['c', 2]])
    assert.equal(await queue.clear({ dead: true }), 5)
    assert.deepEqual(await queue.types(), [])
    assert.throws(() => queue.clear({ dead: 1 }), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('that others delete while they are cleared count there', async () => {
    const rig = rigged(at.server.path)
    const queue = await fails({ connection: rig.connection })
    await queue.pushType('a', 1)
    await queue.onIdle()
    rig.afterAnswers(async () => { // what is counted comes first
      const [{ id }] = await queue.deadLetters()
      await queue.deleteDead(id)
    })
    assert.equal(await queue.clear({ dead: true }), 0)
  })
})
