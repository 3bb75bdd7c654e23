'use strict'

const assert = require('node:assert')
const { existsSync, readFileSync } = require('node:fs')
const { join, posix } = require('node:path')
const { root } = require('../support/child')
const { pages, links, anchors } = require('./pages')

describe('the links of', () => {
  for (const page of pages()) {
    it(`${page.path} lead somewhere`, () => {
      for (const { path, anchor } of links(page.text)) {
        const target = path === '' ? page.path : posix.join(posix.dirname(page.path), path)
        assert(existsSync(join(root, target)), `${target} does not exist`)
        if (anchor !== '') assert(anchors(readFileSync(join(root, target), 'utf8')).has(anchor), `${target} has no #${anchor}`)
      }
    })
  }
})
