'use strict'

// What is asked of the server, and what it is told to do.

const { say } = require('./dom')

const BASE = location.pathname.replace(/\/?$/, '/') // it may be mounted without a slash at its end
const TOKEN = document.querySelector('meta[name=token]').content

module.exports = { act, ask, perform }

/** @param {object} fields undefined ones are left out @returns {Promise<object>} rejects with what the server says against it */
async function ask (path, fields) {
  const search = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined))
  return answerOf(await fetch(`${BASE}${path}?${search}`))
}

/** @returns {Promise<any>} the result */
async function act (fields) {
  const { result } = await answerOf(await fetch(`${BASE}act`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-fairlane-token': TOKEN },
    body: JSON.stringify(fields)
  }))
  return result
}

/** Does what a button is for, and says what came of it. @param {() => Promise<void>} refresh */
async function perform (fields, refresh) {
  const { action } = fields
  try {
    const result = await act(fields)
    await refresh()
    say(result === false ? `${action}: there is no such job any more` : `${action}: done`)
  } catch (err) {
    say(`${action}: ${err.message}`, true)
  }
}

/** What the server says, or throws what it says against it. */
async function answerOf (response) {
  const isJson = /^application\/json/.test(response.headers.get('content-type'))
  if (!isJson) throw new Error(`the server answered ${response.status}, but not with JSON: log in again, or check the proxy in front of it`)
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.message)
  return answer
}
