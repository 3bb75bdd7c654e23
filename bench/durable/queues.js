'use strict'

// The durable queues that are compared: one adapter for each, so that all get the same load.
//
// `label` is the head of its column, `syncs` what an acknowledged push is safe from; `note` says what there is to know. Those that
// run in this process have `open(folder)` (load.js says what it gives), the others `run(load, folder)`, which gives what
// runLoad gives. `peer` is what has to be installed (peers.js), and `package` what its version is that of.

const fs = require('node:fs')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { packagePath, pythonPath, PQUEUE_PROGRAM } = require('./peers')

const queues = {
  fairlane: ours('os'),
  'fairlane, disk': { ...ours('disk'), syncs: true },

  RocksQ: {
    peer: 'rocksq',
    package: 'rocksq',
    note: 'a Python program; its blocking queue, or with several pushes under way its non-blocking one; keeps the GIL, since a ' +
      'single thread is faster so',
    run: runRocksq
  },
  'RocksQ, one call at a time': {
    peer: 'rocksq',
    package: 'rocksq',
    run: (load, folder) => runRocksq({ ...load, shape: 'all' }, folder)
  },

  pqueue: {
    peer: 'pqueue',
    package: 'pqueue',
    note: 'a Go program; takes one payload per call from the queue, since it knows no other way; writing and reading run in two ' +
      'goroutines, as in its own benchmark',
    run: runPqueue
  },
  'pqueue, one call at a time': {
    peer: 'pqueue',
    package: 'pqueue',
    run: (load, folder) => runPqueue({ ...load, shape: 'all' }, folder)
  },
  'pqueue, batches of 100': {
    peer: 'pqueue',
    package: 'pqueue',
    run: (load, folder) => runPqueue({ ...load, shape: 'all', batch: 100 }, folder)
  },

  'better-sqlite3': sqlite('better-sqlite3', 'NORMAL'),
  'better-sqlite3, synced': { ...sqlite('better-sqlite3', 'FULL'), syncs: true },
  'node:sqlite': sqlite('node:sqlite', 'NORMAL'),

  lmdb: { ...lmdb({ noSync: true }), note: 'noSync: a power failure may damage all of it' },
  'lmdb, synced': { ...lmdb({ overlappingSync: false }), syncs: true },

  // What no queue can be faster than, as long as a call waits for the one before, and its data is with the operating system, or
  // on this disk, when it ends.
  write: bareFile(() => {}),
  'write and fdatasync': { ...bareFile(fs.fdatasyncSync), syncs: true }
}

/** No queue: a file that calls write to, and what they wrote in memory. */
function bareFile (sync) {
  return {
    package: null,
    isBare: true,
    open (folder) {
      const fd = fs.openSync(`${folder}.log`, 'a')
      const written = []
      return {
        push (payloads) {
          fs.writeSync(fd, Buffer.concat(payloads))
          sync(fd)
          written.push(...payloads)
        },
        pop: max => written.splice(0, max),
        close: () => fs.closeSync(fd)
      }
    }
  }
}

function ours (ack) {
  return {
    package: 'fairlane',
    async open (folder) {
      const { PersistentQueue } = require('../../lib/log')
      const queue = await PersistentQueue.open(folder, { ack })
      return {
        push: payloads => queue.push(payloads),
        pushOne: payload => queue.push(payload),
        pop: max => queue.pop(max),
        close: () => queue.close()
      }
    }
  }
}

/** A table whose rows are taken from the front; a call is a transaction. */
function sqlite (packageName, synchronous) {
  return {
    peer: packageName,
    package: packageName,
    note: `a table, journal mode WAL, synchronous = ${synchronous}`,
    open (folder) {
      const Database = packageName === 'node:sqlite'
        ? require('node:sqlite').DatabaseSync
        : require(packagePath(packageName))
      const database = new Database(`${folder}.db`)
      database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
        CREATE TABLE queue (id INTEGER PRIMARY KEY, payload BLOB NOT NULL)`)
      const [begin, commit, insert, select, remove, removeFirst] = [
        'BEGIN', 'COMMIT', 'INSERT INTO queue (payload) VALUES (?)', 'SELECT id, payload FROM queue ORDER BY id LIMIT ?',
        'DELETE FROM queue WHERE id <= ?', 'DELETE FROM queue WHERE id = (SELECT min(id) FROM queue) RETURNING payload'
      ].map(text => database.prepare(text))
      return {
        push (payloads) {
          if (payloads.length === 1) return insert.run(payloads[0])
          begin.run()
          for (const payload of payloads) insert.run(payload)
          commit.run()
        },
        pop (max) {
          const rows = max === 1 ? removeFirst.all() : select.all(max)
          if (max > 1 && rows.length > 0) remove.run(rows[rows.length - 1].id)
          return rows.map(({ payload }) => payload)
        },
        close: () => database.close()
      }
    }
  }
}

/** Numbers as keys; single calls as putSync and removeSync, several as a transaction: faster than its promises in series. */
function lmdb (options) {
  return {
    peer: 'lmdb',
    package: 'lmdb',
    open (folder) {
      const database = require(packagePath('lmdb')).open(`${folder}.mdb`, { ...options, keyEncoding: 'uint32', encoding: 'binary' })
      let head = 0
      let tail = 0
      return {
        push (payloads) {
          if (payloads.length === 1) return database.putSync(tail++, payloads[0])
          database.transactionSync(() => {
            for (const payload of payloads) database.put(tail++, payload)
          })
        },
        pushOne: payload => database.put(tail++, payload),
        pop (max) {
          const count = Math.min(max, tail - head)
          if (count === 1) return [take(number => database.removeSync(number))]
          const payloads = []
          if (count > 1) {
            database.transactionSync(() => { while (payloads.length < count) payloads.push(take(number => database.remove(number))) })
          }
          return payloads
        },
        close: () => database.close()
      }

      function take (remove) {
        const payload = database.getBinary(head)
        remove(head++)
        return payload
      }
    }
  }
}

function runRocksq (load, folder) {
  return runProgram(pythonPath(), [path.join(__dirname, 'load_rocksq.py'), JSON.stringify(load), folder])
}

function runPqueue (load, folder) {
  return runProgram(PQUEUE_PROGRAM, [JSON.stringify(load), folder])
}

/** @returns {Promise<object>} what the program prints, which is JSON; rejects if it fails */
function runProgram (command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', text => { output += text })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(JSON.parse(output))
      reject(new Error(`${command} ended with ${signal ?? `code ${code}`}`))
    })
  })
}

module.exports = { queues }
