'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const ts = require('typescript')
const { pages, codeBlocks } = require('../docs/pages')
const { root, tool } = require('../support/child')

// The checks are the .ts files beside this one: what must compile, and after `@ts-expect-error` what must not.
describe('types', function () {
  this.timeout(600000) // the compiler takes ten seconds of a quick machine

  it('accept what the queue accepts and refuse what it refuses', async () => {
    await assertCompiles('tsconfig.json')
  })

  it('need no types of Node where the browser has its own', async () => {
    await assertCompiles('tsconfig.browser.json')
  })

  for (const { path, text } of pages()) {
    for (const { code, line } of codeBlocks(text).filter(({ language }) => language === 'ts')) {
      it(`accept the example in ${path}, line ${line}`, () => assert.deepEqual(problemsOf(code), []))
    }
  }

  it('find what is wrong in an example', () => {
    assert.match(problemsOf("import fairlane from 'fairlane'\nfairlane(async (n: number) => n).push('one')").join(), /'string' is not assignable/)
  })

  it('have the same names for import as for require', () => {
    const [required, imported] = ['index.d.ts', 'index.d.mts'].map(file => readFileSync(join(root, file), 'utf8'))
    const declared = required.match(/(?<=^ {2}(?:interface|type) )\w+/gm)
    const exported = imported.match(/(?<=^ {2}|^export type )\w+(?=,$|<P = any| = fairlane)/gm)
    assert.deepEqual(exported.sort(), declared.sort())
  })
})

async function assertCompiles (project) {
  const { code, stdout } = await tool('typescript', 'tsc', ['--project', join(__dirname, project)], { timeoutMs: 500000 })
  assert.equal(code, 0, stdout)
}

// what the examples share, the libraries above all, is parsed once
const parsed = new Map()

/** Compiles a program with the options of the files beside this one. @returns {string[]} what the compiler says */
function problemsOf (code) {
  const file = join(__dirname, 'example.mts')
  const { config } = ts.readConfigFile(join(__dirname, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, __dirname)
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.readFile = name => name === file ? code : readFile(name)
  host.fileExists = name => name === file || fileExists(name)
  host.getSourceFile = (name, ...rest) => {
    if (name === file || !parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest))
    return parsed.get(name)
  }
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
