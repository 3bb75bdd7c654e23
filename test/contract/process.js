'use strict'

// A process that is killed while it runs a job, by the tests that have started it:
//
//   node process.js '{"path": "/tmp/…"}'      or, at a broker, '{"name": "…", "connection": …}'

const options = JSON.parse(process.argv[2])
const open = 'path' in options ? require('../../lib/durable').durable : require('../../lib/distributed').distributed

open(() => { process.send('started') }, { ...options, settleBy: 'callback' })
