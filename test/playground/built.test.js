'use strict'

const assert = require('node:assert/strict')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { BUILT, pageOf } = require('../../examples/playground/build')
const { version } = require('../../package.json')

describe('docs/playground', function () {
  it('is what examples/playground builds: npm run playground:build', () => assert.equal(readFileSync(join(BUILT, 'index.html'), 'utf8'), pageOf()))

  it('has the package of this version', () => assert(readFileSync(join(BUILT, 'fairlane.js'), 'utf8').includes(`version:"${version}"`)))
})
