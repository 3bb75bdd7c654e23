'use strict'

const assert = require('node:assert/strict')
const { Answers } = require('../../lib/board/answers')
const { fakeClock } = require('../../lib/testing')
const { quiet } = require('../support/turns')

describe('answers that clients share', function () {
  let clock, answers, asked

  beforeEach(function () {
    clock = fakeClock()
    answers = new Answers(clock)
    asked = []
  })

  const ask = (question, one = 'mails', answer = async () => question) => answers.share(one, question, () => {
    asked.push(`${one} ${question}`)
    return answer()
  })

  it('are a second old at most, counted from when they came', async function () {
    let answer
    const first = ask('a', 'mails', () => new Promise(resolve => { answer = resolve }))
    clock.advance(5000)
    const second = ask('a')
    answer(7)
    assert.deepEqual([await first, await second], [7, 7])
    await quiet()
    clock.advance(999)
    assert.equal(await ask('a'), 7)
    clock.advance(1)
    assert.equal(await ask('a'), 'a')
    assert.equal(asked.length, 2)
  })

  it('are failures, too', async function () {
    for (let i = 0; i < 2; i++) await assert.rejects(ask('a', 'mails', () => Promise.reject(new Error('away'))), { message: 'away' })
    assert.equal(asked.length, 1)
  })

  it('are those of one queue, until something is done to it', async function () {
    for (let i = 0; i < 2; i++) for (const one of ['mails', 'images']) await ask('a', one)
    answers.forget('mails')
    for (const one of ['mails', 'images']) await ask('a', one)
    assert.deepEqual(asked, ['mails a', 'images a', 'mails a'])
  })

  it('are a hundred at most for each queue: the oldest goes', async function () {
    for (let i = 0; i <= 100; i++) await ask(i)
    asked.length = 0
    for (const question of [1, 100, 0]) await ask(question)
    assert.deepEqual(asked, ['mails 0'])
  })

  it('go by when they were asked for last', async function () {
    for (let i = 0; i < 99; i++) await ask(i)
    clock.advance(1000)
    for (const question of [0, 99, 100]) await ask(question)
    asked.length = 0
    await ask(0)
    assert.deepEqual(asked, [])
  })

  it('are failures for a second only', async function () {
    await assert.rejects(ask('a', 'mails', () => Promise.reject(new Error('away'))), { message: 'away' })
    clock.advance(1000)
    assert.equal(await ask('a'), 'a')
  })
})
