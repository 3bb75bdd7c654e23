'use strict'

// The servers of docs/reference/board.md that show the page for tenants, each as a process of its own.

const assert = require('node:assert/strict')
const { request } = require('undici')
const { startProgram } = require('../support/programs')
const { pages, codeBlocks } = require('./pages')

const PASSWORD = 'secret'
const page = pages().find(({ path }) => path === 'docs/reference/board.md')
const servers = codeBlocks(page.text).filter(({ code }) => code.includes('.listen(Number('))

describe('the servers of docs/reference/board.md', function () {
  for (const { code, line } of servers) {
    it(`line ${line} shows the page to who is logged in, and to nobody else`, async function () {
      const program = startProgram(['--input-type=module', '--eval', code], { env: { PORT: '0', BOARD_PASSWORD: PASSWORD } })
      try {
        const origin = `http://127.0.0.1:${await program.line()}`
        const ask = async (path, password, options) => {
          const { statusCode, headers, body } = await request(`${origin}${path}`, { headers: headersOf(password), ...options })
          return { status: statusCode, headers, text: await body.text() }
        }
        for (const path of ['/board/', '/board/state', '/board/act']) {
          for (const password of [undefined, '', 'other']) assert.equal((await ask(path, password)).status, 401, path)
        }
        for (const path of ['/board', '/board/']) assert.match((await ask(path, PASSWORD)).text, /^<!doctype html>/, path)
        assert.deepEqual(JSON.parse((await ask('/board/state', PASSWORD)).text).names, ['mails'])
        const body = '{ "action": "pause" }'
        const headers = { ...headersOf(PASSWORD), 'content-type': 'application/json' }
        const act = more => ask('/board/act', PASSWORD, { method: 'POST', headers: { ...headers, ...more }, body })
        const { token } = JSON.parse((await ask('/board/state', PASSWORD)).text)
        assert.deepEqual([(await act({})).status, (await act({ origin })).status, (await act({ 'x-fairlane-token': token })).status], [403, 200, 200])
        assert.equal((await ask('/', PASSWORD)).status, 404)
        if (!code.includes('createBullBoard')) return
        assert.equal((await ask('/jobs/')).status, 401)
        assert.deepEqual(JSON.parse((await ask('/jobs/api/queues', PASSWORD)).text).queues.map(({ name }) => name), ['mails', 'mails:tenant-a'])
      } finally {
        await program.end()
      }
    })
  }

  it('are there', () => assert(servers.length > 0))
})

function headersOf (password) {
  return password === undefined ? {} : { authorization: `Basic ${Buffer.from(`admin:${password}`).toString('base64')}` }
}
