'use strict'

// Text of Lua that several scripts begin with.

const MAX_EVENTS = 100 // BullMQ keeps 10,000 of each queue otherwise

const TIME = `
local function clock () -- in microseconds
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- a number as text: Lua's own text of a large one has an exponent
local function whole (number)
  return string.format('%.0f', number)
end`

// What is kept of keys of jobs, in two keys of a type:
//
//   .keys    hash   key → when it is free in ms since 1970, or 0 while that is not known, and the job that has it: '0:j.a.1'
//   .timed   zset   keys that are free at a time, by that
//
// A job that a tool has removed leaves its key taken here: so it is looked whether the job is there.
const KEYS_OF_JOBS = `
local function freeKey (keys, timed, key)
  redis.call('HDEL', keys, key)
  redis.call('ZREM', timed, key)
end

-- the job that has a key
local function holderOf (prefix, keys, timed, key, nowMs)
  local value = redis.call('HGET', keys, key)
  if not value then return nil end
  local freeAt, name = string.match(value, '^(%d+):(.*)$')
  local isTaken
  if freeAt == '0' then
    local record = redis.call('HMGET', prefix .. name, 'timestamp', 'finishedOn')
    isTaken = record[1] and not record[2]
  else
    isTaken = nowMs < tonumber(freeAt)
  end
  if isTaken then return name end
  freeKey(keys, timed, key)
end

local function hasKey (keys, key, name)
  return string.match(redis.call('HGET', keys, key) or '', '^%d+:(.*)$') == name
end`

module.exports = { MAX_EVENTS, TIME, KEYS_OF_JOBS }
