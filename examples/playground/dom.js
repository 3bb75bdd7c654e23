'use strict'

/**
 * Makes an element.
 * @param {string} name of its kind
 * @param {object} [properties] of the element; `data`, `aria` and `on` are objects of attributes and listeners
 * @param {...(Node | string)} children
 */
function element (name, { data = {}, aria = {}, on = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  for (const [key, value] of Object.entries(data)) made.dataset[key] = value
  for (const [key, value] of Object.entries(aria)) made.setAttribute(key === 'role' ? key : `aria-${key}`, value)
  for (const [key, listener] of Object.entries(on)) made.addEventListener(key, listener)
  made.append(...children)
  return made
}

module.exports = { element }
