'use strict'

const assert = require('node:assert')
const { node } = require('../support/child')
const { pages, codeBlocks } = require('./pages')

// docs/service.md shows a server, which does not end by itself: service.test.js runs it.
// Each other block is a program: `js` is CommonJS, `mjs` a module. What it prints is what its comments `// => …` say, in order.
describe('the examples of', () => {
  for (const { path, text } of pages().filter(({ path }) => path !== 'docs/service.md')) {
    const examples = codeBlocks(text).filter(({ language }) => ['js', 'mjs'].includes(language))
    if (examples.length === 0) continue

    describe(path, () => {
      for (const { language, code, line } of examples) {
        it(`line ${line} do what they say`, async () => {
          const args = language === 'mjs' ? ['--input-type=module', '--eval', code] : ['--input-type=commonjs', '--eval', code]
          const { code: exitCode, stdout, stderr } = await node(args, { timeoutMs: 8000 })
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
