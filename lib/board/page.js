'use strict'

// The page, and the headers of all answers. Script and style stand in the page, and the policy names them by their hashes: so nothing else
// runs there, whatever the names of tenants are, and the page needs no address of its own.

const { createHash } = require('node:crypto')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

const SCRIPT = readFileSync(join(__dirname, 'client.js'), 'utf8')

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #5b6470; --line: #d5dae0; --back: #fff; --bar: #bcd7f5; --bad: #b3261e; --link: #0b5cad }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ec; --soft: #a3adb8; --line: #39424c; --back: #14181c; --bar: #1f4a75; --bad: #ff8a80; --link: #8ac4ff }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 80rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back) }
h1, h2 { margin: 0; font-size: 1.4rem; overflow-wrap: anywhere }
h2 { margin-top: 2rem; font-size: 1.1rem }
[hidden] { display: none !important }
header, nav, form, dl { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; margin: 0 0 1rem }
a { color: var(--link); overflow-wrap: anywhere }
a[aria-current] { color: inherit; font-weight: bold; text-decoration: none }
dl div { display: flex; gap: .4rem }
dt, caption, .soft { color: var(--soft) }
dd { margin: 0; font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: .3rem }
table { width: 100%; border-collapse: collapse }
th, td { padding: .3rem .5rem; text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums }
th, td { white-space: nowrap; font-weight: normal }
th:first-child, td.text, th.text { text-align: left; white-space: normal; overflow-wrap: anywhere }
td.text { min-width: 6rem }
thead th { color: var(--soft) }
tbody th { min-width: 8rem; background: linear-gradient(var(--bar), var(--bar)) no-repeat left bottom / var(--share, 0) .25rem }
button, input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: .3rem; padding: .1rem .6rem }
button { cursor: pointer }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.bad { color: var(--bad) }
.acts button + button { margin-left: .4rem }
@media (max-width: 48rem) {
  table, caption, tbody { display: block }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  tbody tr { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); padding: .5rem 0; border-bottom: 1px solid var(--line) }
  tbody th, tbody td { border: 0; display: flex; justify-content: space-between; gap: .5rem; padding: .1rem .3rem }
  tbody th, tbody td.text, tbody td.acts { grid-column: 1 / -1; justify-content: start; padding-bottom: .3rem }
  tbody td:empty { display: none }
  tbody td::before { content: attr(data-label); color: var(--soft) }
}
`

// the script fills it
const TABLE = `
<caption></caption>
<thead><tr></tr></thead>
<tbody></tbody>
`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fairlane</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript. What it shows is at <a href="state">state</a>, as JSON.</noscript>
<header>
<h1 id="name">fairlane</h1>
<button id="pause" type="button" hidden>Pause the queue</button>
<button id="resume" type="button" hidden>Resume the queue</button>
</header>
<nav id="names" aria-label="Queues" hidden></nav>
<p id="status" role="status"></p>
<main id="content">
<dl id="numbers"></dl>
<form id="search" role="search"><label for="filter">Types that contain</label> <input id="filter" type="search" autocomplete="off" spellcheck="false"></form>
<table id="types">${TABLE}</table>
<section id="dead" hidden>
<h2>Dead letters</h2>
<table>${TABLE}</table>
</section>
<section id="failures" hidden>
<h2>Newest failures</h2>
<table>${TABLE}</table>
</section>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`

const POLICY = [
  "default-src 'none'", `script-src ${hashOf(SCRIPT)}`, `style-src ${hashOf(STYLE)}`, "connect-src 'self'", 'img-src data:',
  "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"
].join('; ')

const HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY', // as frame-ancestors, for who does not know that
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin', // without one, some browsers hide where the page's own requests come from
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store'
}

module.exports = { HEADERS, PAGE }

function hashOf (text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
