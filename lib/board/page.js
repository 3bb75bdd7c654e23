'use strict'

// The page, and the headers of all answers. Script and style stand in the page, and the policy names them by their hashes: so nothing else
// runs there, whatever the names of tenants are, and the page needs no address of its own. What runs in the browser are the files of
// client/, each as a module of the script.

const { createHash } = require('node:crypto')
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { STYLE } = require('./style')

const CLIENT = join(__dirname, 'client')
const SCRIPT = scriptOf(readdirSync(CLIENT).sort())

// the script fills it
const INNER = `
<caption></caption>
<thead><tr></tr></thead>
<tbody></tbody>
`

const CHARTS = [['throughput', 'Throughput', 2], ['waits', 'Waits', 2], ['slots', 'Slots', 1]].map(([id, title, lines]) => `
<figure id="${id}">
<figcaption><strong>${title}</strong><output></output></figcaption>
<svg role="img" viewBox="0 0 300 60" preserveAspectRatio="none">${'<path/>'.repeat(lines)}</svg>
</figure>`).join('')

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>fairlane</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
`

const BODY = `</head>
<body>
<noscript>This page needs JavaScript. What it shows is at <a href="state">state</a>, as JSON.</noscript>
<header>
<h1 id="name">fairlane</h1>
<button id="pause" type="button" hidden>Pause the queue</button>
<button id="resume" type="button" hidden>Resume the queue</button>
<button id="hold" type="button" hidden>Hold it for a minute</button>
<button id="unhold" type="button" hidden>End the hold</button>
</header>
<nav id="names" aria-label="Queues" hidden></nav>
<main>
<p id="status" role="status"></p>
<div id="content">
<h2>What stands out</h2>
<ul id="findings"></ul>
<dl id="numbers"></dl>
<div id="charts" role="group" aria-label="The last 15 minutes" hidden>${CHARTS}
</div>
<h2>Tenants</h2>
<form id="search" role="search">
<label for="filter">Types that contain</label> <input id="filter" type="search" autocomplete="off" spellcheck="false">
<span class="row narrow"><label for="sort">sorted by</label> <select id="sort"></select></span>
<button id="ungroup" type="button" hidden></button>
</form>
<table id="types">${INNER}</table>
<section id="grouped" hidden>
<h2>Groups</h2>
<table id="groups">${INNER}</table>
</section>
<section id="runs" hidden>
<h2>Running jobs</h2>
<table>${INNER}</table>
</section>
<details id="dead" hidden>
<summary id="dead-title">Dead letters</summary>
<form id="dead-search">
<label for="dead-type">of the type</label> <input id="dead-type" autocomplete="off" spellcheck="false">
<label for="dead-error">with this in the error</label> <input id="dead-error" autocomplete="off" spellcheck="false">
<button>Show</button>
<button id="dead-retry" type="button" hidden></button>
<button id="dead-delete" type="button" hidden></button>
</form>
<p id="dead-sweep" class="row" hidden>
<progress id="dead-progress" aria-label="Progress"></progress>
<span id="dead-swept"></span>
<button id="dead-stop" type="button">Stop</button>
</p>
<table id="causes">${INNER}</table>
<table id="letters">${INNER}</table>
<p class="row">
<button id="dead-first" type="button" hidden>First page</button>
<button id="dead-more" type="button" hidden>Next page</button>
</p>
</details>
<section id="schedules" hidden>
<h2>Schedules</h2>
<table>${INNER}</table>
</section>
<section id="failures" hidden>
<h2>Latest failures</h2>
<table>${INNER}</table>
</section>
</div>
</main>
<dialog id="settings" aria-labelledby="settings-title">
<h2 id="settings-title"></h2>
<div id="settings-fields"></div>
<form method="dialog"><button>Close</button></form>
</dialog>
<dialog id="payload" aria-labelledby="payload-title">
<form method="dialog">
<h2 id="payload-title"></h2>
<pre id="payload-text" tabindex="0"></pre>
<button>Close</button>
</form>
</dialog>
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

module.exports = { HEADERS, SCRIPT, pageWith }

/** @param {string} token that the page sends with what its buttons do @returns {string} */
function pageWith (token) {
  return `${HEAD}<meta name="token" content="${token}">\n${BODY}`
}

/** @param {string[]} files @returns {string} each as a function that is called when it is first required; main.js begins */
function scriptOf (files) {
  const parts = files.map(file => `parts['./${file.slice(0, -'.js'.length)}'] = (module, require) => {\n${readFileSync(join(CLIENT, file), 'utf8')}}\n`)
  return `{
const parts = {}
const made = {}
const load = name => {
  if (made[name] === undefined) parts[name](made[name] = {}, load)
  return made[name].exports
}
${parts.join('')}load('./main')
}
`
}

function hashOf (text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
