'use strict'

// What is done at the broker in one step, beside what BullMQ's own scripts do. Each declares all keys that it touches: in a Redis
// Cluster, while a slot moves, a script that touches a key it has not declared ends halfway.
//
//   .queue    hash     the format of all this, the number of partitions, and how payloads are encoded
//   .types    set      types that have, or had, anything at the broker
//   .ready    set      types with jobs that wait for a process to take them
//   .workers  zset     processes that run jobs, by the time until which they count as there, in ms since 1970
//   .keeper   string   the process that looks after leases now
//   .walked   string   when it last had, in ms since 1970
//   .wake     channel  types that have become ready
//   .limits   hash     what limits the types of a partition (limits.js)

const { MAX_EVENTS } = require('./scripts/common')
const { end } = require('./scripts/end')
const { leave, push, pushAll, retry } = require('./scripts/push')
const { clear, remove, wait } = require('./scripts/removal')
const { spent } = require('./scripts/spent')
const { again, held, look, take } = require('./scripts/take')

// of the keys of a type, BullMQ's and ours
const STATES = ['active', 'wait', 'prioritized', 'delayed', 'completed', 'failed', 'paused', 'repeat']
const REST = ['limiter', 'meta', 'id', 'events', 'marker', 'stalled', 'stalled-check', 'pc', '.late', '.keys', '.timed']
const KEYS_OF_TYPE = [...STATES, ...REST]

// what walk tells of a type, as bits
const HAS_ACTIVE = 1
const HAS_COMPLETED = 2
const IS_GONE = 4
const HAS_WAITING = 8
const HAS_LATE = 16 // jobs that were to start by now

const HELD = Number.MAX_SAFE_INTEGER // what BullMQ puts where a type is held

// Lua: the cap of a type, if it has one
const CAP = `
local function capOf (limits, name)
  local caps = redis.call('HMGET', limits, 'cap:' .. name, 'cap')
  return tonumber(caps[1] or caps[2] or '')
end`

module.exports = { define, KEYS_OF_TYPE, HAS_ACTIVE, HAS_COMPLETED, HAS_LATE, HAS_WAITING, IS_GONE }

