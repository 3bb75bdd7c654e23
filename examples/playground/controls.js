'use strict'

// What can be set: the slots, which schedulers are compared, and the tenants. Each change makes a new set-up.

const { element } = require('./dom')
const { FIELDS, GROUPS, MOST_SCHEDULERS, MOST_TENANTS, NAME, SCHEDULERS, SLOTS } = require('./setup')

/**
 * @param {object} setup
 * @param {(setup: object) => void} change called with each new one
 * @param {string[]} colours of tenants
 */
function showControls (setup, change, colours) {
  document.getElementById('slots').replaceChildren(slider(SLOTS, setup.slots, 'slots', slots => change({ ...setup, slots })))
  document.getElementById('schedulers').replaceChildren(...Object.keys(SCHEDULERS).map(name => schedulerOf(name, setup, change)))
  document.getElementById('tenants').replaceChildren(...setup.tenants.map((tenant, i) => tenantOf(tenant, i, setup, change, colours[i])))
  const add = document.getElementById('add')
  add.disabled = setup.tenants.length === MOST_TENANTS
  add.onclick = () => change({ ...setup, tenants: [...setup.tenants, another(setup)] }, `tenant-${setup.tenants.length}`)
}

function another ({ tenants }) {
  let number = tenants.length + 1
  while (tenants.some(({ name }) => name === `tenant ${number}`)) number++
  return { name: `tenant ${number}`, group: '', perSecond: 5, ms: 100, weight: 1, rate: 0, cost: 1 }
}

function schedulerOf (name, setup, change) {
  const { title, about } = SCHEDULERS[name]
  const { schedulers } = setup
  const checked = schedulers.includes(name)
  const disabled = checked ? schedulers.length === 1 : schedulers.length === MOST_SCHEDULERS
  const choose = () => change({ ...setup, schedulers: Object.keys(SCHEDULERS).filter(other => other === name ? !checked : schedulers.includes(other)) })
  const box = element('input', { type: 'checkbox', id: `scheduler-${name}`, checked, disabled, on: { change: choose } })
  return element('label', {}, box, ` ${title}: ${about}`)
}

function tenantOf (tenant, index, setup, change, colour) {
  const become = more => change({ ...setup, tenants: setup.tenants.map((other, i) => i === index ? { ...other, ...more } : other) })
  const isTaken = name => setup.tenants.some((other, i) => i !== index && other.name === name)
  const name = element('input', { value: tenant.name, id: `tenant-${index}`, maxLength: 20, on: { change: rename } })
  function rename () {
    const isRight = NAME.test(name.value) && !isTaken(name.value)
    name.setCustomValidity(isRight ? '' : 'Letters, digits, spaces, dots and dashes, and no name of another tenant.')
    if (name.reportValidity()) become({ name: name.value })
  }
  const group = element('select', { id: `tenant-${index}-group`, on: { change: () => become({ group: group.value }) } },
    ...GROUPS.map(value => element('option', { value, selected: value === tenant.group }, value === '' ? 'none' : value)))
  const remove = element('button', {
    type: 'button',
    disabled: setup.tenants.length === 1,
    on: { click: () => change({ ...setup, tenants: setup.tenants.filter((_, i) => i !== index) }, 'add') }
  }, `Remove ${tenant.name}`)
  const mark = element('span', { className: 'mark', aria: { hidden: true } })
  mark.style.background = colour
  return element('fieldset', {}, element('legend', {}, mark, tenant.name), element('label', {}, 'name ', name), element('label', {}, 'group ', group),
    ...FIELDS.map(field => slider(field, tenant[field.name], `tenant-${index}-${field.name}`, value => become({ [field.name]: value }))), remove)
}

function slider ({ label, least, most, step }, value, id, become) {
  const output = element('output', {}, String(value))
  const input = element('input', {
    type: 'range', id, min: least, max: most, step, on: { input: () => { output.textContent = input.value }, change: () => become(Number(input.value)) }
  })
  input.value = value // not before what it may be is known
  return element('label', {}, `${label} `, output, input)
}

module.exports = { showControls }
