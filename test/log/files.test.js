'use strict'

const assert = require('node:assert')
const fs = require('node:fs')
const { join } = require('node:path')
const { files } = require('../../lib/log/files')
const { temporaryFolder } = require('../support/folders')

describe('the file layer', () => {
  let folder

  beforeEach(() => { folder = temporaryFolder() })
  afterEach(() => fs.rmSync(folder, { recursive: true }))

  it('passes on what is no answer', () => {
    const path = join(folder, 'file')
    fs.writeFileSync(path, '')
    assert.throws(() => files.list(path), { code: 'ENOTDIR' })
    assert.throws(() => files.removeFolder(`${path}\0`), { code: 'ERR_INVALID_ARG_VALUE' })
  })

  it('puts a file in the place of another one, which may be open', () => {
    const [path, other] = ['new', 'old'].map(name => join(folder, name))
    fs.writeFileSync(path, 'new')
    const fd = files.create(other)
    files.rename(path, other)
    assert.deepEqual([fs.readdirSync(folder), fs.readFileSync(other, 'utf8'), files.size(fd)], [['old'], 'new', 0])
    files.close(fd)
  })

  it('leaves folders that may not go', () => {
    const path = join(folder, 'link')
    fs.symlinkSync(folder, path)
    files.removeFolder(path)
    assert(fs.existsSync(path))
  })

  it('makes folders beside others who make them', () => {
    const { mkdirSync, fsyncSync } = fs
    let syncsCount = 0
    try {
      fs.fsyncSync = fd => { syncsCount++; fsyncSync(fd) }
      fs.mkdirSync = path => {
        mkdirSync(path)
        mkdirSync(path) // EEXIST: somebody else was faster
      }
      files.makeFolder(join(folder, 'deep', 'queue'))
      assert(fs.existsSync(join(folder, 'deep', 'queue')))
      assert.equal(syncsCount, 2)
      fs.mkdirSync = () => { throw Object.assign(new Error('EACCES'), { code: 'EACCES' }) }
      assert.throws(() => files.makeFolder(join(folder, 'other')), { code: 'EACCES' })
    } finally {
      Object.assign(fs, { mkdirSync, fsyncSync })
    }
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
