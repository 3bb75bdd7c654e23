'use strict'

// Takes a job of a type, in one step with the end of another one or alone: what BullMQ's moveToActive does, by limits of a whole fleet
// (docs/decisions/0119-our-own-take-and-end.md). Text of Lua, for scripts whose keys begin with KEYS_TO_TAKE.
//
//   generation ──▶ due ones promoted ──▶ pause, hold ──▶ cap ──▶ rates ──▶ the next job, locked
//
// Whoever takes the last job that waits, or finds none, takes the type out of those that are ready in the same step: so nobody asks in vain
// only to learn that (docs/decisions/0212-one-call-for-each-job.md).

const { KEYS_OF_JOBS, MAX_EVENTS, TIME } = require('./common')
const { RATES } = require('./rates')

const MOST_DUE = 1000 // that are promoted at once
const PAUSED_MS = 30000 // after which it is asked again whether the pause of all goes on, if the message was lost

const KEYS_TO_LOOK = ['.starts', 'wait', 'prioritized']
const KEYS_TO_TAKE = ['wait', 'active', 'prioritized', 'delayed', 'meta', 'limiter', 'events', '.starts', '.keys', '.timed', '.late']
const KEYS_COUNT = KEYS_TO_TAKE.length + 2 // with those of the partition

// of the record of a job that was taken, in the order in which they stand in the answer (takes.js reads them)
const FIELDS_TAKEN = ['data', 'opts', 'due', 'timestamp', 'atm', 'ats', 'stc', 'cost', 'charged', 'key', 'until', 'late']
const at = name => FIELDS_TAKEN.indexOf(name) + 1 // Lua counts from 1
const luaList = names => names.map(name => `'${name}'`).join(', ')

/**
 * Behind KEYS_TO_TAKE stand the partition's .limits and .ready. ARGV: prefix, name of the type, token, leaseMs, generation.
 *
 * Most of the time of a call is spent around its commands. So numbers that never change are text, and a function that few calls need is
 * made where it is needed (docs/decisions/0210-what-a-script-costs.md).
 */
const TAKE = `${TIME}${KEYS_OF_JOBS}
local wait, active, prioritized, delayed, meta, limiter, events, starts, keys, timed, late, limits, ready = unpack(KEYS, 1, ${KEYS_COUNT})
local prefix, typeName, token, leaseMs, known = unpack(ARGV, 1, 5)
${RATES}

local function event (...)
  redis.call('XADD', events, 'MAXLEN', '~', '${MAX_EVENTS}', '*', 'event', ...)
end

-- due: names and scores in turn
local function promote (due, priorityMs)
  for at = 1, #due, 2 do
    local id, record = due[at], prefix .. due[at]
    local had = redis.call('HMGET', record, 'front', 'ats', 'priority')
    redis.call('ZREM', delayed, id)
    redis.call('HSET', record, 'delay', '0')
    if had[1] or had[2] then -- it was unshifted, or comes back from an attempt: it goes before all others
      redis.call('RPUSH', wait, id)
    elseif priorityMs then -- its place is that of a job which is pushed when it is due
      local place = whole(due[at + 1] / 4.096 - (tonumber(had[3]) or 0) * priorityMs * 1000)
      redis.call('HSET', record, 'place', place)
      redis.call('ZADD', prioritized, place, id)
    else
      redis.call('LPUSH', wait, id)
    end
    event('waiting', 'jobId', id, 'prev', 'delayed')
  end
end

-- a job with a key has begun: its key is free by that, or at a time
local function leaveKeyAtStart (name, key, untilWhen, timestamp)
  if untilWhen == 'settled' or not hasKey(keys, key, name) then return end
  if untilWhen == 'started' then
    freeKey(keys, timed, key)
  else
    local freeAt = whole(timestamp + untilWhen)
    redis.call('HSET', keys, key, freeAt .. ':' .. name)
    redis.call('ZADD', timed, freeAt, key)
  end
end

-- in how many ms the next delayed job is due; 0: there is none
local function dueInMs (nowMs)
  local first = redis.call('ZRANGE', delayed, '0', '0', 'WITHSCORES')[2]
  return first and math.max(1, math.floor(first / 4096) - nowMs) or 0
end

-- no job of the type can be taken before others are told of it again
local function leaveReady ()
  redis.call('SREM', ready, typeName)
  return 1
end

local function leaveReadyIfDry ()
  if redis.call('LLEN', wait) > 0 or redis.call('ZCARD', prioritized) > 0 then return 0 end
  return leaveReady()
end

local function nothing (generation, waitMs, nowMs, isLater, isDry)
  return { 0, 0, math.ceil(waitMs), dueInMs(nowMs), generation, 0, 0, isLater, '', '', isDry }
end

-- the answer: FIELDS_TAKEN of the job, its name, ms until it may be asked again, ms until the next one is due, generation, in how many ms
-- the job must start, 1 if the process knows another generation, 1 if others come first when it may be asked again, '', when it was
-- taken in ms since 1970, 1 if the type is not ready any more
local function take (now)
  local limit = redis.call('HMGET', limits, 'generation', 'paused', 'heldUntil', 'cap', 'cap:' .. typeName, 'rates', 'rates:' .. typeName,
    'priorityMs')
  local generation = limit[1] or ''
  if generation ~= known then return { 0, 0, 0, 0, generation, 0, 1, 0 } end
  local nowMs = math.floor(now / 1000)
  local due = redis.call('ZRANGEBYSCORE', delayed, '0', whole((nowMs + 1) * 4096 - 1), 'WITHSCORES', 'LIMIT', '0', '${MOST_DUE}')
  if #due > 0 then promote(due, tonumber(limit[8] or '')) end
  if redis.call('HEXISTS', meta, 'paused') == 1 then return nothing(generation, 0, nowMs, 0, leaveReady()) end
  if limit[2] == '1' then return nothing(generation, ${PAUSED_MS}, nowMs, 0, 0) end
  local heldMs = math.max((tonumber(limit[3]) or 0) - nowMs, redis.call('PTTL', limiter))
  if heldMs > 0 then return nothing(generation, heldMs, nowMs, 0, 0) end
  local cap = tonumber(limit[5] or limit[4] or '')
  if cap and redis.call('LLEN', active) >= cap then return nothing(generation, 0, nowMs, 0, leaveReadyIfDry()) end
  local pause, startMs, waiting, rates, windows = 0, 0, 0, limit[7] or limit[6], nil
  if rates and rates ~= '[]' then waiting = redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) end
  if waiting > 0 then
    rates = openRates()
    windows, pause, startMs = rates.windowsOf(limit[7] or limit[6], waiting, now)
    if pause > 0 then return nothing(generation, pause / 1000, nowMs, rates.comesLater(windows, now + pause, now), 0) end
  end
  local id = redis.call('RPOPLPUSH', wait, active)
  if not id then
    id = redis.call('ZPOPMIN', prioritized)[1]
    if not id then return nothing(generation, 0, nowMs, 0, leaveReady()) end
    redis.call('LPUSH', active, id)
  end
  local isLater = 0
  if windows then
    rates.note(windows, now, startMs)
    rates.charge(id, windows)
    pause = waiting > 1 and rates.pauseOfAll(windows, now) or 0 -- no other job waits for it
    if pause > 0 then isLater = rates.comesLater(windows, now + pause, now) end
  end
  local record, begunAt = prefix .. id, whole(nowMs)
  local had = redis.call('HMGET', record, ${luaList(FIELDS_TAKEN)})
  local start = whole((tonumber(had[${at('ats')}]) or 0) + 1)
  had[${at('ats')}] = start
  redis.call('SET', record .. ':lock', token, 'PX', leaseMs)
  redis.call('HSET', record, 'processedOn', begunAt, 'ats', start)
  event('active', 'jobId', id, 'prev', 'waiting')
  if had[${at('late')}] then redis.call('ZREM', late, id) end -- it waits no longer: its runner is called soon
  if had[${at('key')}] then leaveKeyAtStart(id, had[${at('key')}], had[${at('until')}], had[${at('timestamp')}]) end
  local isDry = leaveReadyIfDry()
  local dueMs = isDry == 1 and dueInMs(nowMs) or 0
  return { had, id, math.ceil(pause / 1000), dueMs, generation, math.floor(startMs), 0, isLater, '', begunAt, isDry }
end`

