'use strict'

// The program of examples/engines.mjs on each engine, as a process of its own.

const assert = require('node:assert/strict')
const { readFileSync, rmSync } = require('node:fs')
const { join } = require('node:path')
const { ENGINES } = require('../../lib/testing/contract')
const { node, root } = require('../support/child')
const { temporaryFolder } = require('../support/folders')
const { describeWithRedis, startRedis } = require('../support/redis')

const PRINTED = [
  'mail to ada of acme, attempt 1',
  '1 mail for two',
  'mail to bob of bolt, attempt 1',
  "[ { type: 'acme', waiting: 1, delayed: 1, running: 0, dead: 0 } ]",
  'cleared 1',
  'FAIRLANE_ERR_CLEARED',
  'again for bolt: nobody, no such address',
  'failed for bolt after 2 attempts',
  'no such address',
  'mail to eve of acme, attempt 1',
  'mail to finn of acme, attempt 1',
  '{ done: 5, failed: 1, cancelled: 1, throttled: 1 }'
]

describeWithRedis('the program that runs on each engine', () => {
  let folder, server

  before(async () => {
    folder = temporaryFolder()
    server = await startRedis()
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true })
  })

  for (const engine of ENGINES) {
    it(`prints the same with the argument ${engine}`, async () => {
      const { code, stdout, stderr } = await node([join(root, 'examples/engines.mjs'), engine], { env: { TMPDIR: folder, REDIS_URL: server.path } })
      assert.equal(code, 0, stderr)
      assert.deepEqual(stdout.trimEnd().split('\n').sort(), PRINTED.toSorted())
    })
  }

  it('is no longer than sixty lines', () => {
    assert(readFileSync(join(root, 'examples/engines.mjs'), 'utf8').trimEnd().split('\n').length <= 60)
  })
})
