'use strict'

// What runs in the browser, without a framework and as it is: page.js puts the files of this folder into the page, each as a module. It
// asks for the state of one queue again and again, and shows it.

const { drawCharts } = require('./charts')
const { showDead, startDead } = require('./dead')
const { byId, keepFocus, say } = require('./dom')
const { showLists, startLists } = require('./lists')
const { isolated } = require('./names')
const { showActions, showFindings, showNames, showNumbers, startOverview } = require('./overview')
const { ask } = require('./server')
const { showTenants, startTenants, viewed } = require('./tenants')

const REFRESH_MS = 2000

let shown // the queue, as it was told last
let first // the name of the queue that is shown where the address names none
let turn = 0 // of the newest question
let isStale = false // the newest question had no good answer
let timer

startOverview(() => shown, refresh)
startTenants(refresh)
startDead(refresh)
startLists(refresh)
addEventListener('hashchange', refresh)
document.addEventListener('visibilitychange', refresh)
refresh()

async function refresh () {
  clearTimeout(timer)
  const own = ++turn
  if (document.hidden) return
  try {
    const queue = location.hash === '' ? first : decodeURIComponent(location.hash.slice(1))
    const state = await ask('state', { ...viewed(), queue })
    if (own !== turn) return
    keepFocus(() => show(state))
    if (isStale) say('')
    isStale = false
  } catch (err) {
    if (own !== turn) return
    say(`${new Date().toLocaleTimeString()}: ${err.message}`, true)
    isStale = true
  }
  timer = setTimeout(refresh, REFRESH_MS)
}

function show ({ names, queue }) {
  first = names[0]
  showNames(names, queue.name)
  // what is known of a queue that does not answer is better than nothing
  byId('content').hidden = queue.error !== undefined && shown?.name !== queue.name
  if (queue.error !== undefined) throw new Error(`${isolated(queue.name)}: ${queue.error.message}`)
  shown = queue
  for (const part of [showActions, showNumbers, showFindings, drawCharts, showTenants, showLists, showDead]) part(queue)
}
