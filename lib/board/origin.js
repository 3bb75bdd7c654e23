'use strict'

// Whether a request that changes something comes from the page itself. Browsers name the origin of the page that sends it, which a page of
// another site cannot forge; where they do not, and from programs that have no page, it has to have a token, which stands in the page.
// Other sites can read neither. Its content type is that of JSON, for which a browser asks first if the page is another site's.

const { createHash, randomBytes, timingSafeEqual } = require('node:crypto')
const { Refusal } = require('./body')

const OWN_SITES = ['same-origin', 'none'] // none: somebody typed the address
const TOKEN_HEADER = 'x-fairlane-token'
const TOKEN_BYTES = 24

module.exports = { makeToken, requireOwnPage }

/** @returns {string} another one for each handler */
function makeToken () {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** @param {object} request @param {string} token that stands in the page @throws Refusal for all else */
function requireOwnPage ({ headers }, token) {
  const { 'sec-fetch-site': site = 'none', origin } = headers
  if (!OWN_SITES.includes(site)) throw new Refusal(403, 'This request comes from the page of another site.')
  if (origin === undefined) {
    const what = `A request without an Origin must have the token of the page in the header ${TOKEN_HEADER}.`
    if (!isSame(headers[TOKEN_HEADER], token)) throw new Refusal(403, what)
  } else if (!isHere(origin, headers)) {
    throw new Refusal(403, 'This request comes from the page of another site, or a proxy changed Host without setting X-Forwarded-Host.')
  }
  const [type] = String(headers['content-type']).split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new Refusal(403, 'The content type must be application/json.')
}

/** Takes the same time whatever is given. */
function isSame (given, token) {
  return typeof given === 'string' && timingSafeEqual(hashOf(given), hashOf(token))
}

function hashOf (text) {
  return createHash('sha256').update(text).digest()
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
