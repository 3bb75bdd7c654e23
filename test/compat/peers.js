'use strict'

// Runs the tests that the installed peers bring, by the frameworks that they are written for, against the facades:
// `npm run test:compat`. What fails must be on the list of expected differences, and what is on it must fail.

const assert = require('node:assert')
const { dirname, join } = require('node:path')
const { node, root } = require('../support/child')

const REDIRECT = join(__dirname, 'redirect.js')

const OWN_SCHEDULERS = 'the schedulers by name are fairlane\'s own, with the options of quickq\'s'

// file → title → why it differs. quickq's other files test its own schedulers, which the facade has not.
const differences = {
  'fastq/test/test.js': {},
  'fastq/test/promise.js': {},
  'quickq/test/test-quickq.js': {
    'constructor - changing concurrency should propagate to scheduler': 'it does so at once, not only in resume',
    'enqueue - pushType should invoke push with the payload': 'it replaces the private _push',
    'enqueue - unshiftType should invoke unshift with the payload': 'it replaces the private _unshift',
    'enqueue - pushType should cast type to string': 'it reads the private _types',
    'enqueue - unshiftType should cast type to string': 'it reads the private _types',
    'running - should decrease runners to match concurrency': 'it reads runners, the number of quickq\'s loops',
    'running - should increase runners to match concurrency': 'it reads runners, the number of quickq\'s loops',
    'scheduler - constructor - should use built-in "fair scheduler': OWN_SCHEDULERS,
    'scheduler - constructor - should use built-in capped scheduler': OWN_SCHEDULERS
  }
}

describe('the tests of fastq', () => {
  for (const name of ['test.js', 'promise.js']) {
    it(`${name} end with the facade as with fastq itself`, async () => {
      const file = `fastq/test/${name}`
      const original = await runTape([], file)
      assert.notEqual(original.length, 0)
      const expected = original.map(({ title, asserted }) => ({ title, asserted, hasFailed: title in differences[file] }))
      assert.deepEqual(await runTape(['--require', REDIRECT], file), expected)
    })
  }
})

describe('the tests of quickq', () => {
  const file = 'quickq/test/test-quickq.js'
  const titles = titlesOf(require(join(root, 'node_modules', file)))

  it('are all there', () => {
    assert.equal(new Set(titles).size, titles.length)
    assert.deepEqual(Object.keys(differences[file]).filter(title => !titles.includes(title)), [])
  })

  for (const title of titles) {
    const reason = differences[file][title]
    it(reason === undefined ? `${title}: passes` : `${title}: differs: ${reason}`, async () => {
      assert.equal(await runQnit(file, title), reason === undefined)
    })
  }
})

/** @returns {Promise<{ title: string, asserted: number, hasFailed: boolean }[]>} from the TAP that tape prints */
async function runTape (args, file) {
  const { stdout } = await node([...args, join(root, 'node_modules', file)])
  const [tests] = stdout.split(/^1\.\.\d+$/m)
  return tests.split(/^# /m).slice(1).map(text => ({
    title: text.slice(0, text.indexOf('\n')),
    asserted: text.match(/^(not )?ok /gm)?.length ?? 0,
    hasFailed: /^not ok /m.test(text)
  }))
}

/** One test per process: an assertion that fails in a callback ends qnit. @returns {Promise<boolean>} whether it passed */
async function runQnit (file, title) {
  const manifest = require.resolve('qnit/package.json')
  const bin = join(dirname(manifest), require(manifest).bin.qnit)
  const filter = `^${title.replaceAll(/[^\w ]/g, '\\$&')}$`
  const { code, stdout } = await node(['--require', REDIRECT, bin, '--filter', filter, join(root, 'node_modules', file)])
  if (code === 0) assert.match(stdout, / 1 tests/)
  return code === 0
}

/** The names of nested tests as qnit joins them. */
function titlesOf (tests, path = []) {
  return Object.entries(tests).flatMap(([name, test]) => {
    if (name === 'beforeEach') return []
    return typeof test === 'function' ? [[...path, name].join(' - ')] : titlesOf(test, [...path, name])
  })
}
