'use strict'

// What is simulated: tenants, slots, and which schedulers stand side by side. All of it fits into the address of the page, so that a link
// shows others the same.

/** The schedulers to choose from. hasRates: limits of single tenants need a scheduler. */
const SCHEDULERS = {
  none: { title: 'Arrival order', about: 'no scheduler', hasRates: false },
  fair: { title: 'fair', about: 'in proportion to what waits', hasRates: true },
  capped: { title: 'capped', about: 'arrival order, with a cap for each tenant', hasRates: true },
  equal: { title: 'equal', about: 'equal shares of slot time, by weights', hasRates: true },
  groups: { title: 'equal, with groups', about: 'groups share, and tenants within them', hasRates: true },
  cost: { title: 'equal, by cost', about: 'equal shares of units, by weights', hasRates: true }
}

const MOST_TENANTS = 8
const MOST_SCHEDULERS = 3

/** What a tenant has, in the order in which an address has it. */
const FIELDS = [
  { name: 'perSecond', label: 'jobs per second', least: 0, most: 100, step: 1 },
  { name: 'ms', label: 'ms a job', least: 1, most: 2000, step: 1 },
  { name: 'weight', label: 'weight', least: 0.25, most: 8, step: 0.25 },
  { name: 'rate', label: 'rate: starts per second, 0 for none', least: 0, most: 100, step: 1 },
  { name: 'cost', label: 'cost of a job', least: 1, most: 100, step: 1 }
]
const SLOTS = { name: 'slots', label: 'slots', least: 1, most: 20, step: 1 }
const GROUPS = ['', 'A', 'B', 'C']
const NAME = /^[\p{L}\p{N} ._-]{1,20}$/u

const tenant = (name, perSecond, ms, more) => ({ name, group: '', perSecond, ms, weight: 1, rate: 0, cost: 1, ...more })

/** By the name that the page shows. */
const EXAMPLES = {
  'one tenant floods': {
    slots: 4, schedulers: ['none', 'equal'], tenants: [tenant('noisy', 60, 100), tenant('quiet', 2, 100), tenant('steady', 8, 100)]
  },
  'one tenant has long jobs': {
    slots: 4, schedulers: ['none', 'fair', 'equal'], tenants: [tenant('reports', 3, 1500), tenant('clicks', 20, 40), tenant('quiet', 2, 40)]
  },
  'one customer has many users': {
    slots: 4,
    schedulers: ['equal', 'groups'],
    tenants: [...['ada', 'bob', 'eve', 'joe'].map(name => tenant(name, 20, 100, { group: 'A' })), tenant('zoe', 20, 100, { group: 'B' })]
  },
  'one tenant has dear jobs': {
    slots: 4, schedulers: ['equal', 'cost'], tenants: [tenant('dear', 30, 100, { cost: 20 }), tenant('cheap', 30, 100), tenant('quiet', 2, 100)]
  },
  'one tenant has a rate': {
    slots: 4, schedulers: ['none', 'equal'], tenants: [tenant('limited', 30, 100, { rate: 5 }), tenant('busy', 60, 100), tenant('quiet', 2, 100)]
  }
}

const [DEFAULT] = Object.values(EXAMPLES)

/** @param {object} setup @returns {string} what follows the # in the address */
function toAddress ({ slots, schedulers, tenants }) {
  const params = new URLSearchParams({ slots, schedulers: schedulers.join() })
  for (const tenant of tenants) params.append('tenant', [tenant.name, tenant.group, ...FIELDS.map(({ name }) => tenant[name])].join())
  return params.toString()
}

/** @param {string} address as toAddress() gives it @throws RangeError that says what is wrong */
function fromAddress (address) {
  const params = new URLSearchParams(address)
  const schedulers = (params.get('schedulers') ?? '').split(',')
  check(schedulers.length <= MOST_SCHEDULERS && schedulers.every(name => Object.hasOwn(SCHEDULERS, name)), 'the schedulers')
  check(new Set(schedulers).size === schedulers.length, 'the schedulers')
  const tenants = params.getAll('tenant').map(readTenant)
  check(tenants.length > 0 && tenants.length <= MOST_TENANTS, 'the number of tenants')
  check(new Set(tenants.map(({ name }) => name)).size === tenants.length, 'the names of the tenants')
  return { slots: readNumber(params.get('slots'), SLOTS), schedulers, tenants }
}

function readTenant (text) {
  const [name, group, ...values] = text.split(',')
  check(NAME.test(name), 'the name of a tenant')
  check(GROUPS.includes(group), 'the group of a tenant')
  return { name, group, ...Object.fromEntries(FIELDS.map((field, i) => [field.name, readNumber(values[i], field)])) }
}

function readNumber (text, { label, least, most, step }) {
  const value = Number(text ?? NaN)
  check(text !== '' && value >= least && value <= most && Number.isInteger((value - least) / step), label)
  return value
}

function check (isRight, what) {
  if (!isRight) throw new RangeError(`${what} cannot be read`)
}

module.exports = { DEFAULT, EXAMPLES, FIELDS, GROUPS, MOST_SCHEDULERS, MOST_TENANTS, NAME, SCHEDULERS, SLOTS, fromAddress, toAddress }
