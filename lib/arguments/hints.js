'use strict'

// What is said beside the name of an option that is unknown: where else it is one, or which one was meant.

module.exports = { hintOf }

/**
 * @param {string[]} names known ones
 * @param {Map<string, string>} [hints] what is said of some names, in place of the nearest known one
 */
function hintOf (name, names, hints) {
  if (hints !== undefined && hints.has(name)) return `; ${hints.get(name)}`
  const distances = names.map(known => editDistance(name.toLowerCase(), known.toLowerCase()))
  const least = Math.min(...distances)
  return 3 * least > name.length ? '' : `; did you mean '${names[distances.indexOf(least)]}'?`
}

/**
 * How many letters must be put in, taken out, changed, or swapped with the next one to make a into b
 * (Wagner and Fischer 1974; swaps as by Damerau 1964).
 */
function editDistance (a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = rows[i] = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1)
    }
  }
  return rows[a.length][b.length]
}
