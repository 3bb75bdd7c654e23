'use strict'

const assert = require('node:assert')
const { rmSync } = require('node:fs')
const ts = require('typescript')
const { node } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { program: server, startRedis } = require('../support/redis')
const { pages, codeBlocks } = require('./pages')

// A server does not end by itself: board.test.js, readme.test.js and service.test.js run those.
// Each other block is a program: `js` is CommonJS, `mjs` a module, `ts` one with types (test/types checks these). What it prints is what
// its comments `// => …` say, in order.
describe('the examples of', () => {
  let folder, redis

  before(async () => {
    folder = temporaryFolder()
    if (server !== undefined) redis = await startRedis()
  })
  after(async () => {
    await redis?.stop()
    rmSync(folder, { recursive: true })
  })

  const isServer = ({ code }) => code.includes('.listen(') && !code.includes('// => ') // one that asks itself says what it prints, and ends

  for (const { path, text } of pages()) {
    const examples = codeBlocks(text).filter(block => ['js', 'mjs', 'ts'].includes(block.language) && !isServer(block))
    if (examples.length === 0) continue

    describe(path, () => {
      for (const { language, code, line } of examples) {
        const isRunnable = server !== undefined || process.env.REQUIRE_REDIS === '1' || !code.includes('REDIS_URL')
        const test = isRunnable ? it : it.skip
        test(`line ${line} do what they say`, async () => {
          const program = language === 'ts' ? withoutTypes(code) : code
          const args = [`--input-type=${language === 'js' ? 'commonjs' : 'module'}`, '--eval', program]
          const { code: exitCode, stdout, stderr } = await node(args, { env: { TMPDIR: folder, REDIS_URL: redis?.path } })
          assert.equal(exitCode, 0, stderr)
          const expected = [...code.matchAll(/\/\/ => (.*)$/gm)].map(([, output]) => output)
          if (expected.length > 0) assert.deepEqual(stdout.trimEnd().split('\n'), expected)
        })
      }
    })
  }

  it('pages that show a server are run by tests of their own', () => {
    const servers = pages().flatMap(({ path, text }) => codeBlocks(text).filter(isServer).map(() => path))
    assert.deepEqual(servers, ['README.md', 'docs/guides/service.md', ...Array(2).fill('docs/reference/board.md'), ...Array(2).fill('docs/start/getting-started.md')])
  })

  it('the README are there', () => {
    const [readme] = pages()
    assert.equal(readme.path, 'README.md')
    assert(codeBlocks(readme.text).filter(({ language }) => language === 'mjs').length >= 4)
  })

  it('all pages are in a language that is run, or no programs', () => {
    const others = pages().flatMap(({ path, text }) => codeBlocks(text).filter(({ language }) => !['js', 'mjs', 'ts', 'sh', ''].includes(language)).map(() => path))
    assert.deepEqual(others, [])
  })
})

function withoutTypes (code) {
  return ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 } }).outputText
}
