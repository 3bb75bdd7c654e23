'use strict'

// The child of job-kill.test.js: runs jobs until it is killed, or until a poison job kills it. One line per event.
//   + id   is safe            = id attempt   begins
//   ~ id   is done            - id           ... and that was written
//   x id attempts code        is a dead letter
//   e id   ... before its time
//   = id attempt key   of a job that has one until it has settled
//   ? id   is to be cancelled  c id           was cancelled, and that was written
//   / id attempt              is put off, and the attempt is not to count
//   s id time                 is that of a schedule, for a time
//   b id 0 batch              is one of a batch
//   $ id units                by so much more was charged in this process than its jobs cost whose runners were called; 0 at the end

const { writeSync } = require('node:fs')
const { durable, Postponed, Throttled } = require('../../lib/durable')

const [path, ack, pushesCount, isFinal] = process.argv.slice(2)
const say = line => writeSync(1, `${line}\n`)
const said = new Map() // by the id of a job: what its runner has said in this process
let queue
let known = 0 // what the jobs have cost whose runners were called

main()

async function main () {
  const options = { path, ack, segmentBytes: 1 << 14, concurrency: 4, maxAttempts: 3, backoffMs: 1, scheduler: 'equal', priorityMs: 50 }
  options.ratePerType = { limit: 500, intervalMs: 20, of: 'cost' }
  if (isFinal !== 'final') options.schedules = { tick: { everyMs: 10, type: 'tick', payload: { kind: 'tick' }, overlap: true } }
  queue = await durable(run, options)
  queue.on('done', ({ id }) => {
    say(`~ ${id}`)
    queue.flush().then(() => say(`- ${id}`))
  })
  queue.on('failed', ({ id, attempt, error }) => say(`x ${id} ${attempt} ${error.code}`))
  for (const { id, attempts, error } of await queue.deadLetters()) say(`x ${id} ${attempts} ${error.code}`)
  for (let i = 0; i < Number(pushesCount); i++) {
    const kind = i === 60 ? 'poison' : i % 17 === 5 ? 'pinned' : i % 11 === 4 ? 'busy' : 'job'
    const delayMs = i % 11 === 3 ? 1 + i : 0
    const at = Date.now() + delayMs
    const key = kind === 'job' && i % 5 === 2 && delayMs === 0 ? `${i % 3} ${i % 2}` : undefined
    const options = {
      delayMs,
      maxAttempts: i % 4 === 1 ? 3 : undefined,
      key,
      keyUntil: key && 'settled',
      onDuplicate: key && (i % 10 === 2 ? 'join' : 'replace'),
      priority: i % 4 === 3 ? i % 16 : undefined,
      cost: i % 7 === 6 ? undefined : i * 31 % 97
    }
    if (i % 9 === 1) pushAll(queue, `${process.pid}-${i}`, i)
    const pushed = queue.pushType(i % 3, { kind, at, key, cost: options.cost, filling: 'x'.repeat(i * 37 % 900) }, options).then(id => {
      say(`+ ${id}`)
      // that is before it has a slot, or while it runs
      if (i % 13 === 7) cancel(queue, id)
    })
    if (i % 8 === 0) await pushed
  }
  await queue.onIdle()
  say(`$ 0 ${queue.stats().spent - known}`)
  await queue.close({ drain: true })
  say('end')
}

/** Half of the jobs have priorities, and one is delayed. */
async function pushAll (queue, batch, i) {
  const job = { type: i % 3, payload: { kind: 'job', at: 0, batch, filling: 'x'.repeat(i * 53 % 700) } }
  const delayed = { ...job, payload: { ...job.payload, at: Date.now() + i }, delayMs: i }
  const dear = { ...job, payload: { ...job.payload, cost: 40 }, cost: 40, priority: 7 }
  for (const id of await queue.pushAll([job, dear, delayed, { ...job, type: 'other', priority: 1 }])) say(`+ ${id}`)
}

async function cancel (queue, id) {
  say(`? ${id}`)
  if (await queue.cancel(id)) say(`c ${id}`)
}

function run ({ kind, at, key, batch, cost = 1 }, done, { id, attempt, schedule, spent }) {
  charge(id, said.get(id) ?? cost, spent)
  say(`= ${id} ${attempt} ${key === undefined ? '' : key.replace(' ', '-')}`)
  if (Date.now() < at) say(`e ${id}`)
  if (batch !== undefined) say(`b ${id} 0 ${batch}`)
  if (schedule !== undefined) say(`s ${id} ${schedule.time}`)
  if (kind === 'poison') process.kill(process.pid, 'SIGKILL')
  else if (kind === 'busy' && Math.random() < 0.7) putOff(done, id, attempt)
  // some stay for long, so that compaction has something to move; in the last life they end
  else if (kind === 'pinned' && isFinal !== 'final') setTimeout(done, 300)
  else setImmediate(done)
}

/** Others may have been charged whose payloads are read as yet. */
function charge (id, cost, spent) {
  known += cost
  say(`$ ${id} ${queue.stats().spent - known}`)
  if (id % 3 !== 0) return
  said.set(id, id % 90)
  spent(id % 90)
  known += id % 90 - cost
}

function putOff (done, id, attempt) {
  say(`/ ${id} ${attempt}`)
  done(Math.random() < 0.5 ? new Throttled(2) : new Postponed(2))
}
