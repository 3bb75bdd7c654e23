'use strict'

// Tells the broker of the end of a job, or of an attempt, and takes the next job of its type, or of another one, in the same step. A call
// that is made again ends nothing twice: a job that stays has the number of the start that has ended, as `left`.

const { KEYS_COUNT, KEYS_TO_TAKE, TAKE } = require('./take')

// behind those of a take; the record, its lock, its log and its result follow, and KEYS_TO_TAKE of another type of which a job is taken
const KEYS_TO_END = ['stalled', 'completed', 'failed']
const MOST_OLD = 10 // results whose time is over that go with the end of a job

const REFUSED = {
  MISSING: -1,
  NO_LOCK: -2,
  NOT_ACTIVE: -3,
  NOT_OWNED: -6,
  OTHER_START: -7
}

const first = KEYS_COUNT + 1

module.exports = {
  KEYS_TO_END,
  REFUSED,
  // ARGV behind those of a take: kind, job, its number of starts, 1: take the next one, value, ms for which the result is kept or until it
  // is tried again, 1: the result is waited for, the name of the other type or '', fields of the record   → as of a take, and the processes
  // that wait for the result of a job with a key, with commas between; a negative number if the job is not this process's
  end: {
    lua: `${TAKE}
local stalled, completed, failed, record, lock, logs, result = unpack(KEYS, ${first}, ${first + 6})
local kind, id, start, fetches, value, ms, isWanted, other = unpack(ARGV, 6, 13)
local now = clock()
local nowMs = math.floor(now / 1000)
local endedAt = whole(nowMs)
local had = redis.call('HMGET', record, 'ats', 'left', 'key', 'until', 'inboxes', 'timestamp', 'place', 'started', 'atm', 'stc', 'late')
local key, untilWhen, inboxes = had[3], had[4], had[5] or ''
local isKept = tonumber(ms) > 0 and (isWanted == '1' or inboxes ~= '')
local failuresCount = whole((tonumber(had[9]) or 0) + 1)

local function finish (set, name)
  redis.call('ZADD', set, endedAt, id)
  redis.call('HSET', record, name, value, 'finishedOn', endedAt, 'atm', failuresCount, unpack(ARGV, 14))
end

-- of a job that nobody waits for what came of it is kept without its record (removal.js)
local function remove (outcome)
  redis.call('DEL', record, logs)
  if tonumber(ms) > 0 then redis.call('SET', result, outcome, 'PX', ms) end
end

local function freeAt ()
  return tonumber(untilWhen) and had[6] + untilWhen or 0
end

-- a key that is taken for a time outlives the job
local function leaveKey ()
  if key and freeAt() <= nowMs and hasKey(keys, key, id) then freeKey(keys, timed, key) end
end

local function done ()
  leaveKey()
  if not isKept then
    remove('+' .. value)
  else
    finish(completed, 'returnvalue')
    local old = redis.call('ZRANGEBYSCORE', completed, '-inf', whole(nowMs - ms), 'LIMIT', '0', '${MOST_OLD}')
    if #old > 0 then
      redis.call('ZREM', completed, unpack(old))
      for _, name in ipairs(old) do redis.call('DEL', prefix .. name, prefix .. name .. ':logs') end
    end
  end
  event('completed', 'jobId', id, 'returnvalue', value, 'prev', 'active')
end

local function endOtherwise ()
  local endings = {}

  -- it has never begun, if this start has not
  local function isNew ()
    return not (had[8] or had[9] or had[10])
  end

  -- the job was taken and is put back: it has not begun
  local function waitAgain ()
    if not isNew() then return end
    if had[11] then redis.call('ZADD', late, had[11], id) end
    if not key or untilWhen == 'settled' then return end
    if untilWhen == 'started' then
      redis.call('HSETNX', keys, key, '0:' .. id)
    elseif hasKey(keys, key, id) then
      redis.call('HSET', keys, key, '0:' .. id)
      redis.call('ZREM', timed, key)
    end
  end

  -- what is behind the end of a job that stays
  local function back (...)
    redis.call('HSET', record, 'left', start, unpack(ARGV, 14))
    event(...)
  end

  function endings.dead ()
    leaveKey()
    finish(failed, 'failedReason')
    event('failed', 'jobId', id, 'failedReason', value, 'prev', 'active')
    event('retries-exhausted', 'jobId', id, 'attemptsMade', failuresCount)
  end

  function endings.cancelled ()
    leaveKey()
    if isKept and freeAt() > nowMs then finish(completed, 'failedReason') else remove('-' .. ARGV[15]) end
    event('failed', 'jobId', id, 'failedReason', value, 'prev', 'active')
  end

  -- before it has begun
  function endings.withdrawn ()
    if key and isNew() and hasKey(keys, key, id) then
      freeKey(keys, timed, key)
      untilWhen = 'settled'
    end
    endings.cancelled()
  end

  function endings.postponed ()
    local dueMs = nowMs + ms
    local score = dueMs * 4096
    local last = redis.call('ZREVRANGEBYSCORE', delayed, score + 4095, score, 'WITHSCORES', 'LIMIT', 0, 1)[2]
    redis.call('ZADD', delayed, last and math.min(last + 1, score + 4095) or score, id)
    redis.call('HSET', record, 'delay', ms)
    back('delayed', 'jobId', id, 'delay', whole(dueMs))
  end

  function endings.retried ()
    redis.call('HINCRBY', record, 'atm', 1)
    endings.postponed()
  end

  function endings.returned ()
    if #ARGV < 14 then waitAgain() end -- an attempt that goes back says so in a field
    if had[7] then redis.call('ZADD', prioritized, had[7], id) else redis.call('RPUSH', wait, id) end
    back('waiting', 'jobId', id, 'prev', 'active')
  end

  endings[kind]()
end

local function finishAttempt ()
  if not had[1] then return ${REFUSED.MISSING} end
  if had[2] == start then return 0 end
  if had[1] ~= start then return ${REFUSED.OTHER_START} end
  local holder = redis.call('GET', lock)
  if not holder then return ${REFUSED.NO_LOCK} end
  if holder ~= token then return ${REFUSED.NOT_OWNED} end
  redis.call('DEL', lock)
  redis.call('SREM', stalled, id)
  if redis.call('LREM', active, -1, id) == 0 then return ${REFUSED.NOT_ACTIVE} end
  if kind == 'done' then done() else endOtherwise() end
  return 0
end

local refused = finishAttempt()
if refused < 0 then return refused end
local function none (isStale)
  return { 0, 0, 0, 0, redis.call('HGET', limits, 'generation') or '', 0, isStale, 0 }
end
local answer = fetches == '1' and other == '' and take(now) or none(0)
local isEmpty = answer[1] == 0 and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) + redis.call('LLEN', active) == 0
if isEmpty then event('drained') end
if fetches == '1' and other ~= '' then
  wait, active, prioritized, delayed, meta, limiter, events, starts, keys, timed, late = unpack(KEYS, ${first + 7}, ${first + 6 + KEYS_TO_TAKE.length})
  prefix, typeName = string.sub(wait, 1, -5), other -- what stands before 'wait'
  local isDone, taken = pcall(take, now)
  answer = isDone and taken or none(1) -- a fault of that type is none of this end: it is to be asked for by itself
end
answer[9] = inboxes
return answer`
  }
}
