'use strict'

// Schedules: what they are stands on one node, by name, how far each is in the partition of its type. There the job of a time is stored in
// the same step in which the time is said to be over, so that there is one, whoever looks and whatever crashes.
//
//   {fairlane:mails}:.schedules   hash     d:<name>  since when it is so, ':', and what it is as JSON; nothing behind that: it was removed
//                                          o:<name>  what the option of the last opening said
//                                          ''        a number that changes with each change
//   {fairlane:mails}:.timer       string   the process that looks after schedules now
//   .times                        hash     <name>  how far it is: up to which time, the last one that had a job, that job

const { KEYS_TO_PUSH, PUSH } = require('./push')

// as methods of a client
module.exports = {
  // KEYS .schedules   ARGV 'o' or 'd': an option or a call says so, then names and what each is   → the number of changes
  fairlaneDefine: {
    numberOfKeys: 1,
    lua: `
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local isChanged = false
for at = 2, #ARGV, 2 do
  local name, text = ARGV[at], ARGV[at + 1]
  local isNew = true
  if ARGV[1] == 'o' then
    isNew = redis.call('HGET', KEYS[1], 'o:' .. name) ~= text
    redis.call('HSET', KEYS[1], 'o:' .. name, text)
  end
  if isNew then
    redis.call('HSET', KEYS[1], 'd:' .. name, now .. ':' .. text)
    isChanged = true
  end
end
return isChanged and redis.call('HINCRBY', KEYS[1], '', 1) or redis.call('HGET', KEYS[1], '')`
  },

  // KEYS .timer, .schedules   ARGV token, ms   → 1 if this process looks after schedules for so long, the broker's time, the number of
  // changes
  fairlaneTimer: {
    numberOfKeys: 2,
    lua: `
local time = redis.call('TIME')
local holder = redis.call('GET', KEYS[1])
local isMine = not holder or holder == ARGV[1]
if isMine then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return { isMine and 1 or 0, time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HGET', KEYS[2], '') or '' }`
  },

  // KEYS .timer   ARGV token
  fairlaneLeaveTimer: {
    numberOfKeys: 1,
    lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`
  },

  // KEYS .times, .types, .ready, .workers, .limits, KEYS_TO_PUSH, the record   ARGV name of the schedule, how far it was, how far it is,
  // 'PUBLISH' or 'SPUBLISH', .wake, name of the type, prefix, then of the job, if there is one, its name, data, opts, priority and cost,
  // '' if nothing is said of that   → how far it is
  fairlaneTime: {
    numberOfKeys: 6 + KEYS_TO_PUSH.length,
    lua: `${PUSH}
local times, types, ready, workers, limits, wait, prioritized, delayed, meta, id, events, keys, timed, late, record = unpack(KEYS)
local known = redis.call('HGET', times, ARGV[1]) or ''
if known ~= ARGV[2] then return known end
local name, typeName = ARGV[8], ARGV[6]
if name and redis.call('EXISTS', record) == 0 then
  push({
    wait = wait, prioritized = prioritized, delayed = delayed, meta = meta, id = id, events = events, keys = keys, timed = timed,
    late = late, prefix = ARGV[7], priorityMs = tonumber(redis.call('HGET', limits, 'priorityMs') or '')
  }, { { name = name, data = ARGV[9], opts = ARGV[10], plan = { priority = tonumber(ARGV[11]), cost = tonumber(ARGV[12]) } } })
  redis.call('SADD', types, typeName)
  if redis.call('SADD', ready, typeName) == 1 then
    redis.call(ARGV[4], ARGV[5], cjson.encode({ redis.call('ZCARD', workers), { typeName } }))
  end
end
redis.call('HSET', times, ARGV[1], ARGV[3])
return ARGV[3]`
  }
}
