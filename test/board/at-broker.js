'use strict'

// A queue at a broker as a page sees it, without a broker.

module.exports = { atBroker, ranked }

const METHODS = ['pushType', 'pause', 'resume', 'stats', 'pauseGlobal', 'resumeGlobal', 'hold', 'holdType', 'setGlobalCap', 'clear']

/** A queue whose broker has what the test says. `types` and `deadLetters`: a list, or the method. */
function atBroker ({ types = [], deadLetters = [], settings = {}, reasons = {}, ...rest } = {}) {
  const calls = []
  const note = name => async (...args) => { calls.push([name, ...args]) }
  return {
    calls,
    closed: false,
    concurrency: 5,
    scheduler: { weightOf: type => type.length },
    ...Object.fromEntries(METHODS.map(name => [name, note(name)])),
    counts: async type => {
      calls.push(['counts', type])
      return { cap: Infinity, rate: null, paused: false, ...settings[type] }
    },
    types: typeof types === 'function'
      ? types
      : async options => {
        calls.push(['types', options])
        return types
      },
    explain: async type => ({ because: 'idle', ...reasons[type] }),
    deadLetters: typeof deadLetters === 'function'
      ? deadLetters
      : async options => {
        calls.push(['deadLetters', options])
        return deadLetters
      },
    retryDead: async id => id === '1:a',
    deleteDead: async () => true,
    cancel: async id => id === '1:a',
    listRunning: async ({ type }) => [{ id: `1:${type}`, type, attempt: 1, startedAt: type.length, overdue: false }],
    ...rest
  }
}

/** What metrics tell of types, as far as a page looks at it. */
function ranked (types, { totals, ...more } = {}) {
  const none = { isType: true, group: undefined, waiting: 0, delayed: 0, running: 0, overdue: 0, dead: 0, done: 0, failed: 0, retried: 0 }
  return {
    name: 'mails',
    windowMs: 60000,
    typesCount: types.length,
    standstillMs: 0,
    fairness: undefined,
    starving: [],
    refused: {},
    timeline: [],
    ...more,
    totals: { overdue: 0, perSecond: 0, waitMs: {}, oldestWaitMs: undefined, done: 0, failed: 0, retried: 0, ...totals },
    types: types.map(row => ({ ...none, share: 0, ...row }))
  }
}
