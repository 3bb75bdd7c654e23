'use strict'

// `equal` with groupOf: who shares with whom, what may go wrong with the caller's function, and what is told.

const assert = require('node:assert/strict')
const fairlane = require('../..')
const { fakeClock } = require('../../lib/testing')
const { Equal, makeEqual } = require('../../schedulers')
const { Groups } = require('../../schedulers/groups')
const gates = require('../support/gates')
const { share } = require('../support/shares')
const { simulation } = require('../support/simulation')
const { Slots } = require('../support/slots')
const { quiet } = require('../support/turns')
const { captureWarnings } = require('../support/uncaught')

const groupOf = type => type.split('/')[0]

describe("'equal' with groups", function () {
  let warnings

  beforeEach(function () { warnings = captureWarnings() })

  afterEach(function () { warnings.release() })

  /** The parts of the slots that the types got whose names begin so. */
  async function partsOf (schedulerOptions, types, ...prefixes) {
    const sim = simulation({ scheduler: 'equal', schedulerOptions: { groupOf, ...schedulerOptions }, concurrency: 4 })
    for (const type of types) sim.push(type, 10, 2000)
    await sim.runUntil(4000)
    return prefixes.map(prefix => share(sim.log, 0, 4000, type => type.startsWith(prefix)))
  }

  function near (parts, wanted) {
    for (const [i, part] of parts.entries()) assert.ok(Math.abs(part - wanted[i]) < 0.01, `${parts}, not ${wanted}`)
  }

  it('says of a function for the weights of groups that it has failed', async function () {
    const groupWeights = group => {
      if (group === 'a') throw new Error('whose?')
      return 3
    }
    near(await partsOf({ groupWeights }, ['a/1', 'b/1'], 'a', 'b'), [1 / 4, 3 / 4])
    await warnings.until(1)
    assert.deepEqual(warnings.seen.map(({ message }) => message), ['The function groupWeights failed (Error: whose?); such groups have the weight 1.'])
  })

  it('gives a group with one type as much as one with many', async function () {
    near(await partsOf({}, ['a/1', 'a/2', 'a/3', 'a/4', 'b/1'], 'a', 'b', 'a/1'), [1 / 2, 1 / 2, 1 / 8])
  })

  it('shares among groups by their weights, and within each by those of its types', async function () {
    const options = { groupWeights: { a: 3 }, weights: { 'a/1': 2, 'b/2': 4 } }
    near(await partsOf(options, ['a/1', 'a/2', 'b/1', 'b/2'], 'a/1', 'a/2', 'b/1', 'b/2'), [1 / 2, 1 / 4, 1 / 20, 1 / 5])
  })

  it('takes weights of groups as a Map and as a function', async function () {
    for (const groupWeights of [new Map([['a', 3]]), group => group === 'a' ? 3 : 1]) {
      near(await partsOf({ groupWeights }, ['a/1', 'a/2', 'b/1'], 'a', 'b'), [3 / 4, 1 / 4])
    }
  })

  it('has hard caps of groups and of types, and shares the rest', async function () {
    const options = { groupCaps: { a: 1 }, maxGroupCap: 3, typeCaps: { 'b/1': 1 } }
    near(await partsOf(options, ['a/1', 'a/2', 'b/1', 'b/2'], 'a', 'b/1', 'b/2'), [1 / 4, 1 / 4, 1 / 2])
  })

  it('has one cap for all groups, and lower ones for some', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 100, maxGroupCap: 2, groupCaps: { c: 1 } }))
    for (const type of ['a/1', 'a/2', 'b/1', 'c/1']) slots.push(type, 9)
    slots.start(36)
    assert.deepEqual(['a/1', 'a/2', 'b/1', 'c/1'].map(type => slots.lane(type).running), [1, 1, 2, 1])
  })

  it('goes on to the next group where the types of the first have come to be at their caps', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 10, groupWeights: { c: 0.001 } }))
    for (const type of ['a/1', 'b/1', 'c/1']) slots.push(type, 20)
    slots.start(7)
    assert.equal(slots.lane('c/1').running, 1)
    slots.scheduler.configure({ maxTypeShare: 0.2 })
    assert.equal(slots.start(9), 'c/1')
  })

  it('goes on to the next group where the types of the first are at their caps and it has a level', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 10, groupWeights: { c: 0.001 } }))
    for (const group of 'abc') {
      slots.pause(`${group}/2`) // so no type is alone in its group
      slots.push(`${group}/1`, 20)
    }
    slots.start(7)
    assert.equal(slots.lane('c/1').running, 1)
    slots.scheduler.configure({ maxTypeShare: 0.2 })
    assert.equal(slots.start(9), 'c/1')
  })

  it('looks at no group where the share is the same number of slots as before', function () {
    const scheduler = makeEqual({ groupOf, concurrency: 10, maxTypeShare: 0.5 })
    const slots = new Slots(scheduler)
    for (const type of ['a/1', 'b/1', 'b/2']) slots.push(type)
    const looks = []
    const { update } = scheduler
    scheduler.update = function (group) {
      looks.push(group.type)
      return update.call(this, group)
    }
    for (const options of [{ maxTypeShare: 0.45 }, { concurrency: 9 }, { groupWeights: { a: 2 } }, {}]) scheduler.configure(options)
    assert.deepEqual(looks, [])
    scheduler.configure({ concurrency: 8 })
    assert.deepEqual(looks, ['a', 'b'])
  })

  it('charges a group at once for what a runner says', function () {
    const slots = new Slots(makeEqual({ groupOf, chargeBy: 'cost', concurrency: 100 }))
    for (const type of ['a/1', 'b/1']) slots.push(type, 100)
    assert.equal(slots.start(2), 'a/1b/1')
    slots.charge('a/1', 3)
    assert.equal(slots.start(3), 'b/1b/1b/1')
  })

  it('changes weights and caps of groups and types, not groupOf', async function () {
    const sim = simulation({ scheduler: 'equal', schedulerOptions: { groupOf }, concurrency: 4 })
    for (const type of ['a/1', 'a/2', 'b/1']) sim.push(type, 10, 2000)
    const parts = []
    const changes = [
      { groupWeights: { a: 3 } }, { groupWeights: null, weights: { 'a/1': 3 } }, { weights: null, groupCaps: { b: 1 } },
      { groupCaps: null, maxGroupCap: 2, typeCaps: { 'a/1': 0 } }, { maxGroupCap: Infinity, typeCaps: null }
    ]
    for (const [i, change] of changes.entries()) {
      sim.queue.scheduler.configure(change)
      await sim.runUntil(1000 * (i + 1))
      parts.push(['a/1', 'b'].map(prefix => share(sim.log, 1000 * i + 100, 1000 * (i + 1), type => type.startsWith(prefix))))
    }
    for (const [i, [first, b]] of [[3 / 8, 1 / 4], [3 / 8, 1 / 2], [3 / 8, 1 / 4], [0, 1 / 2], [1 / 4, 1 / 2]].entries()) {
      assert.ok(Math.abs(parts[i][0] - first) < 0.02 && Math.abs(parts[i][1] - b) < 0.02, `${i}: ${parts[i]}`)
    }
    assert.throws(() => sim.queue.scheduler.configure({ groupOf }), { name: 'TypeError', code: 'FAIRLANE_ERR_OPTION', message: /groupOf/ })
    assert.throws(() => sim.queue.scheduler.configure({ chargeBy: 'time' }), { code: 'FAIRLANE_ERR_OPTION', message: /chargeBy/ })
  })

  it('changes nothing if one of the options is wrong', function () {
    const scheduler = makeEqual({ groupOf, groupCaps: { a: 2 }, concurrency: 5 })
    const wrong = [
      { groupWeights: { a: 0 } }, { groupWeights: 7 }, { groupCaps: { a: -1 } }, { groupCaps: { a: NaN } }, { maxGroupCap: '1' },
      { maxGroupCap: -1 }, { typeCaps: 1 }, { groups: 1 }
    ]
    for (const options of wrong) {
      assert.throws(() => scheduler.configure({ groupCaps: { a: 1 }, ...options }), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(options))
    }
    assert.deepEqual([scheduler.groupCapOf('a'), scheduler.groupCapOf('b'), scheduler.groupCapOf(undefined)], [2, 5, 5])
    for (const options of [{ groupOf: null }, { groupOf: {} }, { groupOf: 'a' }, { chargeBy: 'tokens' }, { chargeBy: null }, { groupWeights: {} }]) {
      assert.throws(() => makeEqual(options), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(options))
      assert.throws(() => fairlane(() => {}, { scheduler: 'equal', schedulerOptions: options }), { code: 'FAIRLANE_ERR_OPTION' })
    }
    assert.throws(() => makeEqual({ groupOf: null }), { message: /^groupOf must be a function/ })
    for (const options of [{ groupOf }, { groupCaps: {} }, { maxGroupCap: 1 }, { chargeBy: 'cost' }]) {
      assert.throws(() => new Equal(options), { code: 'FAIRLANE_ERR_OPTION' }, JSON.stringify(options))
    }
    assert.throws(() => makeEqual(null), { code: 'FAIRLANE_ERR_OPTION' })
    assert.throws(() => makeEqual(7), { code: 'FAIRLANE_ERR_OPTION' })
    assert.ok(makeEqual() instanceof Equal && makeEqual({ groupOf: undefined }) instanceof Equal)
  })

  it('asks for the group of each type once, as long as the type is there', async function () {
    const asked = []
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 2, scheduler: 'equal', schedulerOptions: { groupOf: type => asked.push(type) && 'g' } })
    for (let i = 0; i < 3; i++) queue.pushType('a', i).pushType('b', i)
    queue.pauseType('c').pushType('c', 1).pauseType('a').resumeType('a')
    queue.resumeType('c')
    assert.deepEqual(asked, ['a', 'b', 'c'])
    assert.equal(queue.stats('a').group, 'g')
    for (const count of [2, 2, 2, 1]) {
      await quiet()
      gate.release(count)
    }
    await queue.onIdle()
    assert.equal(asked.length, 3)
    assert.equal(queue.stats('a').group, 'g')
    assert.deepEqual(asked, ['a', 'b', 'c', 'a'])
  })

  it('knows groups of any name', async function () {
    const names = ['', '__proto__', 'constructor', 'x'.repeat(1000)]
    const options = { groupOf: type => type.slice(1), groupCaps: new Map([['__proto__', 1]]) }
    const gate = gates()
    const queue = fairlane(gate.runner, { scheduler: 'equal', schedulerOptions: options, concurrency: 100 })
    for (const name of names) for (const user of '12') queue.pushType(user + name, name)
    await quiet()
    assert.equal(queue.stats().groups, 4)
    assert.deepEqual(names.map(name => gate.payloads.filter(payload => payload === name).length), [2, 1, 2, 2])
    assert.deepEqual(queue.stats('1__proto__').group, '__proto__')
  })

  it('forgets groups with their last type', async function () {
    const queue = fairlane((payload, done) => setImmediate(done), { scheduler: 'equal', schedulerOptions: { groupOf } })
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 1000; i++) queue.pushType(`group ${i % 100}/${i}`, i)
      assert.equal(queue.stats().groups, 100)
      await queue.onIdle()
      assert.deepEqual([queue.stats().groups, queue.stats().types, queue.scheduler.freed.length], [0, 0, 64])
    }
    queue.pauseType('a/1')
    queue.pushType('a/1', 1)
    assert.equal(queue.stats().groups, 1)
    queue.clear({ type: 'a/1' })
    queue.resumeType('a/1')
    assert.equal(queue.stats().groups, 0)
  })

  it('forgets no group that is ahead, until others have had as much', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 2 }))
    slots.run('b/1', 1, 20)
    slots.push('b/1', 1000)
    slots.push('a/1', 1)
    slots.start(2)
    slots.end('a/1', 1, 100)
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), false, 'its group is ahead')
    for (let i = 0; i < 200; i++) {
      slots.end('b/1', 1, 1)
      slots.start()
    }
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), true)
  })

  it('forgets a type of a group that is ahead if another one keeps the group', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 2 }))
    slots.run('b/1', 1, 20)
    slots.push('b/1', 1000)
    slots.push('a/1', 1)
    slots.start(2)
    slots.end('a/1', 1, 100)
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), false)
    slots.pause('a/2')
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), true)
    assert.equal(slots.scheduler.groupCount, 2)
  })

  it('forgets a group that is ahead once the last job that waits is cancelled', async function () {
    const gate = gates()
    const clock = fakeClock()
    const queue = fairlane(gate.runner, { scheduler: 'equal', schedulerOptions: { groupOf }, concurrency: 1, clock })
    queue.pushType('a/1', 1).pushType('hog/1', 2).pushType('b/1', 3)
    for (const [count, ms] of [[1, 1], [2, 1000]]) {
      await gate.until(count)
      clock.advance(ms)
      if (count === 2) queue.pause()
      gate.release()
    }
    await quiet()
    assert.equal(queue.stats('hog/1').accepted, 1)
    queue.clear()
    await quiet()
    assert.equal(queue.stats().groups, 0)
  })

  it('forgets no type that is ahead of others of its group', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 2 }))
    slots.pause('a/3') // or a/2 would be alone, and nobody would count what it has used
    slots.run('a/2', 1, 20)
    slots.push('a/1', 1)
    slots.push('a/2', 100)
    slots.start(2)
    slots.end('a/1', 1, 100)
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), false)
  })

  it('has a type that comes back be in whatever group it is in then', async function () {
    let group = 'x'
    const queue = fairlane((payload, done) => done(), { scheduler: 'equal', schedulerOptions: { groupOf: () => group } })
    await queue.pushType('a', 1).onIdle()
    group = 'y'
    queue.pushType('a', 2)
    group = 'z'
    assert.equal(queue.stats('a').group, 'y')
    await queue.onIdle()
  })

  for (const [what, [failing, told]] of Object.entries({
    throws: [() => { throw new Error('no') }, 'threw Error: no'],
    'throws what cannot be shown': [() => { throw Object.create(null) }, 'threw an object'],
    'gives an object': [() => ({}), 'returned an object'],
    'gives a number': [() => 1, 'returned 1'],
    'gives undefined': [() => undefined, 'returned undefined'],
    'gives a promise': [async () => 'a', 'returned an object']
  })) {
    it(`has a type be a group of its own for which groupOf ${what}, and warns once`, async function () {
      const groupOf = type => type.startsWith('own') ? failing() : 'group'
      const options = { groupOf, groupCaps: { 'own 1': 0, '': 0 }, groupWeights: { 'own 1': 100 } }
      const sim = simulation({ scheduler: 'equal', schedulerOptions: options, concurrency: 6 })
      for (const type of ['own 1', 'own 2', 'a', 'b']) sim.push(type, 10, 1000)
      assert.equal(sim.queue.stats().groups, 3)
      assert.deepEqual([sim.queue.stats('own 1').group, sim.queue.stats('own 3').group, sim.queue.stats('a').group], [undefined, undefined, 'group'])
      assert.ok('group' in sim.queue.stats('own 1'))
      await sim.runUntil(1000)
      near(['own 1', 'own 2', 'a'].map(type => share(sim.log, 0, 1000, each => each === type)), [1 / 3, 1 / 3, 1 / 6])
      sim.queue.clear()
      await sim.untilIdle()
      assert.equal(sim.queue.stats().groups, 0)
      await quiet()
      assert.deepEqual(warnings.seen.map(({ code, message }) => [code, message]), [
        ['FAIRLANE_WARN_GROUP', `groupOf must return a string, but it ${told}. Such a type is a group of its own.`]
      ])
    })
  }

  it('has the lanes that types share be one group together: inventing types wins nothing', async function () {
    const sim = simulation({ scheduler: 'equal', schedulerOptions: { groupOf, groupCaps: { eve: 0 } }, maxTypes: 24, concurrency: 6 })
    sim.push('a/1', 10, 1000)
    sim.push('b/1', 10, 1000)
    for (let i = 0; i < 22; i++) sim.push(`c/${i}`, 10, 100)
    for (let i = 0; i < 300; i++) sim.push(`eve/${i}`, 10, 10)
    assert.equal(sim.queue.stats().groups, 4)
    assert.equal(sim.queue.stats('eve/7').group, undefined)
    await sim.runUntil(1000)
    near(['a', 'b', 'c', 'eve'].map(prefix => share(sim.log, 0, 1000, type => type.startsWith(prefix))), [1 / 4, 1 / 4, 1 / 4, 1 / 4])
    sim.queue.pauseType('eve/299').resumeType('eve/299')
    assert.equal(sim.queue.stats('eve/299').group, 'eve')
  })

  it('has a group whose types are all at their caps leave the slots to others, and go on at once when it may', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 100, maxTypeCap: 1 }))
    slots.push('a/1', 20)
    slots.push('b/1', 1)
    slots.push('b/2', 20)
    assert.equal(slots.start(9), 'a/1b/1b/2')
    assert.equal(slots.start(), '')
    for (let i = 0; i < 10; i++) {
      slots.end('b/2', 1, 10)
      assert.equal(slots.start(9), 'b/2')
    }
    slots.end('a/1', 1)
    assert.equal(slots.start(9), 'a/1')
  })

  it('keeps what a group is behind while it is at the caps of its types, and no more', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 100, typeCaps: { 'a/1': 1 } }))
    slots.push('a/1', 100)
    slots.push('b/1', 1000)
    slots.start(2)
    for (let i = 0; i < 20; i++) {
      slots.end('b/1', 1, 10)
      slots.start()
    }
    slots.end('a/1', 1)
    slots.end('b/1', 1)
    let order = ''
    for (let i = 0; i < 10; i++) {
      const type = slots.start()
      slots.end(type, 1, 10)
      order += type[0]
    }
    assert.equal(order.replaceAll('b', '').length, 5, order)
  })

  for (const [what, act] of Object.entries({
    'the cap of its type is higher': slots => slots.scheduler.configure({ typeCaps: { 'a/1': 2 } }),
    'another type of it comes': slots => slots.push('a/2'),
    'another type of it is resumed': slots => {
      slots.pause('a/2')
      slots.push('a/2')
      slots.resume('a/2')
    }
  })) {
    for (const hasLevel of [false, true]) {
      it(`has a group ${hasLevel ? 'with a level' : 'of one type'} go on from its place at the caps of its types once ${what}`, function () {
        const slots = new Slots(makeEqual({ groupOf, concurrency: 100, typeCaps: { 'a/1': 1 } }))
        if (hasLevel) slots.pause('a/3')
        for (const type of ['a/1', 'b/1']) slots.run(type, 10, 20)
        for (const type of ['a/1', 'b/1']) slots.push(type, 20)
        assert.equal(slots.start(11), 'a/1' + 'b/1'.repeat(10))
        act(slots) // as new it would begin a short job's length after V, behind the next job of b
        assert.equal(slots.start()[0], 'a')
      })
    }
  }

  it('sees that types have come to be at their caps since the share was made less', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 10 }))
    for (const type of ['a', 'b']) {
      slots.pause(`${type}/2`) // so no type is alone in its group
      slots.push(`${type}/1`, 20)
    }
    slots.start(6)
    slots.scheduler.configure({ maxTypeShare: 0.3 })
    assert.equal(slots.start(), '')
    slots.scheduler.configure({ concurrency: 20 })
    assert.equal(slots.start(20).length, 3 * 6)
    slots.scheduler.configure({ concurrency: 20 })
    assert.equal(slots.start(), '')
  })

  it('knows of starts that it has not chosen, and of lanes that it was not told of', function () {
    const slots = new Slots(makeEqual({ groupOf, concurrency: 9 }))
    slots.lane('a/1').size = 2
    slots.begin('a/1')
    slots.cancel('a/1')
    slots.end('a/1', 1, 10)
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), true)
    assert.equal(slots.scheduler.groupCount, 0)
    assert.equal(slots.scheduler.forget(slots.lane('a/1')), true)
    slots.pause('a/2')
    slots.resume('a/2')
    assert.equal(slots.scheduler.groupCount, 1)
    assert.doesNotThrow(() => slots.scheduler.charged(slots.lane('a/2'), 5, 0))
  })

  const actions = {
    'pushes a job of the type': (queue, type) => queue.pushType(type, 'inner'),
    'pushes one of another type': (queue, type) => queue.pushType(`${type}'`, 'other'),
    'clears the type': (queue, type) => queue.clear({ type }),
    'clears the queue': queue => queue.clear(),
    'pauses and resumes the type': (queue, type) => queue.pauseType(type).resumeType(type),
    'configures the scheduler': queue => queue.scheduler.configure({ groupCaps: { g: 5 } })
  }
  for (const [what, act] of Object.entries(actions)) {
    it(`copes with a groupOf that ${what}`, async function () {
      let depth = 0
      const groupOf = type => {
        if (++depth < 3) act(queue, type)
        depth--
        return 'g'
      }
      const queue = fairlane((payload, done) => setImmediate(done), { scheduler: 'equal', schedulerOptions: { groupOf } })
      for (let i = 0; i < 9; i++) queue.pushType(`${i % 3}`, 'outer')
      await queue.onIdle()
      await quiet()
      const { accepted, done, cancelled, groups, types, waiting } = queue.stats()
      assert.ok(accepted >= 9 && accepted === done + cancelled)
      assert.deepEqual([groups, types, waiting, warnings.seen], [0, 0, 0, []])
    })
  }

  it('copes with a groupOf that resumes the type for which it is asked, since that was paused before its first job came', async function () {
    const done = []
    const groupOf = type => {
      queue.resumeType(type)
      return 'g'
    }
    const queue = fairlane(async payload => done.push(payload), { scheduler: 'equal', schedulerOptions: { groupOf } }).pauseType('a')
    await queue.pushType('a', 1).onIdle()
    assert.deepEqual([done, queue.stats().groups, warnings.seen], [[1], 0, []])
  })

  it('tells the weights and the caps of types and groups, and what is known of a group', async function () {
    const gate = gates()
    const options = { groupOf, groupWeights: { a: 3 }, groupCaps: { a: 2.5, '': 0 }, typeCaps: { 'a/1': 1 }, weights: { 'a/1': 7 } }
    const queue = fairlane(gate.runner, { concurrency: 10, scheduler: 'equal', schedulerOptions: options })
    const { scheduler } = queue
    assert.ok(scheduler instanceof Groups)
    assert.deepEqual([scheduler.capOf('a/1'), scheduler.capOf('b/1'), scheduler.weightOf('a/1'), scheduler.weightOf('b/1')], [1, 10, 7, 1])
    assert.deepEqual([scheduler.groupCapOf('a'), scheduler.groupCapOf('b'), scheduler.groupCapOf('')], [3, 10, 0])
    assert.deepEqual([scheduler.groupWeightOf('a'), scheduler.groupWeightOf('b'), scheduler.groupWeightOf(undefined)], [3, 1, 1])
    assert.deepEqual([scheduler.isNamed('a/1'), scheduler.isNamed('a/2'), scheduler.isNamed('a')], [true, false, false])
    assert.deepEqual(scheduler.groupStats('a/1'), { group: 'a', running: 0, cap: 3, waitingTypes: 0, cappedTypes: 0 })
    for (let i = 0; i < 3; i++) queue.pushType('a/1', i).pushType('a/2', i)
    await gate.until(3)
    assert.deepEqual(scheduler.groupStats('a/9'), { group: 'a', running: 3, cap: 3, waitingTypes: 2, cappedTypes: 1 })
    assert.equal(queue.explain('a/2').because, 'group-cap')
    assert.equal(queue.explain('a/1').because, 'cap')
    queue.pauseType('a/2')
    assert.equal(scheduler.groupStats('a/9').waitingTypes, 1)
  })

  it('tells what is known of a group without a name, if the type has a lane', function () {
    const slots = new Slots(makeEqual({ groupOf: () => undefined, groupWeights: () => 5, maxGroupCap: 3 }))
    slots.push('a', 9)
    slots.start(9)
    const { scheduler } = slots
    assert.deepEqual(scheduler.groupStats('a', slots.lane('a')), { group: undefined, running: 3, cap: 3, waitingTypes: 1, cappedTypes: 0 })
    assert.deepEqual(scheduler.groupStats('a'), { group: undefined, running: 0, cap: 3, waitingTypes: 0, cappedTypes: 0 })
    assert.equal(scheduler.groupWeightOf(undefined), 1)
  })

  it('has no queue warned whose types are all at a cap of 0', function () {
    assert.equal(makeEqual({ groupOf }).mayStall, true)
  })

  describe('a type that was alone in its group', function () {
    const charges = { time: [10, 1], cost: [1, 10], 'cost*time': [5, 1] } // ms and cost of a job

    for (const [chargeBy, [ms, cost]] of Object.entries(charges)) {
      it(`is even with the second one, whatever it has used by ${chargeBy}`, function () {
        const slots = new Slots(makeEqual({ groupOf: () => 'g', chargeBy, concurrency: 4 }))
        for (let i = 0; i < 100; i++) {
          slots.push('old')
          slots.start()
          slots.end('old', 1, ms, cost)
        }
        for (const type of ['old', 'new']) slots.push(type, 100)
        let order = ''
        for (let i = 0; i < 40; i++) {
          const type = slots.start()
          slots.end(type, 1, ms, cost)
          order += type[0]
        }
        assert.ok([19, 20, 21].includes(order.split('n').length - 1), order)
      })
    }

    for (const chargeBy of ['time', 'cost*time']) {
      it(`is charged by ${chargeBy} for the jobs that it runs then, and at once`, function () {
        const slots = new Slots(makeEqual({ groupOf, chargeBy, concurrency: 10 }))
        slots.now = 300
        slots.push('a/old', 100)
        slots.start(2)
        slots.end('a/old', 0, 1000)
        slots.run('b', 0)
        slots.push('a/new', 100)
        const { state } = slots.lane('a/old')
        const { level } = state.frame.group
        assert.equal(state.key, 2000)
        slots.end('a/old', 1, 50)
        assert.equal(level.keyOf(state), 2100)
        slots.end('a/old', 1, 50)
        assert.deepEqual([level.keyOf(state), state.startSum, level.runningCount], [2150, 0, 0])
      })
    }

    it('starts no job at its cap, and none while it is paused', function () {
      const slots = new Slots(makeEqual({ groupOf, typeCaps: { 'a/1': 1 } }))
      slots.push('a/1', 4)
      assert.equal(slots.start(3), 'a/1')
      assert.deepEqual(slots.scheduler.groupStats('a/1'), { group: 'a', running: 1, cap: 10, waitingTypes: 1, cappedTypes: 1 })
      slots.scheduler.configure({ typeCaps: { 'a/1': 2 } })
      assert.equal(slots.start(3), 'a/1')
      slots.scheduler.configure({ typeCaps: null })
      slots.pause('a/1')
      assert.equal(slots.start(3), '')
      assert.equal(slots.scheduler.groupStats('a/1').waitingTypes, 0)
      slots.resume('a/1')
      assert.equal(slots.start(3), 'a/1a/1')
    })

    it('has its place among all groups while all slots are taken', function () {
      const slots = new Slots(makeEqual({ groupOf, concurrency: 1 }))
      slots.push('a/1', 3)
      slots.push('b/1', 3)
      slots.start()
      assert.equal(slots.scheduler.groupStats('a/1').cappedTypes, 0)
    })

    it('has its share of the group told, and what a second one would have', function () {
      const slots = new Slots(makeEqual({ groupOf, weights: { 'a/1': 2 } }))
      slots.push('a/1')
      assert.deepEqual(['a/1', 'a/2'].map(type => slots.scheduler.shareOf(type)), [1, 1 / 2])
    })

    it('leaves all of the group to another type while it is paused, and is weighed against it while one job waits and one runs', function () {
      const slots = new Slots(makeEqual({ groupOf, weights: { 'a/1': 4, 'a/2': 2 } }))
      slots.push('a/1', 2)
      slots.start()
      assert.equal(slots.scheduler.shareOf('a/2'), 1 / 2)
      slots.end('a/1')
      slots.pause('a/1')
      assert.equal(slots.scheduler.shareOf('a/3'), 1)
      assert.equal(slots.scheduler.shareOf('a/2'), 1)
    })

    it('copes with weights that clear the second one when they are asked for the first', function () {
      const slots = new Slots(makeEqual({ groupOf: () => 'g', weights: type => { if (type === 'a') forgetB(); return 1 } }))
      const forgetB = () => {
        const b = slots.lane('b')
        b.size = 0
        slots.scheduler.removed(b)
        slots.scheduler.forget(b)
      }
      slots.push('a', 2)
      slots.push('b', 1)
      assert.equal(slots.lane('b').state, undefined)
      slots.push('c', 2)
      assert.equal(slots.scheduler.groupStats('a').waitingTypes, 2)
      for (let i = 0; i < 4; i++) slots.end(slots.start(), 1, 1)
      slots.end('a', 0, 1000)
      for (const type of 'ac') slots.scheduler.forget(slots.lane(type))
      assert.equal(slots.scheduler.groupCount, 0)
    })
  })

  it('says how many other types may be served before a job', async function () {
    const gate = gates()
    const queue = fairlane(gate.runner, { concurrency: 1, scheduler: 'equal', schedulerOptions: { groupOf } })
    queue.pushType('a/0', 0)
    await gate.until(1)
    queue.pushType('a/1', 1).pushType('a/2', 2).pushType('b/1', 3).pushType('b/2', 4)
    assert.deepEqual(['a/1', 'b/2'].map(type => queue.explain(type, { ahead: true }).ahead), [2, 3])
  })

  it('has the page of fairness weigh a type by what it may expect of its group', function () {
    const slots = new Slots(makeEqual({ groupOf, groupWeights: { a: 6 }, weights: { 'a/1': 2 } }))
    for (const type of ['a/1', 'a/2', 'b/1']) slots.push(type)
    assert.deepEqual(['a/1', 'a/2', 'b/1', 'c/1'].map(type => slots.scheduler.shareOf(type)), [4, 2, 1, 1])
    slots.pause('b/1')
    assert.equal(slots.scheduler.shareOf('b/1'), 1)
    for (const type of ['a/1', 'a/2']) slots.pause(type)
    assert.equal(slots.scheduler.shareOf('a/1'), 6)
  })

  it('has it weigh types by their parts where weights are large, too', function () {
    const slots = new Slots(makeEqual({ groupOf, weights: { 'a/1': 2 ** 42, 'a/2': 2 ** 40 } }))
    for (const type of ['a/1', 'a/2']) slots.push(type)
    assert.deepEqual(['a/1', 'a/2'].map(type => slots.scheduler.shareOf(type)), [4 / 5, 1 / 5])
  })
})
