'use strict'

const assert = require('node:assert')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root, tool } = require('../support/child')

// The checks are the .ts files beside this one: what must compile, and after `@ts-expect-error` what must not.
describe('types', function () {
  this.timeout(120000)

  it('accept what the queue accepts and refuse what it refuses', async () => {
    await assertCompiles('tsconfig.json')
  })

  it('need no types of Node where the browser has its own', async () => {
    await assertCompiles('tsconfig.browser.json')
  })

  it('have the same names for import as for require', () => {
    const [required, imported] = ['index.d.ts', 'index.d.mts'].map(file => readFileSync(join(root, file), 'utf8'))
    const declared = required.match(/(?<=^ {2}(?:interface|type) )\w+/gm)
    const exported = imported.match(/(?<=^ {2}|^export type )\w+(?=,$|<P = any| = fairlane)/gm)
    assert.deepEqual(exported.sort(), declared.sort())
  })
})

async function assertCompiles (project) {
  const { code, stdout } = await tool('typescript', 'tsc', ['--project', join(__dirname, project)])
  assert.equal(code, 0, stdout)
}
