'use strict'

// Jobs that are taken away before they run, and results that are waited for.
//
//   <job>:result   string, for a while   what came of a job whose record is gone: '+' and the result as JSON, or '-' and the fault

const { KEYS_OF_JOBS, MAX_EVENTS, TIME } = require('./common')

const KEYS_TO_REMOVE = ['wait', 'prioritized', 'delayed', 'failed', 'events', '.keys', '.timed', '.late']
const KEYS_TO_CLEAR = ['wait', 'prioritized', 'delayed', 'events', '.keys', '.timed', '.late']

const GONE = `${TIME}${KEYS_OF_JOBS}
-- the processes that wait for the result of a job, with commas between; the inbox in the data of a job comes last
local function inboxesOf (data, inboxes)
  local own = string.match(data or '', '"inbox":"([%w%._]+)"}$')
  if own and inboxes then return own .. ',' .. inboxes end
  return own or inboxes or ''
end`

module.exports = {
  KEYS_TO_REMOVE,
  KEYS_TO_CLEAR,

  // KEYS of KEYS_TO_REMOVE, the record, its lock, its log, its result   ARGV the job's name, its fault or '', ms for which that is kept
  // → the processes that wait for its result; nothing if it runs, or is not there
  remove: {
    numberOfKeys: KEYS_TO_REMOVE.length + 4,
    lua: `${GONE}
local wait, prioritized, delayed, failed, events, keys, timed, late, record, lock, logs, result = unpack(KEYS)
local name, fault, ms = unpack(ARGV)
redis.call('ZREM', late, name)
if redis.call('EXISTS', lock) == 1 or redis.call('EXISTS', record) == 0 then return end
local had = redis.call('HMGET', record, 'data', 'inboxes', 'key')
local isThere = redis.call('ZREM', prioritized, name) == 1 or redis.call('ZREM', delayed, name) == 1 or
  redis.call('ZREM', failed, name) == 1 or redis.call('LREM', wait, 0, name) > 0
if not isThere then return end
redis.call('DEL', record, logs)
if had[3] and hasKey(keys, had[3], name) then freeKey(keys, timed, had[3]) end
if fault ~= '' and tonumber(ms) > 0 then redis.call('SET', result, '-' .. fault, 'PX', ms) end
redis.call('XADD', events, 'MAXLEN', '~', ${MAX_EVENTS}, '*', 'event', 'removed', 'jobId', name, 'prev', 'waiting')
return inboxesOf(had[1], had[2])`
  },

  // KEYS of KEYS_TO_CLEAR   ARGV prefix, how many at most, 1: all of them are told of, not only those whose results are waited for
  // → how many, then of each its name, who waits for it, and, if all are told of, its data and how many attempts have failed
  clear: {
    numberOfKeys: KEYS_TO_CLEAR.length,
    lua: `${GONE}
local wait, prioritized, delayed, events, keys, timed, late = unpack(KEYS)
local prefix, most, isTold = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local answer, count = {}, 0
local function gone (names)
  for _, name in ipairs(names) do
    local record = prefix .. name
    local had = redis.call('HMGET', record, 'data', 'inboxes', 'key', 'atm', 'late')
    redis.call('DEL', record, record .. ':logs')
    if had[5] then redis.call('ZREM', late, name) end
    if had[3] and hasKey(keys, had[3], name) then freeKey(keys, timed, had[3]) end
    local inboxes = inboxesOf(had[1], had[2])
    if isTold or inboxes ~= '' then
      answer[#answer + 1] = { name, inboxes, isTold and had[1] or '', isTold and had[4] or 0 }
    end
  end
  count = count + #names
  most = most - #names
end
local names = redis.call('LRANGE', wait, 0, most - 1)
redis.call('LTRIM', wait, #names, -1)
gone(names)
for _, set in ipairs({ prioritized, delayed }) do
  if most > 0 then
    names = redis.call('ZRANGE', set, 0, most - 1)
    if #names > 0 then redis.call('ZREMRANGEBYRANK', set, 0, #names - 1) end
    gone(names)
  end
end
if count > 0 then redis.call('XADD', events, 'MAXLEN', '~', ${MAX_EVENTS}, '*', 'event', 'drained') end
return { count, answer }`
  },

  // KEYS the record, its result   ARGV a process   → 1 if that is told how the job ends; 0 if the job has ended, and its record says how; a
  // text that says so; or nothing
  wait: {
    numberOfKeys: 2,
    lua: `
local had = redis.call('HMGET', KEYS[1], 'timestamp', 'finishedOn', 'inboxes')
if not had[1] then return redis.call('GET', KEYS[2]) end
if had[2] then return 0 end
if not string.find(',' .. (had[3] or '') .. ',', ',' .. ARGV[1] .. ',', 1, true) then
  redis.call('HSET', KEYS[1], 'inboxes', had[3] and had[3] .. ',' .. ARGV[1] or ARGV[1])
end
return 1`
  }
}
