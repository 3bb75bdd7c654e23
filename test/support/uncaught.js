'use strict'

// Collects uncaught exceptions and process warnings, so that a test can expect them. All other listeners (the test
// framework's, Node's own printer of warnings) rest until `release`.

module.exports = { captureUncaught, captureWarnings }

/**
 * @returns {{ seen: any[], until: (count: number) => Promise<void>, release: () => void }} `seen` in order of
 *   appearance; `release` must be called
 */
function captureUncaught () {
  return capture('uncaughtException')
}

/** The same for `process.emitWarning`. */
function captureWarnings () {
  return capture('warning')
}

function capture (event) {
  const seen = []
  const others = process.listeners(event)
  let watchers = []

  function listener (value) {
    seen.push(value)
    watchers = watchers.filter((watcher) => {
      if (watcher.count > seen.length) return true
      watcher.resolve()
      return false
    })
  }

  others.forEach((other) => process.removeListener(event, other))
  process.on(event, listener)

  return {
    seen,
    until (count) {
      if (seen.length >= count) return Promise.resolve()
      return new Promise((resolve) => watchers.push({ count, resolve }))
    },
    release () {
      process.removeListener(event, listener)
      others.forEach((other) => process.on(event, other))
    }
  }
}
