'use strict'

// The durable queues, the pools of threads, and the limiters of others that are compared: not dependencies of this repository, since they
// need a compiler, Python or Go, or are for nothing else. They are put into bench/.peers, which git ignores, by `--peers`;
// docs/decisions/0036-durable-peers.md says why.
//
//   .peers/python/               a virtual environment with RocksQ
//   .peers/node<major>/<name>/   a package from npm with all that it needs
//   .peers/pqueue                the program of ./pqueue, built with Go
//   .peers/redoxql/              the source of RedoxQL, and a virtual environment with what was built of it with Rust; REDOX_PYTHON names
//   another
//                                Python that has it

const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { versionOf: versionOfOurs } = require('../contenders')

const FOLDER = path.join(__dirname, '../.peers')
const PQUEUE_PROGRAM = path.join(FOLDER, 'pqueue')
const PQUEUE_SOURCE = path.join(__dirname, 'pqueue')
const PINNED = {
  rocksq: '0.3.0',
  pqueue: 'v0.2.3',
  'better-sqlite3': '12.11.1',
  lmdb: '3.5.6',
  plainjob: '0.0.14',
  tinypool: '2.2.0',
  workerpool: '10.0.3',
  poolifier: '5.3.2',
  bottleneck: '2.19.5',
  limiter: '4.1.0',
  'p-retry': '9.0.0',
  'express-rate-limit': '8.7.5',
  'express-queue': '0.0.13',
  redoxql: '2cf386942573f8cb6fe047c9cd0bf147980fae2f', // of its repository: it is in no registry
  maturin: '1.8.2'
}
const REDOX_FOLDER = path.join(FOLDER, 'redoxql')
const REDOX_REPOSITORY = 'https://github.com/JakeRoggenbuck/RedoxQL'
const INSTALL_LIMIT_MS = 600000

/** Loads a package that is at the path `at`, with its native part if it has one. */
const LOADING = {
  'better-sqlite3': 'new (require(at))(":memory:")',
  lmdb: 'require(at)',
  plainjob: 'require(at)',
  tinypool: 'require(at)',
  workerpool: 'require(at)',
  poolifier: 'require(at)',
  bottleneck: 'require(at)',
  limiter: 'require(at)',
  'p-retry': '',
  'express-rate-limit': 'require(at)',
  'express-queue': 'require(at)'
}

/** By peer. Those that a peer needs come before it. */
const PREPARERS = {
  rocksq: prepareRocksq,
  pqueue: preparePqueue,
  'better-sqlite3': preparePackage,
  lmdb: preparePackage,
  'node:sqlite': prepareSqlite,
  plainjob: preparePlainjob,
  tinypool: preparePackage,
  workerpool: preparePackage,
  poolifier: preparePackage,
  bottleneck: preparePackage,
  limiter: preparePackage,
  'p-retry': preparePackage,
  'express-rate-limit': preparePackage,
  'express-queue': preparePackage,
  redoxql: prepareRedox
}

/**
 * Installs what is not there yet.
 * @param {{ node: string, environment: { node: string, major: number }, names?: string[] }} options the Node binary that will run them;
 *   names: of the peers, if not all
 * @param {(text: string) => void} say told what takes long
 * @param {(command: string, args: string[], options?: object) => { status: number|null, stdout: string, stderr: string, error?: Error }}
 *   run runs a program; tests replace it
 * @returns {Object<string, { version?: string, cannot?: string }>} by peer: the version of the one that is there, or why there is none
 */
function preparePeers ({ node, environment, names = Object.keys(PREPARERS) }, say, run = runProgram) {
  const peers = {}
  for (const name of Object.keys(PREPARERS)) {
    if (names.includes(name)) peers[name] = PREPARERS[name]({ name, node, environment, peers }, say, run)
  }
  return peers
}

/**
 * What a cell's contenders are, without those of peers that were not asked for.
 * @param {string[]} names keys of adapters
 * @param {Object<string, object>} adapters
 * @param {Object<string, { version?: string, cannot?: string }>} peers from preparePeers
 * @returns {Array<{ name: string, note: (string|undefined), syncs: boolean, cannot: (string|undefined) }>}
 */
function entriesFor (names, adapters, peers) {
  return names
    .filter(name => adapters[name].peer === undefined || peers[adapters[name].peer] !== undefined)
    .map(name => {
      const { note, syncs = false, peer } = adapters[name]
      const cannot = peers[peer]?.cannot
      return { name, note: cannot ? undefined : note, syncs, cannot }
    })
}

/** @returns {string | null} package and version of an adapter; null if there is none */
function versionIn ({ package: packageName, peer }, peers) {
  if (packageName === 'fairlane') return versionOfOurs(packageName)
  const version = peers?.[peer]?.version
  return version === undefined ? null : `${packageName}@${version}`
}

function prepareRocksq (options, say, run) {
  const test = () => run(pythonPath(), ['-c', 'from importlib.metadata import version; import rocksq; print(version("rocksq"))'])
  if (outputOf(test()) === PINNED.rocksq) return { version: PINNED.rocksq }

  const python = run('python3', ['--version'])
  if (python.status !== 0) return { cannot: 'skipped: there is no python3' }
  say(`installing rocksq ${PINNED.rocksq}`)
  const steps = [['python3', ['-m', 'venv', path.join(FOLDER, 'python')]], [pythonPath(), ['-m', 'pip', 'install', `rocksq==${PINNED.rocksq}`]]]
  for (const [command, args] of steps) {
    const result = run(command, args)
    if (result.status !== 0) return skipped('it could not be installed', result, say)
  }
  return versionOf(test(), 'it does not run', say)
}

