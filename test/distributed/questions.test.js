'use strict'

// What is asked of the broker in a turn goes to it together. The client stands in for ioredis: it answers what it is asked.

const assert = require('node:assert')
const { Questions } = require('../../lib/distributed/broker/questions')

describe('questions to the broker', () => {
  let sent, exec, questions

  beforeEach(() => {
    sent = []
    exec = async calls => calls.map(([name, ...args]) => name === 'fails' ? [new Error(args[0])] : [null, `${name} ${args}`])
    questions = new Questions({
      client: {
        pipeline (calls) {
          sent.push(calls)
          return { exec: () => exec(calls) }
        }
      }
    })
  })

  it('of one turn go together, also those that are asked in promise jobs, and each has its own answers', async () => {
    const later = async () => {
      await undefined
      return questions.ask([['c', 4]])
    }
    const answers = await Promise.all([questions.ask([['a', 1], ['b', 2]]), questions.ask([['a', 3]]), later()])
    assert.deepEqual(answers, [['a 1', 'b 2'], ['a 3'], ['c 4']])
    assert.deepEqual(sent, [[['a', 1], ['b', 2], ['a', 3], ['c', 4]]])
  })

  it('of another turn go by themselves', async () => {
    await questions.ask([['a', 1]])
    await questions.ask([['a', 2]])
    assert.deepEqual(sent, [[['a', 1]], [['a', 2]]])
  })

  it('fail with the first error among their own answers, and others do not', async () => {
    const [first, second, third] = await Promise.allSettled([
      questions.ask([['a', 1]]), questions.ask([['a', 2], ['fails', 'one'], ['fails', 'two']]), questions.ask([['a', 3]])
    ])
    assert.deepEqual([first.value, second.reason.message, third.value], [['a 1'], 'one', ['a 3']])
  })

  it('all fail that are sent together, if nothing can be sent', async () => {
    exec = async () => { throw new Error('closed') }
    const ends = await Promise.allSettled([questions.ask([['a', 1]]), questions.ask([['a', 2]])])
    assert.deepEqual(ends.map(({ reason }) => reason.message), ['closed', 'closed'])
  })

  it('go a thousand calls at a time, those of one question never apart', async () => {
    const ask = (count, name) => questions.ask(Array.from({ length: count }, (_, i) => [name, i]))
    const answers = await Promise.all([ask(600, 'a'), ask(0, 'b'), ask(400, 'c'), ask(1, 'd'), ask(1500, 'e')])
    assert.deepEqual(sent.map(calls => calls.length), [1000, 1, 1500])
    assert.deepEqual(answers.map(({ length }) => length), [600, 0, 400, 1, 1500])
    assert.deepEqual([answers[2][399], answers[4][1499]], ['c 399', 'e 1499'])
  })
})
