'use strict'

// Tells the broker of the end of a job, or of an attempt, and takes the next job of its type in the same step. A call that is made again
// ends nothing twice: a job that stays has the number of the start that has ended, as `left`.

const { KEYS_TO_TAKE, TAKE } = require('./take')

const KEYS_TO_END = ['stalled', 'completed', 'failed'] // behind those of a take; the record, its lock and its log follow
const MOST_OLD = 10 // results whose time is over that go with the end of a job

const REFUSED = {
  MISSING: -1,
  NO_LOCK: -2,
  NOT_ACTIVE: -3,
  NOT_OWNED: -6,
  OTHER_START: -7
}

const first = KEYS_TO_TAKE.length + 2 // behind .limits

module.exports = {
  KEYS_TO_END,
  REFUSED,
  // ARGV behind those of a take: kind, job, its number of starts, 1: take the next one, value, ms for which the result is kept (-1: not at
  // all) or until it is tried again, fields of the record   → as of a take; a negative number if the job is not this process's
  end: {
    numberOfKeys: first + KEYS_TO_END.length + 2,
    lua: `${TAKE}
local stalled, completed, failed, record, lock, logs = unpack(KEYS, ${first}, ${first + 5})
local kind, id, start, fetches, value, ms = unpack(ARGV, 6, 11)
local now = clock()
local nowMs = math.floor(now / 1000)

local function finish (state, set, name)
  redis.call('ZADD', set, nowMs, id)
  redis.call('HSET', record, name, value, 'finishedOn', whole(nowMs), unpack(ARGV, 12))
  redis.call('HINCRBY', record, 'atm', 1)
end

local function remove ()
  redis.call('DEL', record, logs)
end

-- what is behind the end of a job that stays
local function back (...)
  redis.call('HSET', record, 'left', start, unpack(ARGV, 12))
  event(...)
end

local endings = {}

function endings.done ()
  if tonumber(ms) < 0 then
    remove()
  else
    finish('completed', completed, 'returnvalue')
    local old = redis.call('ZRANGEBYSCORE', completed, '-inf', nowMs - ms, 'LIMIT', 0, ${MOST_OLD})
    if #old > 0 then
      redis.call('ZREM', completed, unpack(old))
      for _, name in ipairs(old) do redis.call('DEL', prefix .. name, prefix .. name .. ':logs') end
    end
  end
  event('completed', 'jobId', id, 'returnvalue', value, 'prev', 'active')
end

function endings.dead ()
  finish('failed', failed, 'failedReason')
  event('failed', 'jobId', id, 'failedReason', value, 'prev', 'active')
  event('retries-exhausted', 'jobId', id, 'attemptsMade', redis.call('HGET', record, 'atm'))
end

function endings.cancelled ()
  remove()
  event('failed', 'jobId', id, 'failedReason', value, 'prev', 'active')
end

local function delay ()
  local dueMs = nowMs + ms
  local score = dueMs * 4096
  local last = redis.call('ZREVRANGEBYSCORE', delayed, score + 4095, score, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  redis.call('ZADD', delayed, last and math.min(last + 1, score + 4095) or score, id)
  redis.call('HSET', record, 'delay', ms)
  back('delayed', 'jobId', id, 'delay', whole(dueMs))
end

function endings.retried ()
  redis.call('HINCRBY', record, 'atm', 1)
  delay()
end

endings.postponed = delay

function endings.returned ()
  redis.call('RPUSH', wait, id)
  back('waiting', 'jobId', id, 'prev', 'active')
end

local function finishAttempt ()
  local had = redis.call('HMGET', record, 'ats', 'left')
  if not had[1] then return ${REFUSED.MISSING} end
  if had[1] ~= start then return ${REFUSED.OTHER_START} end
  if had[2] == start then return 0 end
  local holder = redis.call('GET', lock)
  if not holder then return ${REFUSED.NO_LOCK} end
  if holder ~= token then return ${REFUSED.NOT_OWNED} end
  redis.call('DEL', lock)
  redis.call('SREM', stalled, id)
  if redis.call('LREM', active, -1, id) == 0 then return ${REFUSED.NOT_ACTIVE} end
  endings[kind]()
  return 0
end

local refused = finishAttempt()
if refused < 0 then return refused end
local answer = fetches == '1' and take(now) or { 0, 0, 0, 0, redis.call('HGET', limits, 'generation') or '', 0, 0 }
local isEmpty = answer[1] == 0 and redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) + redis.call('LLEN', active) == 0
if isEmpty then event('drained') end
return answer`
  }
}
