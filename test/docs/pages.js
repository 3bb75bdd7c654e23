'use strict'

// The pages that users read, and what the tests need of Markdown: fenced code, links, headings.

const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { root } = require('../support/child')

module.exports = { pages, codeBlocks, links, anchors }

/** @returns {{ path: string, text: string }[]} path is relative to the repository, with slashes */
function pages () {
  const docs = readdirSync(join(root, 'docs'), { recursive: true }).filter(file => file.endsWith('.md')).map(file => `docs/${file.replaceAll('\\', '/')}`)
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', 'lib/README.md', ...docs.sort()]
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** @returns {{ language: string, code: string, line: number }[]} fenced blocks; line is that of the fence, from 1 */
function codeBlocks (text) {
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(({ 1: language, 2: code, index }) => {
    return { language, code, line: text.slice(0, index).split('\n').length }
  })
}

/** @returns {{ path: string, anchor: string }[]} targets of links and images inside the repository */
function links (text) {
  return [...withoutCode(text).matchAll(/\]\(([^()\s#]*)(?:#([^()\s]+))?\)|(?:src|srcset|href)="([^"#]*)"/g)]
    .map(([, path, anchor = '', source]) => ({ path: source ?? path, anchor }))
    .filter(({ path }) => !/^[a-z]+:/.test(path))
}

/** @returns {Set<string>} the anchors that headings get when the page is shown as HTML */
function anchors (text) {
  const found = new Set()
  for (const [, heading] of text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    let unique = slug
    for (let i = 1; found.has(unique); i++) unique = `${slug}-${i}`
    found.add(unique)
  }
  return found
}

function withoutCode (text) {
  return text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
}
