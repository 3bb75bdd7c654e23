'use strict'

// A queue at a broker as a page sees it, without a broker.

module.exports = { atBroker }

/** A queue whose broker has what the test says. `types`: a list, or the method. */
function atBroker ({ types = [], deadLetters = [], settings = {}, ...rest } = {}) {
  const calls = []
  const note = name => async (...args) => { calls.push([name, ...args]) }
  return {
    calls,
    closed: false,
    concurrency: 5,
    scheduler: { weightOf: type => type.length },
    ...Object.fromEntries(['pushType', 'pause', 'resume', 'clear', 'pauseGlobal', 'resumeGlobal'].map(name => [name, note(name)])),
    counts: async type => type === undefined
      ? { waiting: 9, delayed: 2, running: 3, dead: 1, types: 4 }
      : { cap: Infinity, rate: null, paused: false, ...settings[type] },
    types: typeof types === 'function' ? types : async () => types,
    deadLetters: async options => {
      calls.push(['deadLetters', options])
      return deadLetters
    },
    retryDead: async id => id === '1:a',
    deleteDead: async () => true,
    ...rest
  }
}
