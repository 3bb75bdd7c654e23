'use strict'

// Runs the package, as npm packs it, on every runtime that it names: in an empty project, by require and by import; the tests of this
// repository on Bun and Deno too; bundles of four bundlers in browsers. The tools are installed below .runtimes, from the lock file
// beside this one; browsers are those of this machine. What is not there is skipped, and said; it fails if nothing was there.
//
//   npm run test:runtimes
//   npm run test:runtimes -- Deno Firefox      only these

const { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const { root } = require('../support/child')
const { programOf } = require('../support/path')
const { visit } = require('./browsers')
const { bundlers: builders } = require('./bundles')
const { run } = require('./child')
const { suite, engines, bundlers, browsers } = require('./table')

const SUITE_MS = 900000
const INSTALL_MS = 300000

const toolsFolder = join(root, '.runtimes')
const tools = {
  folder: name => present(join(toolsFolder, 'node_modules', name)),
  file: (name, path) => present(join(toolsFolder, 'node_modules', name, path)),
  bin: name => present(join(toolsFolder, 'node_modules/.bin', name))
}
const rows = []

main().then(code => { process.exitCode = code })

async function main () {
  const project = mkdtempSync(join(tmpdir(), 'fairlane-runtimes-'))
  const isWanted = name => process.argv.length === 2 || process.argv.slice(2).includes(name)
  try {
    await installTools()
    await installPackage(project)
    const wanted = engines.filter(({ name }) => isWanted(name))
    const suites = []
    for (const engine of wanted) suites.push(...await onEngine(engine, project))
    await Promise.all(suites.map(start => start()))
    await inBrowsers(browsers.filter(({ name }) => isWanted(name)), project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
  return conclude()
}

/** By `npm install`: `npm ci` refuses all where one is not to be had. */
async function installTools () {
  mkdirSync(toolsFolder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(__dirname, file), join(toolsFolder, file))
  const { code, stderr } = await npm(['install', '--no-audit', '--no-fund'], toolsFolder)
  if (code !== 0) console.error(`npm install in .runtimes: ${code}\n${stderr}`)
}

/** What `npm pack` makes, in a project that has nothing else. */
async function installPackage (project) {
  writeFileSync(join(project, 'package.json'), '{ "private": true }\n')
  const packed = await npm(['pack', '--silent', '--pack-destination', project], root)
  const tarball = packed.stdout.trim()
  const { code, stderr } = await npm(['install', '--no-audit', '--no-fund', join(project, tarball)], project)
  if (code !== 0) throw new Error(`npm install ${tarball}: ${code}\n${stderr}`)
  for (const file of ['main.cjs', 'main.mjs', 'checks.cjs', 'fetch-checks.cjs', 'fetch-server.cjs', 'http-checks.cjs', 'server-checks.cjs']) cpSync(join(__dirname, 'programs', file), join(project, file))
  mkdirSync(join(project, 'src'))
  for (const file of ['checks.cjs', 'fetch-checks.cjs', 'http-checks.cjs']) cpSync(join(__dirname, 'programs', file), join(project, 'src', file))
  cpSync(join(__dirname, 'programs/page.mjs'), join(project, 'src/index.js'))
}

/** @returns {Promise<(() => Promise<void>)[]>} what takes long and is left: the tests of this repository */
async function onEngine ({ name, command, except }, project) {
  const engine = await engineOf(name, command)
  if (engine === undefined) return []
  for (const [how, file] of [['require', 'main.cjs'], ['import', 'main.mjs']]) {
    const { code, stdout, stderr } = await run([...engine, file], { cwd: project })
    add(name, how, resultIn(stdout) ?? { passed: 0, failed: [`${code}: ${stdout}${stderr}`] })
  }
  return except === undefined ? [] : [async () => add(name, 'tests', await testsOn(engine, Object.keys(except)))]
}

/** @returns {Promise<string[] | undefined>} the command, if it can be run here */
async function engineOf (name, command) {
  try {
    const engine = command(tools)
    const { code, stdout, stderr } = await run([engine[0], '--version'])
    if (code !== 0) throw new Error(`${code} ${stderr}`)
    console.log(`${name}: ${stdout.split('\n')[0]}`)
    return engine
  } catch (err) {
    skip(name, err)
  }
}

/** @returns {Promise<{ passed: number, failed: string[] }>} of the tests of this repository but for some, by their titles */
async function testsOn (engine, except) {
  const titles = except.map(title => title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const folder = mkdtempSync(join(tmpdir(), 'fairlane-report-'))
  const report = join(folder, 'report.json')
  // --exit: a test that has failed may leave something open; the report as a file, since that may cut what is on its way to stdout
  const mocha = ['--exit', '--timeout', '60000', '--reporter', 'json', '--reporter-option', `output=${report}`, '--grep', titles, '--invert']
  try {
    const { code, stderr } = await run([...engine, join(root, 'node_modules/mocha/bin/mocha.js'), ...mocha, ...suite], { cwd: root, timeoutMs: SUITE_MS })
    if (!existsSync(report)) return { passed: 0, failed: [`mocha ended with ${code}: ${stderr.slice(-2000)}`] }
    const { stats, failures } = JSON.parse(readFileSync(report, 'utf8'))
    return { passed: stats.passes, failed: failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.stack ?? err.message}`) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function inBrowsers (wanted, project) {
  const found = wanted.filter(browser => {
    browser.program = programOf(browser.variable, browser.programs)
    if (browser.program === undefined) skip(browser.name, new Error(`no ${browser.programs.join(' or ')} in PATH`))
    return browser.program !== undefined
  })
  if (found.length === 0) return
  const pages = []
  for (const [name, kinds] of Object.entries(bundlers)) {
    const script = await bundleBy(name, project)
    if (script !== undefined) pages.push(...kinds.map(kind => ({ name, script, kind })))
  }
  if (pages.length === 0) return
  for (const { name, program } of found) await inBrowser(name, program, project, pages)
}

async function bundleBy (name, project) {
  try {
    return await builders[name](project, tools)
  } catch (err) {
    if (err.code === 'ENOENT') skip(name, err)
    else add(name, 'bundle', { passed: 0, failed: [err.message] })
  }
}

async function inBrowser (name, program, project, pages) {
  try {
    const results = await visit(name, program, project, pages, tools)
    results.forEach((result, i) => add(name, `${pages[i].name}, ${pages[i].kind}`, result))
  } catch (err) {
    if (err.code === 'ENOENT') skip(name, err)
    else add(name, 'start', { passed: 0, failed: [err.stack] })
  }
}

function add (name, what, { passed, failed }) {
  rows.push({ name, what, passed, failed: failed.length })
  console.log(`${name}, ${what}: ${passed} passed, ${failed.length} failed`)
  for (const text of failed) console.log(text.replaceAll(/^/gm, '    '))
}

function skip (name, { message }) {
  rows.push({ name, what: 'SKIPPED', passed: 0, failed: 0 })
  console.log(`SKIPPED ${name}: ${message.split('\n')[0]}`)
}

function conclude () {
  const [passed, failed] = ['passed', 'failed'].map(key => rows.reduce((sum, row) => sum + row[key], 0))
  const skipped = rows.filter(({ what }) => what === 'SKIPPED').map(({ name }) => name)
  console.table(rows)
  if (skipped.length > 0) console.log(`  SKIPPED: ${skipped.join(', ')}`)
  if (passed + failed === 0) console.log('  Nothing was run.')
  console.log(`  ${passed} passing`)
  console.log(`  ${failed} failing`)
  return failed > 0 || passed === 0 ? 1 : 0
}

/** The last line of a program that is a result; what stands before it are warnings. */
function resultIn (stdout) {
  const line = stdout.trimEnd().split('\n').at(-1)
  return line.startsWith('{"passed"') ? JSON.parse(line) : undefined
}

function npm (args, cwd) {
  const { npm_execpath: path } = process.env
  return run(path === undefined ? ['npm', ...args] : [process.execPath, path, ...args], { cwd, timeoutMs: INSTALL_MS })
}

function present (path) {
  if (!existsSync(path)) throw Object.assign(new Error(`${path.slice(root.length + 1)} was not installed`), { code: 'ENOENT' })
  return path
}
