'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')
const { declarations } = require('../package/surface')
const { TABLES, pages, made, optionsOf, parse } = require('./options')

// Options that are in no table that is made of them, and where a reader finds them.
const WRITTEN_BY_HAND = {
  CappedOptions: 'api.md, one table for all schedulers',
  FairOptions: 'api.md, one table for all schedulers',
  EqualOptions: 'api.md, one table for all schedulers',
  EqualTypeOptions: 'api.md, one table for all schedulers',
  EqualGroupsOptions: 'schedulers.md',
  ListOptions: 'history.md, beside the calls',
  SumOptions: 'history.md, beside the calls',
  ChannelsOptions: 'observe.md: three of those of metrics',
  TraceAlarmsOptions: 'observe.md, two, in its text',
  PersistentQueueOptions: 'log.md: those of logs',
  DurableOptions: 'durable.md, beside those of queues in memory and of logs',
  DurableAddOptions: 'durable.md, beside the calls',
  DistributedPushOptions: 'distributed.md: those of durable.md, and what differs',
  DistributedAddOptions: 'distributed.md, beside the calls',
  EngineOptions: 'testing.md, with what each returns'
}

const read = page => readFileSync(join(root, page), 'utf8')

describe('the tables of options in', () => {
  for (const page of pages) {
    it(`${page} say what the declarations say: npm run docs:options`, () => {
      const text = read(page)
      assert.equal(text, made(page, text))
    })
  }

  it('docs/reference are of all options that are declared, but for those that are written by hand', () => {
    const declared = declarations().flatMap(file => [...read(file).matchAll(/^ *(?:export )?interface (\w+Options)\b/gm)].map(([, name]) => name))
    const inTables = Object.values(TABLES).flatMap(({ of }) => of.map(([, name]) => name))
    assert.deepEqual([...new Set(declared)].sort(), [...new Set([...inTables, ...Object.keys(WRITTEN_BY_HAND)])].sort())
  })

  it('docs/reference say of each option what it means', () => {
    for (const { of } of Object.values(TABLES)) {
      for (const [file, name] of of) for (const option of optionsOf(file, name)) assert.notEqual(option.meaning, '', `${option.name} of ${name}`)
    }
  })

  it('docs/reference/api.md have the defaults that its sections have', () => {
    const sections = new Map([...read('docs/reference/api.md').matchAll(/^### options\.(\w+)\n\nDefault: (`[^`]*`)/gm)].map(([, name, value]) => [name, value]))
    const options = optionsOf('index.d.ts', 'QueueOptions').filter(({ fallback }) => fallback.startsWith('`'))
    const compared = options.filter(({ name }) => sections.has(name))
    assert(compared.length >= 10)
    for (const { name, fallback } of compared) assert.equal(sections.get(name), fallback, name)
  })
})

describe('an option of a queue that has another default', () => {
  const table = [
    { of: 'an admission', table: 'http', defaults: require('../../lib/http/options').readAdmissionOptions({}).ofQueue },
    { of: 'a fetch', table: 'fetch', defaults: require('../../lib/fetch/options').readOptions({}).queue }
  ]
  for (const { of, table: name, defaults } of table) {
    it(`in ${of} is in its table with it`, () => {
      const [declared] = TABLES[name].of
      const inTable = optionsOf(...declared).filter(({ name }) => name in defaults)
      const { settleBy, ...others } = defaults
      assert.deepEqual(Object.fromEntries(inTable.map(({ name, fallback }) => [name, fallback])), codesOf(others))
    })
  }

  /** As cells have them. */
  function codesOf (values) {
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? `\`'${value}'\`` : `\`${value}\``]))
  }
})

describe('a table of options', () => {
  it('needs a place, and an interface', () => {
    assert.throws(() => made('docs/reference/log.md', 'a page'), /must have <!-- options:log:begin -->/)
    assert.throws(() => optionsOf('index.d.ts', 'NoOptions'), /one interface NoOptions/)
  })

  it('has what a comment says, and the default in its own column', () => {
    assert.deepEqual(parse('/** How many. @default 2 */'), { meaning: 'How many.', fallback: '`2`' })
    assert.deepEqual(parse('/** Which one. @default 1; with a Cluster 16 */'), { meaning: 'Which one.', fallback: '1; with a Cluster 16' })
    assert.deepEqual(parse('/**\n   * Which\n   * one. Default: those of Node.js. Not more.\n   */'), { meaning: 'Which one. Not more.', fallback: 'those of Node.js' })
    assert.deepEqual(parse('/** Where. Default: `os.cpus()`. @throws FAIRLANE_ERR_OPTION */'), { meaning: 'Where.', fallback: '`os.cpus()`' })
    assert.deepEqual(parse('/**\n   * Which one. Default:\n   * the last one.\n   */'), { meaning: 'Which one.', fallback: 'the last one' })
    assert.deepEqual(parse('/** A name. */'), { meaning: 'A name.', fallback: undefined })
  })
})