function preparePqueue (options, say, run) {
  const test = () => run(PQUEUE_PROGRAM, ['--version'])
  if (outputOf(test()) === PINNED.pqueue) return { version: PINNED.pqueue }

  if (run('go', ['version']).status !== 0) return { cannot: 'skipped: there is no go' }
  say(`building pqueue ${PINNED.pqueue}`)
  const built = run('go', ['build', '-o', PQUEUE_PROGRAM, '.'], { cwd: PQUEUE_SOURCE })
  if (built.status !== 0) return skipped('it could not be built', built, say)
  return versionOf(test(), 'it does not run', say)
}

function preparePackage ({ name, node, environment }, say, run) {
  const test = () => run(node, ['-e', `const at = ${JSON.stringify(packagePath(name, environment.major))}
    ${LOADING[name]}
    console.log(require(at + '/package.json').version)`])
  if (outputOf(test()) === PINNED[name]) return { version: PINNED[name] }

  say(`installing ${name} ${PINNED[name]}`)
  const folder = path.join(packagePath(name, environment.major), '../..')
  // its native part has to fit the Node that will run it
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` }
  const installed = run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${PINNED[name]}`], { env })
  if (installed.status !== 0) return skipped('it could not be installed', installed, say)
  return versionOf(test(), `what was installed does not run on Node ${environment.node}`, say)
}

/** It runs on better-sqlite3, of which both cases have the same. */
function preparePlainjob ({ name, node, environment, peers }, say, run) {
  const driver = peers['better-sqlite3'] ?? preparePackage({ name: 'better-sqlite3', node, environment }, say, run)
  if (driver.cannot) return { cannot: `skipped: it needs better-sqlite3 (${driver.cannot})` }
  const { version, cannot } = preparePackage({ name, node, environment }, say, run)
  return cannot ? { cannot } : { version: `${version} on better-sqlite3@${driver.version}` }
}

function prepareSqlite ({ node, environment }, say, run) {
  const result = run(node, ['-p', 'new (require("node:sqlite").DatabaseSync)(":memory:") && process.versions.sqlite'])
  if (result.status === 0) return { version: outputOf(result) }
  return { cannot: `skipped: Node ${environment.node} has no node:sqlite` }
}

/** It takes some minutes. */
function prepareRedox (options, say, run) {
  const test = () => run(redoxPython(), ['-c', 'import lstore.query; print("ok")'])
  const version = PINNED.redoxql.slice(0, 7)
  if (outputOf(test()) === 'ok') return { version: process.env.REDOX_PYTHON === undefined ? version : 'of REDOX_PYTHON' }

  for (const program of ['git', 'cargo', 'python3']) {
    if (run(program, ['--version']).status !== 0) return { cannot: `skipped: there is no ${program}` }
  }
  say(`building RedoxQL ${version}`)
  const source = path.join(REDOX_FOLDER, 'source')
  run('git', ['init', '--quiet', source])
  const reached = [['fetch', '--depth', '1', REDOX_REPOSITORY, PINNED.redoxql], ['checkout', '--quiet', '--force', 'FETCH_HEAD']]
  for (const args of reached) {
    const result = run('git', ['-C', source, ...args])
    if (result.status !== 0) return skipped('its repository could not be reached', result, say)
  }
  const python = redoxPython({})
  const env = { ...process.env, VIRTUAL_ENV: path.join(REDOX_FOLDER, 'python') }
  const built = [
    ['python3', ['-m', 'venv', env.VIRTUAL_ENV]],
    [python, ['-m', 'pip', 'install', `maturin==${PINNED.maturin}`]],
    [python, ['-m', 'maturin', 'develop', '--release'], { cwd: source, env }]
  ]
  for (const [command, args, how] of built) {
    const result = run(command, args, how)
    if (result.status !== 0) return skipped('it could not be built', result, say)
  }
  return outputOf(test()) === 'ok' ? { version } : skipped('it does not run', test(), say)
}

function runProgram (command, args, options) {
  return spawnSync(command, args, { encoding: 'utf8', timeout: INSTALL_LIMIT_MS, ...options })
}

function outputOf ({ status, stdout }) {
  return status === 0 ? stdout.trim() : undefined
}

/** Of what was just installed. */
function versionOf (result, whyNot, say) {
  return result.status === 0 ? { version: outputOf(result) } : skipped(whyNot, result, say)
}

/** In short for the results; what the program said is told to whoever runs this. */
function skipped (why, { error, stderr }, say) {
  say(error ? error.message : stderr)
  return { cannot: `skipped: ${why}` }
}

/** @returns {string} the Python of the virtual environment */
function pythonPath () {
  return path.join(FOLDER, 'python', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
}

/** @returns {string} a Python that has RedoxQL, if it could be built */
function redoxPython ({ REDOX_PYTHON } = process.env) {
  return REDOX_PYTHON ?? path.join(REDOX_FOLDER, 'python', process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python')
}

/** @returns {string} what to require for a package that is installed for this major of Node */
function packagePath (name, major = parseInt(process.versions.node, 10)) {
  return path.join(FOLDER, `node${major}`, name, 'node_modules', name)
}

module.exports = { preparePeers, entriesFor, versionIn, pythonPath, packagePath, redoxPython, PQUEUE_PROGRAM, PINNED }
