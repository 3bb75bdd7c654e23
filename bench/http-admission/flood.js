'use strict'

// The tenant that floods, in a process of its own: argv[2] is { port, connections, seconds } as JSON. Tells its parent when answers come,
// and what became of its requests.

const autocannon = require('autocannon')

const { port, connections, seconds } = JSON.parse(process.argv[2])

const run = autocannon({ url: `http://127.0.0.1:${port}`, connections, duration: seconds, headers: { tenant: 'greedy' } }, (err, result) => {
  if (err) throw err
  process.send({ ok: result['2xx'], refused: result.non2xx }, () => process.exit())
})
run.once('response', () => process.send('begun'))
process.on('disconnect', () => process.exit())
