'use strict'

// All jobs of a queue, dead letters too. Each step at the broker reads a bounded number of keys, however many jobs there are.
//
//   a type with few jobs    Its lists and sets are read in one step: each job once, in order.
//   a type with more        Its jobs are found by the keys of their records, after all others. There is no order, and a job may come twice.
//
// Reading those lists and sets in pages would miss jobs that move from one that is still to be read into one that has been read. SCAN finds
// each key that exists all the time, whatever becomes of its job meanwhile.

const { byPartition, inGroups } = require('./broker/groups')
const { FIELDS, recordOf } = require('./broker/records')

// Of jobs, by BullMQ's keys of a type; those that are sorted by a time have that as their score, in parts of ms where it says so.
const STATES = [
  { key: 'active', state: 'running', isList: true },
  { key: 'wait', state: 'waiting', isList: true },
  { key: 'prioritized', state: 'waiting' },
  { key: 'delayed', state: 'delayed', time: 'dueAt', partsOfMs: 4096 },
  { key: 'failed', state: 'dead', time: 'at', partsOfMs: 1 }
]
const MOST_IN_STATE = 500 // jobs of a type that are read in one step
const MOST_KEYS = 500 // that the broker looks at in one step, whosever they are
const MOST_RECORDS = 100 // that are read with one call
const EXPORTED = [...FIELDS, 'overdue']
const SETS = ['failed', 'delayed', 'prioritized'] // that fairlaneStanding looks into

module.exports = { jobsOf }

/** @param {object} parts of the queue @param {string} [type] all others are left out @returns {AsyncGenerator<object>} */
async function * jobsOf ({ broker, globals, records }, type) {
  const large = []
  for await (const places of globals.somePlaces(type)) {
    for (const place of places) {
      const found = await broker.soon(() => fewOf(broker.client, place))
      if (found === undefined) large.push(place)
      else yield * readOf(broker, records, found)
    }
  }
  if (large.length > 0) yield * manyOf(broker, records, large)
}

// of types with few jobs

/** @returns {Promise<object[] | undefined>} undefined if there are more than a few */
async function fewOf (client, place) {
  const calls = client.multi()
  for (const { key, isList } of STATES) {
    if (isList) calls.lrange(place.key(key), 0, MOST_IN_STATE)
    else calls.zrange(place.key(key), 0, MOST_IN_STATE, 'WITHSCORES')
  }
  const answers = await calls.exec()
  const lists = answers.map(([err, answer], index) => {
    if (err) throw err
    return foundBy(STATES[index], answer)
  })
  if (lists.some(list => list.length > MOST_IN_STATE)) return undefined
  return lists.flat().map(found => ({ place, ...found }))
}

function foundBy ({ key, state, isList, time }, answer) {
  if (isList) return (key === 'wait' ? answer.toReversed() : answer).map(name => ({ name, state })) // the next one is the last
  const found = []
  for (let i = 0; i < answer.length; i += 2) found.push({ name: answer[i], state, score: time === undefined ? undefined : answer[i + 1] })
  return found
}

async function * readOf (broker, records, found) {
  for (const some of inGroups(found, MOST_RECORDS, () => 1)) {
    const read = await broker.soon(() => records.readAll(some, EXPORTED))
    for (const [index, record] of read.entries()) {
      if (record !== undefined && record.overdue === undefined) yield jobOf(records, some[index], record) // it may have ended meanwhile
    }
  }
}

// of types with many

async function * manyOf (broker, records, places) {
  const byPrefix = new Map(places.map(place => [place.key(''), place]))
  for await (const keys of pagesOf(broker, patternOf(broker, places))) {
    const found = keys.map(key => jobAt(byPrefix, key)).filter(job => job !== undefined)
    for (const jobs of byPartition(found)) {
      for (const some of inGroups(jobs, MOST_RECORDS, () => 1)) yield * await standing(broker, records, some)
    }
  }
}

/** Keys of records, and some others, page by page. The cursors of a server mean nothing to another one, or after a restart. */
async function * pagesOf (broker, pattern) {
  let epoch
  do {
    epoch = broker.epoch
    for (const node of broker.isCluster ? broker.client.nodes('master') : [broker.client]) {
      let cursor = '0'
      do {
        const [next, keys] = await broker.soon(() => node.scan(cursor, 'MATCH', pattern, 'COUNT', MOST_KEYS, 'TYPE', 'hash'))
        yield keys
        cursor = next
      } while (cursor !== '0' && broker.epoch === epoch)
    }
  } while (broker.epoch !== epoch)
}

/** @returns {{ place: object, name: string } | undefined} of which job it may be the record; undefined if it is of another type */
function jobAt (byPrefix, key) {
  const end = key.indexOf(':', key.indexOf('}:') + 2) + 1 // behind the name of the type
  const place = byPrefix.get(key.slice(0, end))
  return place === undefined ? undefined : { place, name: key.slice(end) }
}

/** Names of types may have stars in them. */
function patternOf ({ name, partitions }, places) {
  if (places.length === 1) return `${places[0].key('').replaceAll('*', '\\*')}*`
  return partitions.length === 1 ? `{fairlane:${name}}:*` : `{fairlane:${name}:*`
}

/** @param {object[]} jobs of a partition @returns {Promise<object[]>} those that there are, in the states in which they are now */
async function standing (broker, records, jobs) {
  const keys = jobs.flatMap(({ place, name }) => [...place.keysOf(SETS), place.key(name), place.key(`${name}:lock`)])
  const wanted = [EXPORTED.length, ...EXPORTED, ...jobs.map(({ name }) => name)]
  const told = await broker.soon(() => broker.client.fairlaneStanding(keys.length, ...keys, ...wanted))
  return told.flatMap(([state, score, values], index) => {
    return state === '' ? [] : [jobOf(records, { ...jobs[index], state, score }, recordOf(values, EXPORTED))]
  })
}

// of both

function jobOf (records, { place, name, state, score }, record) {
  const { time, partsOfMs } = STATES.find(one => one.state === state)
  const times = time === undefined ? {} : { [time]: Math.floor(Number(score) / partsOfMs) }
  return Object.assign(records.entryOf(place, name, record, state), { pushedAt: Number(record.timestamp), ...times })
}
