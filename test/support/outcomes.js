'use strict'

// Callbacks that write down how their jobs ended.

module.exports = outcomes

/**
 * @returns {object} `callback(name)` makes a callback for the job of that name; `list` holds `[name, error, result]` in
 *   the order of the settlements; `of(name)` those of one job; `until(n)` a promise of the n-th settlement
 */
function outcomes () {
  const list = []
  let watchers = []

  function callback (name) {
    return function (error, result) {
      list.push([name, error, result])
      watchers = watchers.filter((watcher) => {
        if (watcher.count > list.length) return true
        watcher.resolve()
        return false
      })
    }
  }

  return {
    callback,
    list,
    of: (name) => list.filter((entry) => entry[0] === name),
    names: () => list.map((entry) => entry[0]),
    until (count) {
      if (list.length >= count) return Promise.resolve()
      return new Promise((resolve) => watchers.push({ count, resolve }))
    }
  }
}
