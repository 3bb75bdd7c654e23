'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const { join } = require('node:path')
const { PersistentQueue } = require('../../lib/log')
const { temporaryFolder } = require('../support/folders')
const { revoked } = require('../support/proxies')
const { seeded } = require('../support/random')

const text = buffers => buffers.map(String)

describe('PersistentQueue', () => {
  let folder
  let path
  let queue

  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder, 'deep', 'queue')
    queue = undefined
  })

  afterEach(async () => {
    if (queue !== undefined) await queue.close()
    fs.rmSync(folder, { recursive: true })
  })

  const open = async options => { queue = await PersistentQueue.open(path, options) }
  const reopen = async options => {
    await queue.close()
    await open(options)
  }

  for (const ack of ['disk', 'os']) {
    describe(`with ack '${ack}'`, () => {
      it('gives payloads in the order in which they were pushed', async () => {
        await open({ ack })
        await Promise.all([queue.push(Buffer.from('a')), queue.push([Buffer.from('b'), new Uint8Array([99])])])
        assert.equal(queue.length, 3)
        assert.equal(queue.bytes, 3)
        assert.deepEqual(text(await queue.peek(2)), ['a', 'b'])
        assert.deepEqual(text(await queue.pop()), ['a'])
        assert.deepEqual(text(await queue.pop(5)), ['b', 'c'])
        assert.deepEqual(await queue.pop(), [])
        assert.equal(queue.length, 0)
        assert.equal(queue.bytes, 0)
      })

      it('has what was pushed, and not what was popped, when it is opened again', async () => {
        await open({ ack })
        await queue.push(['a', 'b', 'c'].map(name => Buffer.from(name)))
        await queue.pop()
        await reopen({ ack })
        assert.deepEqual(queue.recovered, { jobs: 2, cut: undefined, dropped: [] })
        assert.equal(queue.bytes, 2)
        await queue.push(Buffer.from('d'))
        assert.deepEqual(text(await queue.pop(Infinity)), ['b', 'c', 'd'])
      })

      it('blocks in the sync forms until all is safe', async () => {
        await open({ ack })
        const pushed = queue.push(Buffer.from('a'))
        queue.pushSync([Buffer.from('b'), Buffer.from('c')])
        assert.deepEqual(text(queue.popSync(2)), ['a', 'b'])
        assert.deepEqual(text(queue.popSync()), ['c'])
        assert.deepEqual(queue.popSync(), [])
        await pushed
      })
    })
  }

  it('gives nothing that is not safe yet', async () => {
    await open()
    const pushed = queue.push(Buffer.from('a'))
    assert.deepEqual(await queue.pop(), [])
    await pushed
    assert.deepEqual(text(await queue.pop()), ['a'])
  })

  it('copies what is pushed at once', async () => {
    await open({ maxInflightOps: 1 })
    const payloads = [Buffer.from('a'), Buffer.from('b')]
    const pushed = payloads.map(payload => queue.push(payload))
    for (const payload of payloads) payload.fill(0)
    await Promise.all(pushed)
    assert.deepEqual(text(await queue.pop(2)), ['a', 'b'])
  })

  it('takes pushes of nothing, and payloads of nothing', async () => {
    await open()
    await queue.push([])
    queue.pushSync([])
    assert.equal(queue.length, 0)
    await queue.push(Buffer.alloc(0))
    assert.deepEqual(await queue.pop(), [Buffer.alloc(0)])
    await queue.ack([])
    queue.release([])
  })

  it('takes payloads that are larger than a segment', async () => {
    await open({ segmentBytes: 4096, ack: 'os' })
    const large = Buffer.alloc(3 << 20, 'large')
    await queue.push(Buffer.from('a'))
    await queue.push(large)
    queue.pushSync([large, Buffer.from('b')])
    await reopen({ segmentBytes: 4096 })
    const [a, ...rest] = await queue.pop(4)
    assert.equal(String(a), 'a')
    assert(rest[0].equals(large) && rest[1].equals(large))
    assert.equal(String(rest[2]), 'b')
  })

  it('gives payloads back in their order in whatever order they are released, one by one or many at once', async () => {
    await open()
    const random = seeded(1)
    const numbers = Array.from({ length: 100 }, (_, i) => i)
    await queue.push(numbers.map(number => Buffer.from([number])))
    for (const sizes of [[1], [1, 5, 30]]) {
      const reserved = (await queue.reserve(100)).map(({ id }) => id).sort(() => random.next() - 0.5)
      while (reserved.length > 0) queue.release(reserved.splice(0, random.pick(sizes)))
      assert.deepEqual((await queue.peek(100)).map(([number]) => number), numbers)
    }
  })

  it('reads each option once', async () => {
    let count = 0
    await open({ get capacity () { return 1 + count++ } })
    await queue.push(Buffer.alloc(1))
    assert.equal(count, 1)
    await assert.rejects(queue.push(Buffer.alloc(1)), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
  })

  it('gives reserved payloads back when they are released, or when it is opened again', async () => {
    await open()
    await queue.push(['a', 'b', 'c', 'd'].map(name => Buffer.from(name)))
    const [a, b, c] = await queue.reserve(3)
    assert.deepEqual([a, b, c].map(({ payload }) => String(payload)), ['a', 'b', 'c'])
    assert.equal(queue.length, 4)
    queue.release([c.id, a.id])
    assert.deepEqual(text(await queue.peek(9)), ['a', 'c', 'd'])
    assert.deepEqual(text(await queue.pop()), ['a'])
    await queue.ack(b.id)
    const [again] = await queue.reserve()
    assert.deepEqual(again, c)
    await reopen()
    assert.deepEqual(text(await queue.pop(9)), ['c', 'd'])
  })

  it('finishes and puts back only what is reserved, each once', async () => {
    await open()
    await queue.push([Buffer.from('a'), Buffer.from('b')])
    const [{ id }] = await queue.reserve()
    for (const method of ['ack', 'release']) {
      for (const ids of [id + 1, [id, id], [id, 99], 'x', undefined, revoked(), [revoked()]]) {
        assert.throws(() => queue[method](ids), { code: 'FAIRLANE_ERR_ARGUMENT' })
      }
    }
    queue.release(id)
    assert.throws(() => queue.release(id), { code: 'FAIRLANE_ERR_ARGUMENT' })
    assert.deepEqual(text(await queue.pop(3)), ['a', 'b'])
  })

  it('refuses what exceeds its capacity, before anything is written', async () => {
    await open({ capacity: 3, capacityBytes: 10, maxInflightOps: 1 })
    const pushed = [queue.push(Buffer.from('a')), queue.push(Buffer.from('b'))]
    await Promise.all(pushed)
    const bytes = queue.diskBytes()
    await assert.rejects(queue.push([Buffer.from('c'), Buffer.from('d')]), { code: 'FAIRLANE_ERR_QUEUE_FULL', waiting: 2, limit: 3 })
    await assert.rejects(queue.push(Buffer.alloc(9)), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    assert.equal(queue.diskBytes(), bytes)
    assert.throws(() => queue.pushSync(Buffer.alloc(9)), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await queue.push(Buffer.alloc(8))
    await queue.pop()
    await queue.push(Buffer.from('c'))
  })

  it('has at most maxInflightOps pushes under way: promises wait, the sync form throws', async () => {
    await open({ maxInflightOps: 2 })
    const order = []
    const pushed = ['a', 'b', 'c', 'd', 'e'].map(name => queue.push(Buffer.from(name)).then(() => order.push(name)))
    assert.equal(queue.length, 5)
    assert.equal(queue.bytes, 5)
    assert.throws(() => queue.pushSync(Buffer.from('f')), { code: 'FAIRLANE_ERR_QUEUE_FULL' })
    await Promise.all(pushed)
    assert.deepEqual(order, ['a', 'b', 'c', 'd', 'e'])
    assert.deepEqual(text(await queue.pop(9)), ['a', 'b', 'c', 'd', 'e'])
  })

  it('finishes pushes that wait when it is closed, and refuses all calls from then on', async () => {
    await open({ maxInflightOps: 1 })
    const pushed = ['a', 'b', 'c'].map(name => queue.push(Buffer.from(name)))
    const closing = queue.close()
    const closed = { code: 'FAIRLANE_ERR_CLOSED' }
    for (const call of [
      () => queue.push(Buffer.from('d')), () => queue.pop(), () => queue.peek(), () => queue.reserve(), () => queue.ack([]),
      () => queue.flush()
    ]) {
      await assert.rejects(call, closed)
    }
    assert.throws(() => queue.pushSync(Buffer.from('d')), closed)
    assert.throws(() => queue.popSync(), closed)
    assert.equal(queue.close(), closing)
    await Promise.all([closing, ...pushed])
    await open()
    assert.deepEqual(text(await queue.pop(9)), ['a', 'b', 'c'])
  })

  it('gives disk space back when payloads are finished', async () => {
    await open({ ack: 'os', segmentBytes: 1 << 16 })
    const one = Buffer.alloc(1000)
    for (let i = 0; i < 20; i++) {
      await queue.push(Array(50).fill(one))
      await queue.pop(50)
    }
    while (queue.diskBytes() > 4 << 16) await queue.push(one)
    assert.equal(queue.diskBytes(), fs.readdirSync(path).filter(name => name.endsWith('.log'))
      .reduce((sum, name) => sum + fs.statSync(join(path, name)).size, 0))
  })

  it('moves old payloads out of the way of disk space, and none of them comes back when it is finished', async () => {
    await open({ ack: 'os', segmentBytes: 1 << 14 })
    const pinned = []
    for (let i = 0; i < 300; i++) {
      await queue.push([Buffer.from(`pinned ${i}`), Buffer.alloc(900), Buffer.alloc(900)])
      pinned.push(...await queue.reserve())
      await queue.pop(2)
    }
    while (queue.diskBytes() > 6 << 14) {
      await queue.push(Buffer.alloc(100))
      await queue.pop()
    }
    await queue.ack(pinned.splice(0, 100).map(({ id }) => id))
    await reopen()
    assert.deepEqual(text(await queue.pop(Infinity)), pinned.map(({ payload }) => String(payload)))
  })

  it('reads the elements of arrays, and calls nothing that they have', async () => {
    await open()
    const fail = () => assert.fail('it was called')
    const odd = array => Object.assign(array, { map: fail, [Symbol.iterator]: fail })
    await queue.push(odd([Buffer.from('a'), Buffer.from('b')]))
    const ids = (await queue.reserve(2)).map(({ id }) => id)
    await queue.ack(odd(ids))
    assert.equal(queue.length, 0)
    // eslint-disable-next-line no-sparse-arrays
    assert.throws(() => queue.push([Buffer.from('a'), , Buffer.from('b')]), { code: 'FAIRLANE_ERR_ARGUMENT' })
  })

  it('says how far it is while it reads the log', async () => {
    await open({ ack: 'os', segmentBytes: 4096 })
    for (let i = 0; i < 10; i++) await queue.push(Buffer.alloc(2000))
    const total = queue.diskBytes()
    const steps = []
    await reopen({ onProgress: progress => steps.push(progress) })
    assert(steps.length > 3)
    assert.deepEqual(steps.at(-1), { bytes: total, totalBytes: total })
  })

  it('goes on over wide gaps of finished payloads', async () => {
    await open({ ack: 'os' })
    await queue.push(Buffer.from('first'))
    const [first] = await queue.reserve()
    for (let i = 0; i < 20; i++) {
      await queue.push(Array(100).fill(Buffer.from('x')))
      await queue.pop(100)
    }
    await queue.push(Buffer.from('last'))
    await reopen()
    assert.deepEqual(text(await queue.peek(5)), ['first', 'last'])
    assert.deepEqual(text(await queue.pop(5)), ['first', 'last'])
    assert(first.id > 0)
    await reopen()
    assert.equal(queue.length, 0)
  })

  it('can be removed when nobody has it open, and leaves what is not its own', async () => {
    await open()
    await queue.push(Buffer.from('a'))
    await assert.rejects(PersistentQueue.remove(path), { code: 'FAIRLANE_ERR_LOCKED' })
    await queue.close()
    fs.writeFileSync(join(path, 'notes.txt'), 'mine')
    await PersistentQueue.remove(path)
    assert.deepEqual(fs.readdirSync(path), ['notes.txt'])
    fs.rmSync(join(path, 'notes.txt'))
    await PersistentQueue.remove(path)
    await PersistentQueue.remove(path)
    assert(!fs.existsSync(path))
    await open()
    assert.equal(queue.length, 0)
  })

  it('can be removed while it closes: then nothing of it is left', async () => {
    for (let turns = 0; turns < 30; turns++) {
      await open({ segmentBytes: 4096 })
      await queue.push(Buffer.alloc(3000))
      const closed = queue.close()
      for (let i = 0; i < turns; i++) await new Promise(setImmediate)
      const code = await PersistentQueue.remove(path).then(() => undefined, err => err.code)
      await closed
      if (code === undefined) assert(!fs.existsSync(path), `after ${turns} turns`)
      else assert.equal(code, 'FAIRLANE_ERR_LOCKED')
      await PersistentQueue.remove(path)
    }
  })

  it('can be removed by the name of a link, which stays', async () => {
    await open()
    await queue.push(Buffer.from('a'))
    await queue.close()
    const link = join(folder, 'link')
    fs.symlinkSync(path, link)
    await PersistentQueue.remove(link)
    assert.deepEqual(fs.readdirSync(link), [])
  })

  it('stays where it was opened when the process goes to another directory', async () => {
    const before = process.cwd()
    try {
      for (const name of ['a', 'b']) fs.mkdirSync(join(folder, name, 'q'), { recursive: true })
      process.chdir(join(folder, 'a'))
      path = 'q'
      await open({ segmentBytes: 4096 })
      await queue.push(Buffer.alloc(3000, 1))
      process.chdir(join(folder, 'b'))
      await queue.push(Buffer.alloc(3000, 2))
      assert.deepEqual((await queue.pop(2)).map(([first]) => first), [1, 2])
      assert.deepEqual(fs.readdirSync('q'), [])
    } finally {
      process.chdir(before)
    }
  })

  it('opens beside folders in its own, but for one in the place of a segment', async () => {
    await open()
    await queue.push(Buffer.from('a'))
    await queue.close()
    fs.rmSync(join(path, 'reserve'))
    for (const name of ['reserve', 'other', '0000000002.log']) fs.mkdirSync(join(path, name))
    await assert.rejects(PersistentQueue.open(path), ({ code, cause }) => code === 'FAIRLANE_ERR_IO' && cause.code === 'EISDIR')
    fs.rmdirSync(join(path, '0000000002.log'))
    await open()
    assert.deepEqual(text(await queue.pop(2)), ['a'])
  })

  it('cuts off what a crash left half written', async () => {
    await open()
    await queue.push(Buffer.from('a'))
    await queue.close()
    fs.appendFileSync(join(path, '0000000001.log'), 'half')
    await open()
    assert.equal(queue.recovered.cut.bytes, 4)
    assert.deepEqual(text(await queue.pop(2)), ['a'])
  })

  it('has all on the disk after a flush, what waits for its turn too', async () => {
    await open({ ack: 'os', maxInflightOps: 2 })
    const pushes = ['<a>', '<b>', '<c>', '<d>', '<e>'].map(payload => queue.push(Buffer.from(payload)))
    const flushed = queue.flush()
    pushes.push(queue.push(Buffer.from('<f>')))
    await flushed
    const log = fs.readFileSync(join(path, '0000000001.log'), 'latin1')
    for (const payload of ['<a>', '<b>', '<c>', '<d>', '<e>']) assert(log.includes(payload), payload)
    await Promise.all(pushes)
  })

  it('has all on the disk after a flush', async () => {
    await open({ ack: 'os' })
    const pushed = queue.push(Buffer.from('a'))
    await queue.flush()
    await pushed
    assert(fs.readFileSync(join(path, '0000000001.log')).includes('a'))
  })

  it('takes a relative path', async () => {
    const cwd = process.cwd()
    process.chdir(folder)
    try {
      queue = await PersistentQueue.open('relative')
      await queue.push(Buffer.from('a'))
    } finally {
      process.chdir(cwd)
    }
    await queue.push(Buffer.from('b'))
    assert(fs.existsSync(join(folder, 'relative', '0000000001.log')))
  })

  it('says at once what it can not take', async () => {
    for (const path of [undefined, '', 5]) {
      assert.throws(() => PersistentQueue.open(path), { name: 'TypeError', code: 'FAIRLANE_ERR_ARGUMENT' })
      assert.throws(() => PersistentQueue.remove(path), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    const wrong = [null, [], 'x', { ack: 'never' }, { ack: 1 }, { capacity: 0 }, { capacity: 'many' }, { capacityBytes: 1.5 },
      { maxInflightOps: NaN },
      { segmentBytes: 1 }, { segmentBytes: '1' }, { repair: 1 }, { onProgress: 1 }, { cap: 1 }]
    for (const options of wrong) assert.throws(() => PersistentQueue.open(path, options), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => new PersistentQueue(), { code: 'FAIRLANE_ERR_ARGUMENT' })
    await open({ capacity: undefined, onProgress: undefined })
    for (const payload of [undefined, 'a', ['a'], {}, revoked(), [revoked()]]) {
      assert.throws(() => queue.push(payload), { code: 'FAIRLANE_ERR_ARGUMENT' })
      assert.throws(() => queue.pushSync(payload), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
    for (const max of [0, -1, 1.5, '1', null]) {
      for (const method of ['pop', 'popSync', 'peek', 'reserve']) assert.throws(() => queue[method](max), { code: 'FAIRLANE_ERR_ARGUMENT' })
    }
  })

  it('refuses a payload that fits into no frame', async () => {
    await open()
    const large = new Uint8Array(2 ** 30 + 2 ** 17)
    await assert.rejects(queue.push(large), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    assert.throws(() => queue.pushSync([large]), { code: 'FAIRLANE_ERR_TOO_LARGE' })
    assert.equal(queue.length, 0)
    await queue.push(Buffer.from('a'))
  })
})
