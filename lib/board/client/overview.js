'use strict'

// What is said of a queue as a whole: its name among the others, numbers, what stands out, and the buttons that are about all of it.

const { byId, element, setParts, setText } = require('./dom')
const { isolated } = require('./names')
const { perform } = require('./server')
const { count, finding, reason, time } = require('./words')

const HOLD_MS = 60000

// by the id of a button: what it does to a queue, if it can be done now
const BUTTONS = {
  pause: ({ actions, paused }) => pausing(actions, 'pause', !paused),
  resume: ({ actions, paused }) => pausing(actions, 'resume', paused),
  hold: ({ actions }) => actions.includes('hold') ? { action: 'hold', ms: HOLD_MS } : undefined,
  unhold: ({ actions, findings }) => actions.includes('hold') && findings.some(({ kind }) => kind === 'queue-hold') ? { action: 'hold', ms: 0 } : undefined
}

module.exports = { showActions, showFindings, showNames, showNumbers, startOverview }

/** @param {() => object} shown gives the queue that is shown @param {() => Promise<void>} refresh */
function startOverview (shown, refresh) {
  for (const [id, fieldsOf] of Object.entries(BUTTONS)) {
    byId(id).addEventListener('click', () => perform({ queue: shown().name, ...fieldsOf(shown()) }, refresh))
  }
}

function showNames (names, current) {
  document.title = `${isolated(current)} – fairlane`
  setParts(byId('name'), [{ name: current }])
  const nav = byId('names')
  nav.hidden = names.length < 2
  while (nav.children.length < names.length) nav.append(element('a'))
  names.forEach((name, i) => {
    const link = nav.children[i]
    setParts(link, [{ name }])
    link.href = `#${encodeURIComponent(name)}`
    if (name === current) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  })
}

function showActions (queue) {
  for (const [id, fieldsOf] of Object.entries(BUTTONS)) byId(id).hidden = fieldsOf(queue) === undefined
}

function showFindings ({ findings }) {
  const list = byId('findings')
  const sentences = findings.length > 0 ? findings.map(finding) : [['Nothing stands out.']]
  while (list.children.length > sentences.length) list.lastChild.remove()
  while (list.children.length < sentences.length) list.append(element('li'))
  sentences.forEach((parts, i) => setParts(list.children[i], parts))
}

function showNumbers (queue) {
  const { slots, running, overdue, waiting, delayed, dead, totals, closed, paused, isGlobal } = queue
  // a paused queue does not say how many slots it has; at a broker the jobs are those of all processes, and the slots are not
  const hasSlots = !paused && !isGlobal
  const state = [closed && 'closed', paused && 'paused', ...queue.because === undefined || paused || closed ? [] : reason(queue)].filter(Boolean)
  const numbers = Object.entries({
    running: hasSlots ? '' : count(running),
    slots: hasSlots ? `${count(running)} of ${slots === null ? '∞' : count(slots)}` : '',
    overdue: overdue > 0 ? count(overdue) : '',
    waiting: count(waiting),
    'oldest wait': totals?.oldestWaitMs === undefined ? '' : time(totals.oldestWaitMs),
    delayed: count(delayed),
    'dead letters': dead === null ? '' : count(dead),
    ...totals === null ? {} : minute(totals),
    state: state.join(', ')
  }).filter(([, text]) => text !== '')
  const list = byId('numbers')
  while (list.children.length > numbers.length) list.lastChild.remove()
  while (list.children.length < numbers.length) list.append(element('div', {}, element('dt'), element('dd')))
  numbers.forEach(([name, text], i) => {
    const { children: [dt, dd] } = list.children[i]
    setText(dt, name)
    setText(dd, text)
  })
}

/** Of the last minute, but for what was refused. */
function minute ({ perSecond, failed, retried, fairness = null, refused }) {
  return {
    'ended per second': Number(perSecond.toPrecision(3)).toLocaleString('en'),
    'failed in a minute': count(failed),
    'retried in a minute': count(retried),
    'refused since the start': count(refused),
    fairness: fairness === null ? '' : fairness.toFixed(3)
  }
}

/** In this process, or in all that there are; whether those are paused nobody says. */
function pausing (actions, action, isUseful) {
  if (actions.includes(action)) return isUseful ? { action } : undefined
  return actions.includes(`${action}Global`) ? { action: `${action}Global` } : undefined
}
