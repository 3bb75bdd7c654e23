'use strict'

// All that must be so before a version is published: npm run release. It changes nothing and publishes nothing; at its end it prints the
// one command that does. What is cheap to check comes first, and is told at once.

const { execFileSync, spawnSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const BRANCH = 'main'

if (require.main === module) process.exitCode = release(process.cwd(), process.env) ? 0 : 1

module.exports = { refusals, steps, publishing }

/** @returns {boolean} whether the version in the folder may be published */
function release (folder, env) {
  const before = refusals(folder)
  if (before.length > 0) return refuse(before)
  const manifest = json(folder, 'package.json')
  for (const args of steps(manifest, env)) {
    console.log(`== npm ${args.join(' ')}`)
    const { status } = spawnSync(process.execPath, [env.npm_execpath, ...args], { cwd: folder, stdio: 'inherit', env })
    if (status !== 0) return refuse([`npm ${args.join(' ')} has failed`])
  }
  const after = refusals(folder) // tests may have left something behind
  if (after.length > 0) return refuse(after)
  console.log(`\n${manifest.name} ${manifest.version} may be published. Nothing has been so far. This does it:\n`)
  console.log(`  git tag v${manifest.version} && npm ${publishing(manifest, env).join(' ')}`)
  return true
}

function refuse (reasons) {
  for (const reason of reasons) console.error(`Not released: ${reason}`)
  return false
}

/** @returns {string[]} what stands against a release, by what git and the papers say */
function refusals (folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()
  const { version } = json(folder, 'package.json')
  const lock = json(folder, 'package-lock.json')
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  return [
    [git('status', '--porcelain') !== '', 'there are changes that are not committed'],
    [branch !== BRANCH, `the branch is ${branch}, not ${BRANCH}`],
    [git('tag', '--list', `v${version}`) !== '', `there is a tag v${version}: set the version of the next release`],
    [lock.version !== version || lock.packages[''].version !== version, `package-lock.json does not have the version ${version}: run npm install`],
    ...changelog(folder, version)
  ].filter(([isRefused]) => isRefused).map(([, reason]) => reason)
}

/** The newest entry of CHANGELOG.md is that of the version, and has a date. */
function changelog (folder, version) {
  const [heading = '', newest, rest = ''] = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8').match(/^## \[?([^\s\]]*)\]?(.*)$/m) ?? []
  if (newest !== version) return [[true, `CHANGELOG.md begins with '${heading}', and package.json has the version ${version}`]]
  return [[!/^ - \d{4}-\d\d-\d\d$/.test(rest), `CHANGELOG.md has no date for ${version}: write '## [${version}] - ' and the day`]]
}

/** @returns {string[][]} arguments for npm, in order */
function steps (manifest, env) {
  return [
    ['test'],
    ['run', 'test:compat'],
    ['pack', '--dry-run'],
    ['exec', '--no', '--', 'publint', '--strict'],
    ['exec', '--no', '--', 'attw', '--pack', '.'],
    [...publishing(manifest, env), '--dry-run']
  ]
}

/**
 * @returns {string[]} arguments for npm. A version such as 1.0.0-rc.1 is not what `npm install` takes. The registry believes a provenance
 *   only of a build server that proves which repository it works for.
 */
function publishing ({ version, repository }, env) {
  const hasProof = env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined || env.SIGSTORE_ID_TOKEN !== undefined
  return [
    'publish', '--access', 'public',
    ...version.includes('-') ? ['--tag', 'next'] : [],
    ...repository !== undefined && hasProof ? ['--provenance'] : []
  ]
}

function json (folder, name) {
  return JSON.parse(readFileSync(join(folder, name), 'utf8'))
}
