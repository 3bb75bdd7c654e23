'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Queue } = require('../..')
const { DistributedQueue } = require('../../lib/distributed')
const { DurableQueue } = require('../../lib/durable')
const { PersistentQueue } = require('../../lib/log')
const { History } = require('../../lib/history')
const { Metrics } = require('../../lib/metrics')
const { KeptQueue } = require('../../lib/core/internals')
const { LIMIT_NAMES: limitOptions, names: queueOptions } = require('../../lib/core/options')
const { names: unsupported } = require('../../lib/core/unsupported')
const { root } = require('../support/child')

const read = file => readFileSync(join(root, file), 'utf8')
const ownOf = ({ prototype }) => Object.getOwnPropertyNames(prototype).filter(name => name !== 'constructor')

/** ... with what it has in common with others whose jobs are kept elsewhere. */
const membersOf = Class => [...new Set([...ownOf(Class), ...Class.prototype instanceof KeptQueue ? ownOf(KeptQueue) : []])].sort()

describe('each method and property of a queue', () => {
  const names = membersOf(Queue).filter(name => !unsupported.includes(name))

  it('has a heading in docs/reference/api.md, and no heading lacks one', () => {
    const headings = read('docs/reference/api.md').matchAll(/^## queue\.(\w+)/gm)
    assert.deepEqual([...headings].map(([, name]) => name).sort(), names)
  })

  it('is declared in index.d.ts, and no declaration lacks one', () => {
    assert.deepEqual(declaredIn(bodyOf('interface Queue', read('index.d.ts'))), names)
  })
})

describe('each method that queues in memory have not', () => {
  it('is in a table of docs/reference/api.md, and nothing else is', () => {
    assert.deepEqual(firstCellsOf('What only other queues have', 'docs/reference/api.md'), [...unsupported].sort())
  })
})

describe('each option of a queue', () => {
  it('has a heading in docs/reference/api.md and is declared in index.d.ts, and no other', () => {
    const headings = read('docs/reference/api.md').matchAll(/^### options\.(\w+)/gm)
    assert.deepEqual([...headings].map(([, name]) => name).sort(), [...queueOptions].sort())
    assert.deepEqual(declaredIn(bodyOf('interface QueueOptions', read('index.d.ts'))), [...queueOptions, ...limitOptions].sort())
  })

  it('is in a table of docs/reference/limits.md if it is one of limits, and so is what can be said of a job', () => {
    const named = ['Rates', 'Attempts', 'Keys', 'Priorities'].flatMap(section => firstCellsOf(section, 'docs/reference/limits.md')).sort()
    const ofJobs = declaredIn(bodyOf('interface PlanOptions', read('index.d.ts'))).filter(name => name !== 'delayMs' && name !== 'cost') // which have sections
    assert.deepEqual(named, [...new Set([...limitOptions, ...ofJobs])].sort())
  })
})

const onDisk = [
  { title: 'a job queue on disk', Class: DurableQueue, section: 'Calls of job queues', page: 'docs/reference/durable.md', statics: [], declarations: 'lib/durable/index.d.ts' },
  { title: 'a queue of bytes', Class: PersistentQueue, section: 'Calls of queues of bytes', page: 'docs/reference/log.md', statics: ['open', 'remove'], declarations: 'lib/log/index.d.ts' }
]
for (const { title, Class, section, page, statics, declarations } of onDisk) {
  describe(`each method and property of ${title}`, () => {
    const names = [...membersOf(Class), ...statics].sort()

    it(`is in a table of ${page}, and nothing else is`, () => {
      assert.deepEqual(firstCellsOf(section, page), names)
    })

    it(`is declared in ${declarations}, and nothing else is`, () => {
      assert.deepEqual(declaredIn(bodyOf(`export class ${Class.name}`, read(declarations))), names)
    })
  })
}

const observing = [
  { title: 'a history', Class: History, page: 'docs/reference/history.md', statics: ['open'], declarations: 'lib/history/index.d.ts', options: 'HistoryOptions' },
  { title: 'metrics', Class: Metrics, page: 'docs/reference/observe.md', statics: [], declarations: 'lib/metrics/index.d.ts', options: 'MetricsOptions' }
]
for (const { title, Class, page, statics, declarations, options } of observing) {
  describe(`each method and option of ${title}`, () => {
    it(`is in a table of ${page}, and nothing else is`, () => {
      assert.deepEqual([...new Set(firstCellsOf('Calls', page))], [...membersOf(Class), ...statics].sort())
      const named = firstCellsOf('Options', page)
      for (const name of named) assert.throws(() => new Class({ [name]: null }), { code: 'FAIRLANE_ERR_OPTION' }, name)
      assert.deepEqual(named, declaredIn(bodyOf(`export interface ${options}`, read(declarations))))
    })

    it(`is declared in ${declarations}, and nothing else is`, () => {
      assert.deepEqual(declaredIn(bodyOf(`export class ${Class.name}`, read(declarations))), [...membersOf(Class), ...statics].sort())
    })
  })
}

describe('each option and member of an admission', () => {
  it('is in a table of docs/reference/http.md and declared in lib/http/index.d.ts, and nothing else is', () => {
    const { names } = require('../../lib/http/options')
    const { admission } = require('../../lib/http')
    const declarations = read('lib/http/index.d.ts')
    const isOfQueues = name => [...queueOptions, ...limitOptions].includes(name)
    const declared = declaredIn(bodyOf('export interface AdmissionOptions', declarations))
    assert.deepEqual(firstCellsOf('Options', 'docs/reference/http.md'), declared)
    assert.deepEqual(declared.filter(name => !isOfQueues(name)), names.filter(name => !isOfQueues(name)).sort())
    const members = Object.keys(admission()).sort()
    assert.deepEqual(declaredIn(bodyOf('export interface Admission', declarations)).sort(), members)
    const [, table] = /^## Calls\n([^]*?)^## /m.exec(read('docs/reference/http.md'))
    assert.deepEqual([...table.matchAll(/`admit\.(\w+)/g)].map(([, name]) => name).sort(), members)
  })
})

describe('each method and property of a queue at a broker', () => {
  const names = membersOf(DistributedQueue)

  it('is in a table of docs/reference/distributed.md, and nothing else is', () => {
    assert.deepEqual(firstCellsOf('Calls', 'docs/reference/distributed.md'), names)
  })

  it('is declared in lib/distributed/index.d.ts, and nothing else is', () => {
    assert.deepEqual(declaredIn(bodyOf('export class DistributedQueue', read('lib/distributed/index.d.ts'))), names)
  })
})

describe('each option of', () => {
  it('a queue at a broker is in the table of docs/reference/distributed.md', () => {
    const own = declaredIn(bodyOf('export interface DistributedOptions', read('lib/distributed/index.d.ts')))
    assert.deepEqual(firstCellsOf('Options', 'docs/reference/distributed.md'), own)
  })

  const declarations = read('lib/durable/index.d.ts')
  const ofLogs = declaredIn(bodyOf('export interface LogOptions', read('lib/log/index.d.ts')))

  it('a queue of bytes is in the table of docs/reference/log.md and is checked', async () => {
    assert.deepEqual(firstCellsOf('Options of queues of bytes', 'docs/reference/log.md'), ofLogs)
    for (const name of ofLogs) assert.throws(() => PersistentQueue.open('folder', { [name]: null }), { code: 'FAIRLANE_ERR_OPTION' }, name)
  })

  it('a job queue on disk is in the table of docs/reference/durable.md', () => {
    const own = [...limitOptions, ...declaredIn(bodyOf('export interface DurableOptions', declarations)).filter(name => !limitOptions.includes(name))]
    const named = firstCellsOf('Options of job queues', 'docs/reference/durable.md')
    assert.deepEqual(named.filter(name => !queueOptions.includes(name)), [...ofLogs, ...own].sort())
  })
})

/** What stands between the braces of a declaration. */
function bodyOf (beginning, text) {
  const [, , body] = text.match(new RegExp(`^( *)${beginning}\\b[^{]*\\{\\n([^]*?)^\\1\\}$`, 'm'))
  return body
}

/** The names of members that stand at the outermost level of a declaration. */
function declaredIn (body) {
  const [indent] = body.match(/^ */)
  const declared = body.matchAll(new RegExp(`^${indent}(?:static |readonly |get |set )?(\\w+)(?:<\\w+>)?\\??(?: \\(|:)`, 'gm'))
  return [...new Set([...declared].map(([, name]) => name))].filter(name => name !== 'constructor').sort()
}

/** What the first cells of a section's tables name in code: `push`, `push(payload)`, `PersistentQueue.open(path)`. */
function firstCellsOf (heading, page) {
  const section = read(page).split(/^#+ /m).find(text => text.startsWith(`${heading}\n`))
  const cells = [...section.matchAll(/^\| (\[?`.*?) \|/gm)].map(([, cell]) => cell)
  const names = cells.flatMap(cell => [...cell.matchAll(/`(?:PersistentQueue\.|History\.)?(\w+)(?:\(.*?\))?`/g)].map(([, name]) => name))
  return names.sort()
}
