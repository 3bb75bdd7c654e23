'use strict'

/** @returns {(List: Function) => Function} as `extend`, but with one class for all queues: with one for each, none would ever get fast */
function oncePer (extend) {
  const made = new WeakMap()
  return List => {
    if (!made.has(List)) made.set(List, extend(List))
    return made.get(List)
  }
}

module.exports = { oncePer }
