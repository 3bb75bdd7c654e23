'use strict'

const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { node, root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { refusals, steps, publishing } = require('./release')

describe('a release', () => {
  let folder, outside

  beforeEach(() => {
    folder = temporaryFolder()
    outside = temporaryFolder()
    git('init', '--quiet', '--initial-branch', 'main')
    write('package.json', JSON.stringify({ name: 'some', version: '1.0.0' }))
    write('package-lock.json', JSON.stringify({ version: '1.0.0', packages: { '': { version: '1.0.0' } } }))
    write('CHANGELOG.md', '# Changelog\n\n## [1.0.0] - 2026-11-30\n\n## [0.1.0] - 2026-01-01\n')
    commit()
  })
  afterEach(() => { for (const path of [folder, outside]) rmSync(path, { recursive: true }) })

  const git = (...args) => execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], { cwd: folder, stdio: 'pipe' })
  const write = (name, text) => writeFileSync(join(folder, name), text)
  const commit = () => {
    git('add', '--all')
    git('commit', '--quiet', '--message', 'all')
  }

  // in the place of npm: notes what it is to run, does what it is told to, and fails at the step `red`
  const run = async (red, meanwhile = '') => {
    const npm = join(outside, 'npm.js')
    writeFileSync(npm, `
      const args = process.argv.slice(2).join(' ')
      require('node:fs').appendFileSync(${JSON.stringify(join(outside, 'runs'))}, args + '\\n')
      ${meanwhile}
      process.exitCode = args === ${JSON.stringify(red)} ? 3 : 0
    `)
    writeFileSync(join(outside, 'runs'), '')
    const env = { npm_execpath: npm, ACTIONS_ID_TOKEN_REQUEST_URL: undefined, SIGSTORE_ID_TOKEN: undefined }
    const result = await node([join(root, 'test/package/release.js')], { cwd: folder, env })
    return { ...result, runs: readFileSync(join(outside, 'runs'), 'utf8').trim().split('\n') }
  }

  it('runs all steps, publishes nothing, and says how to', async () => {
    const { code, stdout, stderr, runs } = await run()
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(runs, [
      'test', 'run test:compat', 'pack --dry-run', 'exec --no -- publint --strict', 'exec --no -- attw --pack .', 'publish --access public --dry-run'
    ])
    assert.match(stdout, /\n {2}git tag v1\.0\.0 && npm publish --access public\n$/)
  })

  it('ends at the first step that fails', async () => {
    const { code, stdout, stderr, runs } = await run('run test:compat')
    assert.deepEqual([code, stderr, runs], [1, 'Not released: npm run test:compat has failed\n', ['test', 'run test:compat']])
    assert.doesNotMatch(stdout, /git tag/)
  })

  it('is refused before any step if git or the papers say so', async () => {
    write('new.js', '')
    const { code, stderr, runs } = await run()
    assert.deepEqual([code, stderr, runs], [1, 'Not released: there are changes that are not committed\n', ['']])
  })

  it('is refused if the steps have left something behind', async () => {
    const { code, stderr } = await run(undefined, "require('node:fs').writeFileSync('left.txt', '')")
    assert.deepEqual([code, stderr], [1, 'Not released: there are changes that are not committed\n'])
  })

  it('is refused from another branch', () => {
    git('checkout', '--quiet', '-b', 'other')
    assert.deepEqual(refusals(folder), ['the branch is other, not main'])
  })

  it('is refused if the version has been released', () => {
    git('tag', 'v1.0.0')
    assert.deepEqual(refusals(folder), ['there is a tag v1.0.0: set the version of the next release'])
  })

  for (const lock of [{ version: '0.1.0', packages: { '': { version: '1.0.0' } } }, { version: '1.0.0', packages: { '': { version: '0.1.0' } } }]) {
    it(`is refused if the lock file has ${JSON.stringify(lock)}`, () => {
      write('package-lock.json', JSON.stringify(lock))
      commit()
      assert.deepEqual(refusals(folder), ['package-lock.json does not have the version 1.0.0: run npm install'])
    })
  }

  for (const [text, reason] of [
    ['# Changelog\n', "CHANGELOG.md begins with '', and package.json has the version 1.0.0"],
    ['## [Unreleased]\n\n## [1.0.0] - 2026-11-30\n', "CHANGELOG.md begins with '## [Unreleased]', and package.json has the version 1.0.0"],
    ['## [1.0.0] - unreleased\n', "CHANGELOG.md has no date for 1.0.0: write '## [1.0.0] - ' and the day"]
  ]) {
    it(`is refused if CHANGELOG.md is ${JSON.stringify(text)}`, () => {
      write('CHANGELOG.md', text)
      commit()
      assert.deepEqual(refusals(folder), [reason])
    })
  }

  it('of a version before the next one does not become what npm installs by itself', () => {
    assert.deepEqual(publishing({ version: '1.0.0-rc.1' }, {}), ['publish', '--access', 'public', '--tag', 'next'])
  })

  it('has a provenance where there is a repository and somebody who vouches for it', () => {
    const provenance = ['publish', '--access', 'public', '--provenance']
    for (const name of ['ACTIONS_ID_TOKEN_REQUEST_URL', 'SIGSTORE_ID_TOKEN']) {
      assert.deepEqual(publishing({ version: '1.0.0', repository: {} }, { [name]: 'x' }), provenance)
    }
    assert.deepEqual(steps({ version: '1.0.0', repository: {} }, { SIGSTORE_ID_TOKEN: 'x' }).at(-1), [...provenance, '--dry-run'])
    assert.deepEqual(publishing({ version: '1.0.0' }, { SIGSTORE_ID_TOKEN: 'x' }), ['publish', '--access', 'public'])
  })

  it('is prepared in CHANGELOG.md: its newest entry is that of the version', () => {
    const [, newest] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').match(/^## \[(.*)\] - (unreleased|\d{4}-\d\d-\d\d)$/m)
    assert.equal(newest, require('../../package.json').version)
  })

  it('is a script of the package', () => {
    assert.equal(require('../../package.json').scripts.release, 'node test/package/release.js')
  })
})
