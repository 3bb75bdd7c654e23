'use strict'

// The Firefox of this machine, driven by WebDriver BiDi, which it speaks itself: playwright drives builds of its own only, or newer ones.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { createInterface } = require('node:readline')
const { WebSocket } = require('undici')
const { temporaryFolder } = require('./folders')
const { programOf } = require('./path')

const NAMES = ['firefox', 'firefox-esr']
const LISTENS = /^WebDriver BiDi listening on (ws:\S+)/
const TURN_MS = 50

const program = programOf('FIREFOX', NAMES)

module.exports = { program, describeWithFirefox, openFirefox }

/** As describe(), for tests that need this browser: skipped where there is none, unless there must be one. */
function describeWithFirefox (title, define) {
  if (program === undefined && process.env.REQUIRE_FIREFOX !== '1') describe.skip(title, define)
  else describe(title, define)
}

/**
 * @param {{ isDark?: boolean }} [options] whether pages are dark
 * @returns {Promise<Firefox>}
 */
async function openFirefox ({ isDark = false } = {}) {
  const folder = temporaryFolder()
  const settings = {
    'layout.css.prefers-color-scheme.content-override': isDark ? 0 : 1,
    'intl.accept_languages': 'en-GB',
    'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'app.update.enabled': false,
    'network.proxy.type': 1,
    'network.proxy.http': '127.0.0.1', // nothing but this machine
    'network.proxy.http_port': 9,
    'network.proxy.ssl': '127.0.0.1',
    'network.proxy.ssl_port': 9
  }
  writeFileSync(join(folder, 'user.js'), Object.entries(settings).map(([name, value]) => `user_pref('${name}', ${JSON.stringify(value)});\n`).join(''))
  const child = spawn(program, ['--headless', '--remote-debugging-port=0', '--profile', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let address
  for await (const line of createInterface({ input: child.stderr })) {
    address = LISTENS.exec(line)?.[1]
    if (address !== undefined) break
  }
  child.stderr.resume()
  const socket = new WebSocket(`${address}/session`)
  await once(socket, 'open')
  const browser = new Firefox(socket, async () => {
    const exit = once(child, 'exit')
    child.kill()
    await exit
    rmSync(folder, { recursive: true })
  })
  await browser.begin()
  return browser
}

/** One tab of a browser. */
class Firefox {
  /** @param {WebSocket} socket @param {() => Promise<void>} end ends the browser */
  constructor (socket, end) {
    this.socket = socket
    this.end = end
    this.calls = new Map() // id → what waits for its answer
    this.lastId = 0
    this.errors = [] // of pages: uncaught, or on the console
    this.questions = [] // that pages have asked by confirm()
    this.accepts = true // what they are answered
    this.context = undefined
    socket.addEventListener('message', ({ data }) => this.hear(JSON.parse(data)))
  }

  async begin () {
    await this.call('session.new', { capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: 'ignore' } } } })
    await this.call('session.subscribe', { events: ['log.entryAdded', 'browsingContext.userPromptOpened'] })
    // in the window that is there from the beginning keys press no buttons
    this.context = (await this.call('browsingContext.create', { type: 'window' })).context
    await this.call('browsingContext.activate', { context: this.context })
  }

  async go (url, { width, height }) {
    await this.call('browsingContext.setViewport', { context: this.context, viewport: { width, height } })
    await this.call('browsingContext.navigate', { context: this.context, url, wait: 'complete' })
  }

  /** What an expression gives in the page, as JSON. @param {string} expression that may be awaited */
  async evaluate (expression) {
    const params = { expression: `(async () => JSON.stringify(await (${expression})))()`, target: { context: this.context }, awaitPromise: true }
    const { type, result, exceptionDetails } = await this.call('script.evaluate', params)
    if (type === 'exception') throw new Error(exceptionDetails.text)
    return result.value === undefined ? undefined : JSON.parse(result.value)
  }

  /** Runs a script in the page, whatever the page allows. */
  run (script) {
    return this.call('script.evaluate', { expression: script, target: { context: this.context }, awaitPromise: false })
  }

  /** @returns {Promise<any>} the first value of an expression that is true enough */
  async until (expression) {
    for (;;) {
      const value = await this.evaluate(expression)
      if (value) return value
      await new Promise(resolve => setTimeout(resolve, TURN_MS))
    }
  }

  /** Presses keys, one after the other; those of a list together. @param {(string | string[])[]} keys */
  async press (...keys) {
    const actions = keys.flatMap(key => {
      const together = [key].flat()
      return [...together.map(value => ({ type: 'keyDown', value })), ...together.toReversed().map(value => ({ type: 'keyUp', value }))]
    })
    await this.call('input.performActions', { context: this.context, actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  async close () {
    this.socket.close()
    await this.end()
  }

  // private from here on

  call (method, params) {
    const id = ++this.lastId
    this.socket.send(JSON.stringify({ id, method, params }))
    return new Promise((resolve, reject) => this.calls.set(id, { resolve, reject }))
  }

  async answer ({ context, message }) {
    this.questions.push(message)
    await this.call('browsingContext.handleUserPrompt', { context, accept: this.accepts })
  }

  hear ({ type, id, method, params, result, error, message }) {
    if (type === 'event') {
      if (method === 'log.entryAdded' && params.level === 'error') this.errors.push(params.text)
      if (method === 'browsingContext.userPromptOpened') this.answer(params)
      return
    }
    const { resolve, reject } = this.calls.get(id)
    this.calls.delete(id)
    if (type === 'error') reject(new Error(`${error}: ${message}`))
    else resolve(result)
  }
}
