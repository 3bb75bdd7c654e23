'use strict'

// Makes tables of options in docs/reference of what the declarations say of each: npm run docs:options
// A table stands between `<!-- options:NAME:begin -->` and `<!-- options:NAME:end -->`. To change a row, change the docstring,
// and run this.

const { readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const ts = require('typescript')
const { root } = require('../support/child')

const JOB_LINKS = {
  delayMs: 'limits.md#delays',
  maxAttempts: 'limits.md#attempts',
  priority: 'limits.md#priorities',
  cost: 'limits.md#costs',
  key: 'limits.md#keys',
  onDuplicate: 'limits.md#keys',
  keyUntil: 'limits.md#keys',
  maxDelayMs: 'limits.md#keys'
}
const ON_DISK = '#keys-priorities-and-costs'

// name → page: where it stands; of: the interfaces whose members are its rows; links: of single options; isBrief: only the first sentence,
// since the page has a section for each
const TABLES = {
  queue: {
    page: 'docs/reference/api.md',
    of: [['index.d.ts', 'QueueOptions']],
    links: { rate: 'limits.md#rates', ratePerType: 'limits.md#rates', ...pick(JOB_LINKS, ['maxAttempts']), backoffMs: 'limits.md#attempts', priorityMs: 'limits.md#priorities' },
    sections: '#options',
    isBrief: true
  },
  add: { page: 'docs/reference/api.md', of: [['index.d.ts', 'AddOptions'], ['index.d.ts', 'PlanOptions']], links: JOB_LINKS },
  map: { page: 'docs/reference/api.md', of: [['index.d.ts', 'MapOptions']], links: pick(JOB_LINKS, ['cost']) },
  close: { page: 'docs/reference/api.md', of: [['index.d.ts', 'CloseOptions']] },
  push: {
    page: 'docs/reference/durable.md',
    of: [['index.d.ts', 'PlanOptions'], ['lib/durable/index.d.ts', 'PushOptions']],
    links: { priority: ON_DISK, cost: ON_DISK, key: ON_DISK, onDuplicate: ON_DISK, keyUntil: ON_DISK, maxDelayMs: ON_DISK }
  },
  log: { page: 'docs/reference/log.md', of: [['lib/log/index.d.ts', 'LogOptions']] },
  threads: {
    page: 'docs/reference/threads.md',
    of: [['lib/threads/index.d.ts', 'ThreadsOptions']],
    links: { perThread: '#several-jobs-at-a-time', transfer: '#retried-jobs' }
  },
  batches: { page: 'docs/reference/limits.md', of: [['index.d.ts', 'BatchesOptions']] },
  backoff: { page: 'docs/reference/limits.md', of: [['index.d.ts', 'BackoffOptions']] },
  adaptive: {
    page: 'docs/reference/adaptive.md',
    of: [['lib/adaptive/index.d.ts', 'AdaptiveOptions']],
    links: { classOf: '#jobs-of-different-lengths', isOverload: '#errors-that-say-overload' }
  },
  fetch: {
    page: 'docs/reference/fetch.md',
    of: [['lib/fetch/index.d.ts', 'FairFetchOptions']],
    links: {
      type: '#whose-call-it-is',
      until: '#until-when-a-call-has-its-slot',
      priorityMs: 'limits.md#priorities',
      asyncContext: 'api.md#optionsasynccontext',
      maxAttempts: '#which-calls-are-made-again'
    }
  },
  'fetch-call': { page: 'docs/reference/fetch.md', of: [['lib/fetch/index.d.ts', 'CallOptions']], links: { retry: '#which-calls-are-made-again' } },
  http: {
    page: 'docs/reference/http.md',
    of: [['lib/http/index.d.ts', 'AdmissionOptions']],
    links: {
      tenant: '#whose-request-is-it',
      exempt: '#health-checks',
      cost: 'limits.md#costs',
      until: '#streams-and-upgrades',
      maxWaiting: '#429-or-wait',
      maxWaitingPerType: '#429-or-wait',
      maxWaitMs: '#429-or-wait',
      asyncContext: 'api.md#optionsasynccontext'
    }
  },
  history: { page: 'docs/reference/history.md', of: [['lib/history/index.d.ts', 'HistoryOptions']] },
  distributed: {
    page: 'docs/reference/distributed.md',
    of: [['lib/distributed/index.d.ts', 'DistributedOptions']],
    links: {
      observers: 'observe.md#at-a-broker',
      globalTypeCap: '#caps-count-runners',
      globalTypeCaps: '#caps-count-runners',
      rate: '#rates',
      ratePerType: '#rates',
      globalConcurrency: '#limits-of-a-fleet',
      schedules: '#schedules'
    }
  },
  metrics: {
    page: 'docs/reference/observe.md',
    of: [['lib/metrics/index.d.ts', 'MetricsOptions']],
    links: { labelOf: 'schedulers.md#users-within-customers', windowMs: '#fairness', starveMs: '#starvation', clock: 'history.md#options' }
  },
  top: { page: 'docs/reference/observe.md', of: [['lib/metrics/index.d.ts', 'TopOptions']] },
  traced: { page: 'docs/reference/observe.md', of: [['lib/metrics/tracing.d.ts', 'TracedOptions']] },
  board: { page: 'docs/reference/board.md', of: [['lib/board/index.d.ts', 'BoardOptions']], links: { onAction: '#an-audit' } },
  'bull-board': { page: 'docs/reference/board.md', of: [['lib/board/bull-board.d.ts', 'BullBoardQueueOptions']] },
  'durable-close': { page: 'docs/reference/durable.md', of: [['lib/durable/index.d.ts', 'DurableCloseOptions']] },
  'scheduler-checks': { page: 'docs/reference/testing.md', of: [['lib/testing/index.d.ts', 'SchedulerChecksOptions']] }
}

const pagesOfTables = [...new Set(Object.values(TABLES).map(({ page }) => page))]

if (require.main === module) {
  for (const page of pagesOfTables) writeFileSync(join(root, page), made(page, readFileSync(join(root, page), 'utf8')))
}

module.exports = { TABLES, pages: pagesOfTables, made, optionsOf, parse }

/** @param {string} page its path @param {string} text @returns {string} the same, with what the declarations say between its markers */
function made (page, text) {
  for (const [name, table] of Object.entries(TABLES)) {
    if (table.page !== page) continue
    const [begin, end] = ['begin', 'end'].map(side => `<!-- options:${name}:${side} -->`)
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`${page} must have ${begin} and ${end}`)
    text = `${text.slice(0, from)}${begin}\n\n${tableOf(table)}\n\n${text.slice(to)}`
  }
  return text
}

