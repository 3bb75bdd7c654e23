'use strict'

// The result files: results/<case>-node<major>.json, one per case and Node major; results/<case>.json for cases whose results
// are the same everywhere.

const fs = require('node:fs')
const path = require('node:path')
const { withSummaries } = require('./schedule')

const FOLDER = path.join(__dirname, 'results')
const NAME = /^(.+)-node(\d+)\.json$/
const DETERMINISTIC_NAME = /^((?!.*-node\d+\.json).+)\.json$/

/**
 * @param {object} report what runCase made
 * @param {string} [id] what it is kept as, if not as its case
 * @returns {string} the file's path, from the repository's root
 */
function saveResult (report, id = report.case) {
  const name = report.isDeterministic ? `${id}.json` : `${id}-node${report.environment.major}.json`
  fs.mkdirSync(FOLDER, { recursive: true })
  fs.writeFileSync(path.join(FOLDER, name), JSON.stringify(report, roundedNumber, 1) + '\n')
  return `bench/results/${name}`
}

/**
 * For JSON.stringify: five significant digits are more than any measurement here has.
 * @param {string} key
 * @param {any} value
 * @returns {any}
 */
function roundedNumber (key, value) {
  if (typeof value !== 'number' || Number.isInteger(value)) return value
  return Number(value.toPrecision(5))
}

/** @returns {number[]} the Node majors that have result files, oldest first */
function majorsWithResults () {
  const majors = new Set()
  for (const name of fileNames()) {
    const match = NAME.exec(name)
    if (match) majors.add(Number(match[2]))
  }
  return [...majors].sort((a, b) => a - b)
}

/**
 * @param {number} major of Node
 * @returns {Object<string, object>} by case
 */
function loadResults (major) {
  const results = {}
  for (const name of fileNames()) {
    const match = NAME.exec(name)
    if (match && Number(match[2]) === major) results[match[1]] = read(name)
  }
  return results
}

/** @returns {Object<string, object>} those that are the same for every Node, by case */
function loadDeterministicResults () {
  const results = {}
  for (const name of fileNames()) {
    const match = DETERMINISTIC_NAME.exec(name)
    if (match) results[match[1]] = read(name)
  }
  return results
}

function read (name) {
  return withSummaries(JSON.parse(fs.readFileSync(path.join(FOLDER, name), 'utf8')))
}

function fileNames () {
  return fs.existsSync(FOLDER) ? fs.readdirSync(FOLDER) : []
}

module.exports = { FOLDER, saveResult, roundedNumber, loadResults, loadDeterministicResults, majorsWithResults }
