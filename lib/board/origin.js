'use strict'

// Whether a request comes from the page itself. Browsers say so in one of three headers, which a page of another site cannot set: the
// newest one that is there counts. Over plain HTTP to another machine they leave out the first. A program that has no page sends none of
// them, and is let through: a browser never does so with the content type of JSON, for which it has to ask first if the page is another
// site's.

const { Refusal } = require('./body')

const OWN_SITES = ['same-origin', 'none'] // none: somebody typed the address

module.exports = { requireOwnPage }

/** @param {object} request @throws Refusal for all else */
function requireOwnPage ({ headers }) {
  const { 'sec-fetch-site': site, origin, referer } = headers
  const page = origin ?? referer
  const isOwn = site !== undefined ? OWN_SITES.includes(site) : page === undefined || isHere(page, headers)
  if (!isOwn) throw new Refusal(403, 'This request comes from the page of another site.')
  const [type] = String(headers['content-type']).split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new Refusal(403, 'The content type must be application/json.')
}

/** Whether the address of a page names the server that was asked, as who asks calls it, or as a proxy says that it was called. */
function isHere (page, { host, ':authority': authority, 'x-forwarded-host': forwarded = '' }) {
  const { protocol, host: wanted } = addressOf(page) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:') return false
  return [host ?? authority, ...forwarded.split(',')].some(name => addressOf(`${protocol}//${String(name).trim()}`)?.host === wanted)
}

/** @returns {URL | undefined} with neither the port nor the case that make no difference */
function addressOf (text) {
  return URL.canParse(text) ? new URL(text) : undefined
}