function tableOf ({ of, links = {}, sections, isBrief = false }) {
  const rows = of.flatMap(([file, name]) => optionsOf(file, name)).map(({ name, type, fallback, meaning }) => {
    const target = links[name] ?? (sections === undefined ? undefined : `${sections}${name.toLowerCase()}`)
    const option = target === undefined ? `\`${name}\`` : `[\`${name}\`](${target})`
    return [option, `\`${type}\``, fallback, isBrief ? firstSentence(meaning) : meaning].map(cell => withCodes(cell).replaceAll('|', '\\|')).join(' | ')
  })
  return ['| option | type | default | meaning |', '|---|---|---|---|', ...rows.map(row => `| ${row} |`)].join('\n')
}

/**
 * @param {string} file with the declarations
 * @param {string} name of an interface in it
 * @returns {{ name: string, type: string, fallback: string, meaning: string }[]} its own members, in their order; the last two in Markdown
 */
function optionsOf (file, name) {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const found = []
  source.forEachChild(function look (node) {
    if (ts.isInterfaceDeclaration(node) && node.name.text === name) found.push(node)
    node.forEachChild(look)
  })
  if (found.length !== 1) throw new Error(`${file} must have one interface ${name}`)
  return found[0].members.map(member => {
    const { meaning, fallback } = parse(ts.getJSDocCommentsAndTags(member).map(comment => comment.getText()).join(''))
    const isOptional = member.questionToken !== undefined
    return { name: member.name.text, type: typeText(member.type), fallback: isOptional ? fallback ?? '–' : 'required', meaning }
  })
}

/** @param {string} comment with its slashes and stars @returns {{ meaning: string, fallback: string | undefined }} */
function parse (comment) {
  const text = comment.replace(/^\/\*\*|\*\/$/g, '').replace(/^\s*\* ?/gm, '').trim()
  const [said, ...tags] = text.split(/(?:^|\s+)@(?=[a-z])/)
  const tag = tags.find(tag => tag.startsWith('default '))?.slice('default '.length)
  const [sentence, inWords] = /(?:^|\s+)Default:\s+((?:`[^`]*`|[^.`]|\.(?=\S))*)\.(?=\s|$)/.exec(said) ?? []
  const meaning = (sentence === undefined ? said : said.replace(sentence, '')).replace(/\s+/g, ' ').trim()
  return { meaning, fallback: tag === undefined ? inWords?.replace(/\s+/g, ' ') : codeOf(tag.replace(/\s+/g, ' ').trim()) }
}

/** A value is code, and words are not. */
function codeOf (text) {
  return /^(?:-?[\d.]+|true|false|null|Infinity|\{\}|'[^']*')$/.test(text) ? `\`${text}\`` : text
}

function typeText (type) {
  const text = type.getText().replace(/\s+/g, ' ').replace(/ \| undefined$/, '')
  return /^\([^()]*\([^()]*\)[^()]*\)$/.test(text) ? text.slice(1, -1) : text
}

function firstSentence (text) {
  return /^.*?\.(?=\s[A-Z`]|$)/.exec(text)[0]
}

/** Codes of errors are code. */
function withCodes (text) {
  return text.replace(/(?<!`)\bFAIRLANE_\w+/g, '`$&`')
}

function pick (object, names) {
  return Object.fromEntries(names.map(name => [name, object[name]]))
}
