'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { BENCH, PACKAGE, subjectsOf } = require('../../bench/compare')
const { CASES, loadCase } = require('../../bench/schedule')

const ROOT = path.join(__dirname, '../..')

it('a comparison has all files that the bench loads', () => {
  const files = BENCH.flatMap(folder => fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .filter(name => name.endsWith('.js') && !name.includes('.peers'))
    .map(name => path.join(ROOT, folder, name)))
  assert(files.length > 50)
  for (const file of files) {
    for (const [, name] of fs.readFileSync(file, 'utf8').matchAll(/require\('(\.[^']*)'\)/g)) {
      const loaded = path.relative(ROOT, path.resolve(path.dirname(file), name)) || '.'
      const isThere = loaded === '.' || [...PACKAGE, ...BENCH].some(one => loaded === one.replace(/\.js$/, '') || `${loaded}/`.startsWith(`${one}/`))
      assert(isThere, `${path.relative(ROOT, file)} loads ${loaded}`)
    }
  }
})

describe('what is compared of a case', () => {
  const cases = CASES.map(loadCase)

  for (const benchCase of cases.filter(({ brief }) => brief !== undefined)) {
    it(`is all of it, or in brief the cells that stand for it: ${benchCase.name}`, () => {
      const ids = benchCase.cells({ quick: false }).map(({ id }) => id)
      assert.deepEqual(benchCase.brief.filter(id => !ids.includes(id)), [])
      const [whole, brief] = [false, true].map(brief => subjectsOf(benchCase, { brief }))
      assert.deepEqual([...new Set(whole.map(({ cell }) => cell.id))], ids)
      assert.deepEqual([...new Set(brief.map(({ cell }) => cell.id))], ids.filter(id => benchCase.brief.includes(id)))
    })
  }

  it('is all of it in brief, too, where the case names no cells', () => {
    const features = loadCase('features')
    assert.equal(subjectsOf(features, { brief: true }).length, subjectsOf(features, {}).length)
  })

  it('has the label that is asked for, also in brief', () => {
    const subjects = subjectsOf(loadCase('schedulers'), { brief: true, only: 'setImmediate' })
    assert.deepEqual([...new Set(subjects.map(({ cell }) => cell.id))], ['setImmediate-1e4'])
  })
})
