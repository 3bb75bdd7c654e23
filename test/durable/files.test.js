'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const { join } = require('node:path')
const { files } = require('../../lib/durable/files')
const { temporaryFolder } = require('../support/folders')

describe('the file layer', () => {
  let folder

  beforeEach(() => { folder = temporaryFolder() })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  it('passes on what is no answer', () => {
    const path = join(folder, 'file')
    fs.writeFileSync(path, '')
    assert.throws(() => files.list(path), { code: 'ENOTDIR' })
    assert.throws(() => files.removeFolder(path), { code: 'ENOTDIR' })
  })

  it('closes files of disks that fail', () => {
    const { closeSync } = fs
    try {
      for (const code of ['EIO', 'EBADF']) {
        fs.closeSync = () => { throw Object.assign(new Error(code), { code }) }
        if (code === 'EIO') files.close(1)
        else assert.throws(() => files.close(1), { code })
      }
    } finally {
      fs.closeSync = closeSync
    }
  })

  it('has no names to sync on Windows', () => {
    files.syncFolder(join(folder, 'none'), 'win32')
    assert.throws(() => files.syncFolder(join(folder, 'none')), { code: 'ENOENT', syscall: 'open' })
  })
})
