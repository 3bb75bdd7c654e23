'use strict'

const assert = require('node:assert')
const { rmSync } = require('node:fs')
const ts = require('typescript')
const { node } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { pages, codeBlocks } = require('./pages')

// docs/service.md shows a server, which does not end by itself: service.test.js runs it.
// Each other block is a program: `js` is CommonJS, `mjs` a module, `ts` one with types (test/types checks these). What it prints is what its comments `// => …` say, in order.
describe('the examples of', () => {
  let folder

  before(() => { folder = temporaryFolder() })
  after(() => rmSync(folder, { recursive: true }))

  for (const { path, text } of pages().filter(({ path }) => path !== 'docs/service.md')) {
    const examples = codeBlocks(text).filter(({ language }) => ['js', 'mjs', 'ts'].includes(language))
    if (examples.length === 0) continue

    describe(path, () => {
      for (const { language, code, line } of examples) {
        it(`line ${line} do what they say`, async () => {
          const program = language === 'ts' ? withoutTypes(code) : code
          const args = [`--input-type=${language === 'js' ? 'commonjs' : 'module'}`, '--eval', program]
          const { code: exitCode, stdout, stderr } = await node(args, { env: { TMPDIR: folder } })
          assert.equal(exitCode, 0, stderr)
          const expected = [...code.matchAll(/\/\/ => (.*)$/gm)].map(([, output]) => output)
          if (expected.length > 0) assert.deepEqual(stdout.trimEnd().split('\n'), expected)
        })
      }
    })
  }

  it('the README are there', () => {
    const [readme] = pages()
    assert.equal(readme.path, 'README.md')
    assert(codeBlocks(readme.text).some(({ language }) => language === 'js'))
  })
})

function withoutTypes (code) {
  return ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 } }).outputText
}
