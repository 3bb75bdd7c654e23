'use strict'

// Where the queues of a run are: one folder for all, removed when the process ends, however a measurement ended.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** What statfs calls them, as far as benchmarks are run on them. */
const FILE_SYSTEMS = {
  0xef53: 'ext4',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x2fc12fc1: 'zfs',
  0x01021994: 'tmpfs',
  0x794c7630: 'overlayfs',
  0xf2f52010: 'f2fs',
  0x1a: 'apfs'
}

/**
 * @param {string} parent
 * @returns {{ folder: string, fileSystem: string }} a new folder in it
 */
function createPlace (parent) {
  const folder = fs.mkdtempSync(path.join(parent, 'fairlane-bench-'))
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  const { type } = fs.statfsSync(folder)
  return { folder, fileSystem: FILE_SYSTEMS[type] ?? `file system 0x${type.toString(16)}` }
}

/**
 * Says where the queues of all cells are.
 * @param {object[]} cells each is given its `folder`
 * @param {{ folder?: string }} options the one that they are to be in
 * @returns {{ fileSystem: string }} for the result file
 */
function placeCells (cells, { folder = os.tmpdir() }) {
  const place = createPlace(folder)
  for (const cell of cells) cell.folder = place.folder
  return { fileSystem: place.fileSystem }
}

/**
 * @param {string} folder
 * @param {(folder: string) => Promise<any>} use gets a new folder in it, which is removed afterwards
 * @returns {Promise<any>} what `use` gave
 */
async function inFolderOfItsOwn (folder, use) {
  const own = fs.mkdtempSync(path.join(folder, 'measurement-'))
  try {
    return await use(own)
  } finally {
    fs.rmSync(own, { recursive: true, force: true })
  }
}

module.exports = { createPlace, placeCells, inFolderOfItsOwn }
