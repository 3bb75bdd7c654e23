'use strict'

// How the page looks: light and dark, by what who looks at it prefers, and as cards where a table is too wide.

const STYLE = `
:root {
  color-scheme: light dark; --text: #1c2024; --soft: #555f6b; --line: #d5dae0; --back: #fff; --bar: #9cc5f3; --bad: #b3261e; --link: #0b5cad;
  --one: #0b5cad; --two: #b3261e
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6e9ec; --soft: #a9b3be; --line: #39424c; --back: #14181c; --bar: #2b649c; --bad: #ff8a80; --link: #8ac4ff; --one: #8ac4ff; --two: #ff8a80
  }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 96rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back) }
h1, h2, summary { margin: 0; font-size: 1.4rem; font-weight: bold; overflow-wrap: anywhere }
h2, summary { margin-top: 2rem; font-size: 1.1rem }
summary { cursor: pointer }
[hidden] { display: none !important }
header, nav, form, dl, .row { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; margin: 0 0 1rem }
a { color: var(--link); overflow-wrap: anywhere }
a[aria-current] { color: inherit; font-weight: bold; text-decoration: none }
dl div { display: flex; gap: .4rem }
dt, caption, .soft { color: var(--soft) }
dd { margin: 0; font-variant-numeric: tabular-nums }
#findings { margin: 0 0 1rem; padding-left: 1.2rem }
.name { overflow-wrap: anywhere; white-space: pre-wrap }
#findings .name { font-weight: bold }
#charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; margin-bottom: 1rem }
figure { margin: 0 }
figcaption { min-height: 4.5em; font-size: .9rem }
output { display: block; color: var(--soft) }
svg { display: block; width: 100%; height: 5rem; border-bottom: 1px solid var(--soft); overflow: visible }
path { fill: none; stroke: var(--one); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round }
path + path { stroke: var(--two); stroke-dasharray: 4 3 }
caption { text-align: left; padding-bottom: .3rem }
table { width: 100%; border-collapse: collapse; font-size: .95rem }
th, td { padding: .3rem .4rem; text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums }
th, td { white-space: nowrap; font-weight: normal }
th:first-child, td.text, th.text { text-align: left; white-space: normal; overflow-wrap: anywhere }
td.text { min-width: 5rem }
.ungrouped .group { display: none }
thead th { color: var(--soft); vertical-align: bottom; white-space: normal }
thead button { border: 0; padding: 0; text-align: inherit; text-decoration: underline dotted }
th[aria-sort] button { font-weight: bold; color: var(--text) }
th[aria-sort=descending] button::after { content: ' \\2193' / '' }
th[aria-sort=ascending] button::after { content: ' \\2191' / '' }
tbody th { min-width: 8rem; background: linear-gradient(var(--bar), var(--bar)) no-repeat left bottom / var(--share, 0) .25rem }
button, input, select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: .3rem; padding: .1rem .6rem }
input, select { max-width: 100% }
input[type=number] { width: 8rem }
button { cursor: pointer }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.bad { color: var(--bad) }
.acts button { margin: 0 0 .2rem .4rem }
#letters { margin-top: 1rem }
dialog { max-width: min(40rem, 95vw); color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: .5rem }
dialog h2 { margin-top: 0 }
pre { max-height: 60vh; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere }
.narrow { display: none }
@media (max-width: 72rem) {
  .narrow { display: flex }
  table, caption, tbody { display: block }
  thead { display: none }
  tbody tr { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); padding: .5rem 0; border-bottom: 1px solid var(--line) }
  tbody th, tbody td { border: 0; display: flex; justify-content: space-between; gap: .5rem; padding: .1rem .3rem }
  tbody th, tbody td.text, tbody td.acts { grid-column: 1 / -1; justify-content: start; padding-bottom: .3rem }
  tbody td.acts { flex-wrap: wrap; white-space: normal }
  tbody td:empty { display: none }
  tbody td::before { content: attr(data-label); color: var(--soft) }
  .acts button { margin-left: 0 }
}
`

module.exports = { STYLE }
