'use strict'

// The commands, and what each takes. One whose `run` changes jobs opens the queue itself.

const { board } = require('./commands/board')
const dead = require('./commands/dead')
const { exportJobs } = require('./commands/export')
const { schedules } = require('./commands/schedules')
const { status } = require('./commands/status')
const { types } = require('./commands/types')
const { verify } = require('./commands/verify')

// as parseArgs() wants them, with what is said of each
const OPTIONS = {
  path: { type: 'string', value: 'FOLDER', about: 'the folder of a queue on disk; you may also write it behind the command, without --path' },
  connection: { type: 'string', multiple: true, value: 'URL', about: 'the broker, redis:// or rediss://; several are nodes of a cluster' },
  name: { type: 'string', value: 'QUEUE', about: 'the name of the queue at the broker' },
  type: { type: 'string', value: 'TYPE', about: 'only jobs of this type' },
  error: { type: 'string', value: 'TEXT', about: 'only those whose last error contains it: "code: message", or "name: message" without a code' },
  all: { type: 'boolean', about: 'all dead letters' },
  limit: { type: 'string', value: 'N', about: 'at most so many' },
  payloads: { type: 'boolean', about: 'also shows payloads' },
  port: { type: 'string', value: 'N', about: 'the port of the page; default: any free one' },
  'read-only': { type: 'boolean', about: 'the page has no buttons' },
  json: { type: 'boolean', about: 'prints JSON' },
  help: { type: 'boolean', short: 'h', about: 'shows what a command takes' },
  version: { type: 'boolean', about: 'shows the version' }
}

const ANY = ['path', 'connection', 'name', 'json', 'help']

// name → about: a line of the help. options. takesIds: words behind the folder. isOfFolders: not at a broker. reads: how much it needs of
// a folder that is only read; false: it opens the queue itself
const COMMANDS = new Map(Object.entries({
  status: { about: 'how many jobs there are, how long they wait, and whether it is damaged', options: ANY, reads: true, run: status },
  types: { about: 'the types that have jobs, those with most first', options: [...ANY, 'limit'], reads: true, run: types },
  'dead list': {
    about: 'the dead letters, the oldest first', options: [...ANY, 'type', 'error', 'limit', 'payloads'], reads: true, run: dead.list
  },
  'dead show': {
    about: 'all that is known of some', options: [...ANY, 'payloads'], takesIds: true, check: dead.checkIds, reads: true, run: dead.show
  },
  'dead retry': {
    about: 'queues some again, by their ids, or by --type, --error, --all',
    options: [...ANY, 'type', 'error', 'all'],
    takesIds: true,
    check: dead.checkChoice,
    reads: false,
    run: dead.retry
  },
  'dead delete': {
    about: 'deletes some, as dead retry',
    options: [...ANY, 'type', 'error', 'all'],
    takesIds: true,
    check: dead.checkChoice,
    reads: false,
    run: dead.remove
  },
  schedules: { about: 'when jobs are pushed, and were', options: ANY, reads: true, run: schedules },
  verify: { about: 'whether the files of a folder are whole', options: ['path', 'json', 'help'], isOfFolders: true, reads: true, run: verify },
  export: {
    about: 'the jobs, dead letters too, as a line of JSON each', options: [...ANY, 'type', 'payloads'], reads: true, run: exportJobs
  },
  board: { about: 'the page for tenants, at an address of this machine', options: [...ANY, 'port', 'read-only'], reads: false, run: board }
}))

module.exports = { COMMANDS, OPTIONS, commandsOf }

/** @returns {string[]} the commands of two words that begin with this one */
function commandsOf (word) {
  return [...COMMANDS.keys()].filter(name => name.startsWith(`${word} `))
}