const scripts = {
  fairlaneTake: take,
  fairlaneHeld: held,
  fairlaneLook: look,
  fairlaneAgain: again,
  fairlaneSpent: spent,
  fairlaneEnd: end,
  fairlanePush: push,
  fairlanePushAll: pushAll,
  fairlaneRetry: retry,
  fairlaneLeave: leave,
  fairlaneRemove: remove,
  fairlaneClear: clear,
  fairlaneWait: wait,

  // KEYS .queue   ARGV format, then fields and values that all processes share   → the format, and what is kept of these: those of the
  // process that opened it first. What has another format is left as it is.
  fairlaneOpen: {
    numberOfKeys: 1,
    lua: `
redis.call('HSETNX', KEYS[1], 'format', ARGV[1])
local kept = { redis.call('HGET', KEYS[1], 'format') }
if kept[1] ~= ARGV[1] then return kept end
for i = 2, #ARGV, 2 do
  redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
  kept[#kept + 1] = redis.call('HGET', KEYS[1], ARGV[i])
end
return kept`
  },

  // KEYS .limits   ARGV a generation, fields and values   → the generation. What is there stays.
  fairlaneLimits: {
    numberOfKeys: 1,
    lua: `
for i = 2, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('HSETNX', KEYS[1], 'generation', ARGV[1])
return redis.call('HGET', KEYS[1], 'generation')`
  },

  // KEYS limiter, a job that was throttled or none   ARGV ms, 'PUBLISH' or 'SPUBLISH', .wake, name of the type, token
  // No job of the type is taken for so long; 0 ends that.
  fairlaneHold: {
    lua: `
if ARGV[1] == '0' then
  redis.call('DEL', KEYS[1])
elseif not KEYS[2] or redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], ${HELD}, 'PX', ARGV[1])
end
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'started', 1) end
redis.call(ARGV[2], ARGV[3], cjson.encode({ changed = ARGV[4], by = ARGV[5] }))`
  },

  // KEYS a channel   ARGV 'PUBLISH' or 'SPUBLISH', the message
  fairlanePublish: {
    numberOfKeys: 1,
    lua: 'redis.call(ARGV[1], KEYS[1], ARGV[2])'
  },

  // KEYS the job   ARGV 'PUBLISH' or 'SPUBLISH', .wake, names of type and job   → 0 if there is none
  fairlaneCancel: {
    numberOfKeys: 1,
    lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'cancelled', 1)
redis.call(ARGV[1], ARGV[2], cjson.encode({ cancelled = { ARGV[3], ARGV[4] } }))
return 1`
  },

  // KEYS active, stalled, .limits, lock of a job that is active, its runner's record and the lock of that
  // ARGV token, leaseMs, names of the record and of the job, now, 1: only under a cap, name of the type   → 1 if the runner has a place of
  // its own
  fairlaneKeepPlace: {
    numberOfKeys: 6,
    lua: `${CAP}
if redis.call('GET', KEYS[4]) ~= ARGV[1] then return 0 end
if ARGV[6] == '1' and not capOf(KEYS[3], ARGV[7]) then return 0 end
if redis.call('EXISTS', KEYS[5]) == 1 then return 1 end
redis.call('SREM', KEYS[2], ARGV[3]) -- a script that has written may go on in a broker that is full
redis.call('HSET', KEYS[5], 'name', 'overdue', 'overdue', ARGV[4], 'data', cjson.encode({ overdue = ARGV[4] }), 'opts', '{}',
  'timestamp', ARGV[5], 'processedOn', ARGV[5], 'delay', 0, 'priority', 0)
redis.call('SET', KEYS[6], ARGV[1], 'PX', ARGV[2])
redis.call('LPUSH', KEYS[1], ARGV[3])
return 1`
  },

  // KEYS active, wait, stalled, .limits, a runner's record and its lock
  // ARGV token, name of the record, 1: only without a cap, 'PUBLISH' or 'SPUBLISH', .wake, name of the type
  // Processes that wait for a place are told.
  fairlaneLeavePlace: {
    numberOfKeys: 6,
    lua: `${CAP}
local holder = redis.call('GET', KEYS[6])
if redis.call('HEXISTS', KEYS[5], 'overdue') == 0 or (holder and holder ~= ARGV[1]) then return end
if ARGV[3] == '1' and capOf(KEYS[4], ARGV[6]) then return end
if redis.call('LREM', KEYS[1], 1, ARGV[2]) == 0 then redis.call('LREM', KEYS[2], -1, ARGV[2]) end
redis.call('SREM', KEYS[3], ARGV[2])
redis.call('DEL', KEYS[5], KEYS[6])
if redis.call('LLEN', KEYS[2]) > 0 then redis.call(ARGV[4], ARGV[5], cjson.encode({ freed = ARGV[6] })) end`
  },

  // KEYS a job, events   ARGV its name, how far it is, as JSON
  fairlaneProgress: {
    numberOfKeys: 2,
    lua: `
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HSET', KEYS[1], 'progress', ARGV[2])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ${MAX_EVENTS}, '*', 'event', 'progress', 'jobId', ARGV[1], 'data', ARGV[2])`
  },

  // KEYS so many of each type   ARGV for each of these what counts it: 'LLEN' or 'ZCARD'   → how many are in each
  fairlaneCount: {
    lua: `
local call, counts, each = redis.call, {}, #ARGV
for first = 1, #KEYS, each do
  local left = each == 1 and 1 or call('EXISTS', unpack(KEYS, first, first + each - 1)) -- what is empty does not exist
  for i = first, first + each - 1 do
    counts[i] = left > 0 and call(ARGV[i - first + 1], KEYS[i]) or 0
    if counts[i] > 0 then left = left - 1 end
  end
end
return counts`
  },

  // KEYS of each job: failed, delayed and prioritized of its type, its record, its lock   ARGV how many fields of a record are asked for,
  // these, `timestamp` first, then the names of the jobs   → of each its state, the score by which that is sorted and the fields; the state
  // is '' where the record is none of a job that there is
  fairlaneStanding: {
    lua: `
local count = tonumber(ARGV[1])
local function stateOf (at, name)
  local score = redis.call('ZSCORE', KEYS[at], name)
  if score then return 'dead', score end
  score = redis.call('ZSCORE', KEYS[at + 1], name)
  if score then return 'delayed', score end
  if redis.call('ZSCORE', KEYS[at + 2], name) then return 'waiting', '' end
  if redis.call('HEXISTS', KEYS[at + 3], 'finishedOn') == 1 then return '', '' end
  return redis.call('EXISTS', KEYS[at + 4]) == 1 and 'running' or 'waiting', ''
end
local told = {}
for i = 1, #ARGV - count - 1 do
  local at = 5 * i - 4
  local fields = redis.call('HMGET', KEYS[at + 3], unpack(ARGV, 2, count + 1))
  local state, score = '', ''
  if fields[1] and redis.call('HEXISTS', KEYS[at + 3], 'overdue') == 0 then state, score = stateOf(at, ARGV[count + 1 + i]) end
  told[i] = { state, score, fields }
end
return told`
  },

  // KEYS .types, .ready, .workers, of each type where its jobs wait: wait, prioritized, delayed
  // ARGV 'PUBLISH' or 'SPUBLISH', .wake, names of the types   → jobs that wait, delayed ones too, of each, or the text of an error
  fairlaneAnnounce: {
    lua: `
local fresh, waiting = {}, {}
for i = 1, #ARGV - 2 do
  local name = ARGV[i + 2]
  redis.call('SADD', KEYS[1], name)
  if redis.call('SADD', KEYS[2], name) == 1 then fresh[#fresh + 1] = name end
  local first, others, later = redis.pcall('LLEN', KEYS[3 * i + 1]), redis.pcall('ZCARD', KEYS[3 * i + 2]), redis.pcall('ZCARD', KEYS[3 * i + 3])
  local fault = type(first) == 'table' and first.err or type(others) == 'table' and others.err or type(later) == 'table' and later.err
  waiting[i] = fault or first + others + later
end
if #fresh > 0 then redis.call(ARGV[1], ARGV[2], cjson.encode({ redis.call('ZCARD', KEYS[3]), fresh })) end
return waiting`
  },

  // KEYS .types, .ready, .workers, then of each type KEYS_OF_TYPE   ARGV 'PUBLISH' or 'SPUBLISH', .wake, the time until which jobs count as
  // due, the time before which a completed one is old, names   → bits, of each type, or the text of an error: a type that has a key of
  // the wrong kind keeps none of the others back; then the broker's time in ms since 1970
  fairlaneWalk: {
    lua: `
local count = ${KEYS_OF_TYPE.length}
local fresh = {}
local time = redis.call('TIME')
local nowMs = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local function look (i)
  local name = ARGV[i + 4]
  local first = 3 + (i - 1) * count
  local key = function (at) return KEYS[first + at] end
  local active = redis.call('LLEN', key(1))
  local waiting = redis.call('LLEN', key(2)) + redis.call('ZCARD', key(3))
  local delayed = redis.call('ZCARD', key(4))
  local completed = redis.call('ZCARD', key(5))
  local bits = 0
  if active > 0 then bits = bits + ${HAS_ACTIVE} end
  if completed > 0 and redis.call('ZCOUNT', key(5), '-inf', ARGV[4]) > 0 then bits = bits + ${HAS_COMPLETED} end
  if waiting + delayed > 0 then bits = bits + ${HAS_WAITING} end
  if redis.call('ZCOUNT', key(count - 2), '-inf', nowMs) > 0 then bits = bits + ${HAS_LATE} end
  local meta = key(${STATES.length + 2})
  local isDue = delayed > 0 and tonumber(redis.call('ZRANGE', key(4), 0, 0, 'WITHSCORES')[2]) / 4096 <= tonumber(ARGV[3])
  if (waiting > 0 or isDue) and redis.call('HEXISTS', meta, 'paused') == 0 then
    if redis.call('SADD', KEYS[2], name) == 1 then fresh[#fresh + 1] = name end
  end
  local over = redis.call('ZRANGEBYSCORE', key(count), '-inf', ARGV[4], 'LIMIT', 0, 1000) -- keys of jobs that are free by then
  if #over > 0 then
    redis.call('HDEL', key(count - 1), unpack(over))
    redis.call('ZREM', key(count), unpack(over))
  end
  local kept = redis.call('ZCARD', key(count)) + redis.call('ZCARD', key(6)) + redis.call('LLEN', key(7)) + redis.call('ZCARD', key(8)) + redis.call('EXISTS', key(9))
  if active + waiting + delayed + completed + kept == 0 then
    local id = redis.call('GET', key(${STATES.length + 3})) or '0'
    if redis.call('HGET', meta, 'fairlane:idle') == id then
      local isSet = redis.call('HEXISTS', meta, 'paused')
      for at = ${STATES.length + 3}, count do redis.call('DEL', key(at)) end
      if isSet == 0 then redis.call('DEL', meta) else redis.call('HDEL', meta, 'fairlane:idle') end
      redis.call('SREM', KEYS[1], name)
      redis.call('SREM', KEYS[2], name)
      bits = bits + ${IS_GONE}
    else
      redis.call('HSET', meta, 'fairlane:idle', id)
    end
  end
  return bits
end
local told = {}
for i = 1, #ARGV - 4 do
  local isDone, answer = pcall(look, i)
  if not isDone and type(answer) == 'table' then answer = answer.err end
  told[i] = answer
end
if #fresh > 0 then redis.call(ARGV[1], ARGV[2], cjson.encode({ redis.call('ZCARD', KEYS[3]), fresh })) end
told[#told + 1] = tonumber(nowMs)
return told`
  }
}

/** Makes methods of a client of these: their keys and arguments follow each other, after the number of keys where that varies. */
function define (client) {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
}