module.exports = {
  FIELDS_TAKEN,
  KEYS_COUNT,
  KEYS_TO_LOOK,
  KEYS_TO_TAKE,
  TAKE,
  // ARGV behind those of a take: a job that was taken, and starts later than it might: it counts once more   → in how many ms from the call
  // it must start; 0: at any time; -1: it may not start now
  again: {
    numberOfKeys: KEYS_COUNT,
    lua: `${TAKE}
local all, own = unpack(redis.call('HMGET', limits, 'rates', 'rates:' .. typeName))
if not (own or all) then return 0 end
local now, rates = clock(), openRates()
local windows, pause, startMs = rates.windowsOf(own or all, math.huge, now, rates.costOf(ARGV[6]))
if pause > 0 then return -1 end
rates.note(windows, now, startMs)
rates.charge(ARGV[6], windows, redis.call('HGET', prefix .. ARGV[6], 'marks') or nil)
return math.floor(startMs)`
  },
  take: {
    numberOfKeys: KEYS_COUNT,
    lua: `${TAKE}
return take(clock())`
  },

  // KEYS behind those of a take, of each type KEYS_TO_LOOK   ARGV behind those of a take: names of the types   → of each, in how many ms it
  // is of use to ask for a job, as far as its rates go
  look: {
    lua: `${TAKE}
isLook = true
local now, windowsOf = clock(), openRates().windowsOf
local fields = { 'rates' }
for at = 6, #ARGV do fields[#fields + 1] = 'rates:' .. ARGV[at] end
local rates = redis.call('HMGET', limits, unpack(fields))
local answer = {}
for i = 1, #ARGV - 5 do
  starts, wait, prioritized = unpack(KEYS, ${KEYS_COUNT - 2} + 3 * i, ${KEYS_COUNT} + 3 * i)
  prefix = string.sub(wait, 1, -5) -- what stands before 'wait'
  local own, pause = rates[i + 1] or rates[1], 0
  if own and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) > 0 then pause = select(2, windowsOf(own, 0, now)) end
  answer[i] = math.ceil(pause / 1000)
end
return answer`
  },

  // The same keys and arguments as of a take   → in how many ms a job of the type may start, as far as holds and rates go
  held: {
    numberOfKeys: KEYS_COUNT,
    lua: `${TAKE}
isLook = true
local now = clock()
local limit = redis.call('HMGET', limits, 'heldUntil', 'rates', 'rates:' .. typeName)
local _, pause = openRates().windowsOf(limit[3] or limit[2] or '[]', 0, now)
local heldMs = math.max((tonumber(limit[1]) or 0) - math.floor(now / 1000), redis.call('PTTL', limiter), 0)
return math.max(heldMs, math.ceil(pause / 1000))`
  }
}
