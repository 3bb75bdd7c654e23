'use strict'

// Stores jobs, those of a type all or none, in one step; a push that is made again stores nothing twice. A job whose key is taken is not
// stored: it shares the one that has the key.
//
//   .pushed:<process>:<type>   string, for a while   number of the last push of a process, and what came of it where jobs were shared
//
// A record has, beside BullMQ's fields and those of records.js:
//
//   key, until   its key, and when that is free: 'started', 'settled' or so many ms after the push
//   inboxes      processes that wait for its result, with commas between
//   kept         somebody wants the job who does not wait for its result
//   place        its place among prioritized ones
//   front        it was unshifted, and goes before all others once it is due
//   late         when it has waited for too long, in ms since 1970; it is in .late by that until it is taken
//   due          when it is due, if that was put off
//   cost         what it costs, if anything was said of that; charged, marks: take.js

const { KEYS_OF_JOBS, MAX_EVENTS, TIME } = require('./common')

const MOST_OVER = 10 // keys whose time is over that are forgotten with a push

const KEYS_TO_PUSH = ['wait', 'prioritized', 'delayed', 'meta', 'id', 'events', '.keys', '.timed', '.late']

/**
 * Lua: push(q, jobs) → for each [name, state]: 0 it is stored, 1 it shares one that waits or runs, 2 one that has ended. q has the keys
 * wait, prioritized, delayed, meta, id, events, keys, timed, late; prefix, and priorityMs where jobs have priorities. A job has name,
 * data, opts, and plan: delayMs, maxWaitMs, front, priority, cost, key, keyUntil, onDuplicate, maxDelayMs, inbox, or none of them.
 */
const PUSH = `${TIME}${KEYS_OF_JOBS}
local function tell (q, ...)
  redis.call('XADD', q.events, 'MAXLEN', '~', '${MAX_EVENTS}', '*', 'event', ...)
end

-- microseconds, later than those of all jobs before it
local function nextPlace (q, now)
  local place = math.max(now, (tonumber(redis.call('HGET', q.meta, 'fairlane:last')) or 0) + 1)
  redis.call('HSET', q.meta, 'fairlane:last', whole(place))
  return place
end

local function join (q, name, now)
  if not q.priorityMs then
    redis.call('LPUSH', q.wait, name)
    return
  end
  local record = q.prefix .. name
  local priority = tonumber(redis.call('HGET', record, 'priority')) or 0
  local place = whole(nextPlace(q, now) - priority * q.priorityMs * 1000)
  redis.call('HSET', record, 'place', place)
  redis.call('ZADD', q.prioritized, place, name)
end

local function delay (q, name, dueMs)
  local score = dueMs * 4096 -- BullMQ's, with an order within a millisecond
  local last = redis.call('ZREVRANGEBYSCORE', q.delayed, whole(score + 4095), whole(score), 'WITHSCORES', 'LIMIT', 0, 1)[2]
  redis.call('ZADD', q.delayed, whole(last and math.min(last + 1, score + 4095) or score), name)
  tell(q, 'delayed', 'jobId', name, 'delay', whole(dueMs))
end

-- a job is to start by then
local function expect (q, name, lateMs)
  redis.call('HSET', q.prefix .. name, 'late', whole(lateMs))
  redis.call('ZADD', q.late, whole(lateMs), name)
end

-- what the push of a key that is taken does to the job that has it
local function share (q, job, name, nowMs)
  local plan, record = job.plan, q.prefix .. name
  local had = redis.call('HMGET', record, 'timestamp', 'finishedOn', 'inboxes', 'atm', 'stc', 'started', 'opts', 'late')
  if not had[1] or had[2] then return { name, 2 } end
  if not plan.inbox then
    redis.call('HSET', record, 'kept', 1)
  elseif not string.find(',' .. (had[3] or '') .. ',', ',' .. plan.inbox .. ',', 1, true) then
    redis.call('HSET', record, 'inboxes', had[3] and had[3] .. ',' .. plan.inbox or plan.inbox)
  end
  if plan.onDuplicate == 'join' or had[4] or had[5] or had[6] or redis.call('EXISTS', record .. ':lock') == 1 then return { name, 1 } end
  redis.call('HSET', record, 'data', job.data)
  if plan.cost then redis.call('HSET', record, 'cost', whole(plan.cost)) else redis.call('HDEL', record, 'cost') end
  if plan.onDuplicate == 'postpone' and redis.call('ZREM', q.delayed, name) == 1 then
    local opts = cjson.decode(had[7])
    local delayMs = plan.delayMs or opts.delay or 0
    if plan.maxDelayMs then delayMs = math.min(delayMs, had[1] + plan.maxDelayMs - nowMs) end
    delayMs = math.max(0, delayMs)
    redis.call('HSET', record, 'delay', whole(delayMs), 'due', whole(nowMs + delayMs))
    delay(q, name, nowMs + delayMs)
    if had[8] and opts.maxWaitMs then expect(q, name, nowMs + delayMs + opts.maxWaitMs) end
  end
  return { name, 1 }
end

local function store (q, job, now, nowMs)
  local plan, name = job.plan, job.name
  local record = q.prefix .. name
  if redis.call('EXISTS', record) == 1 then return end
  local delayMs = plan.delayMs or 0
  local more = {}
  if plan.key then
    local untilWhen = type(plan.keyUntil) == 'number' and whole(plan.keyUntil) or plan.keyUntil
    more = { 'key', plan.key, 'until', untilWhen, plan.inbox and 'inboxes' or 'kept', plan.inbox or 1 }
    redis.call('HSET', q.keys, plan.key, '0:' .. name)
  end
  if plan.front and delayMs > 0 then more[#more + 1] = 'front' more[#more + 1] = 1 end
  if plan.cost then redis.call('HSET', record, 'cost', whole(plan.cost)) end
  redis.call('HSET', record, 'name', 'job', 'data', job.data, 'opts', job.opts, 'timestamp', whole(nowMs),
    'delay', delayMs == 0 and '0' or whole(delayMs), 'priority', plan.priority or '0', unpack(more))
  if plan.maxWaitMs then expect(q, name, nowMs + delayMs + plan.maxWaitMs) end
  tell(q, 'added', 'jobId', name, 'name', 'job')
  if delayMs > 0 then
    delay(q, name, nowMs + delayMs)
    return
  end
  if plan.front then redis.call('RPUSH', q.wait, name) else join(q, name, now) end
  tell(q, 'waiting', 'jobId', name)
end

local function push (q, jobs)
  local now = clock()
  local nowMs = math.floor(now / 1000)
  -- by that it is known whether anything came to an idle type; refused by a broker that is full
  local isFirst = redis.call('INCRBY', q.id, #jobs) == #jobs
  if isFirst then redis.call('HSETNX', q.meta, 'opts.maxLenEvents', '${MAX_EVENTS}') end
  local answers, forgets = {}, false
  for i, job in ipairs(jobs) do
    local key = job.plan.key
    if key and not forgets then
      forgets = true
      for _, over in ipairs(redis.call('ZRANGEBYSCORE', q.timed, '-inf', whole(nowMs), 'LIMIT', 0, ${MOST_OVER})) do
        freeKey(q.keys, q.timed, over)
      end
    end
    local holder = key and holderOf(q.prefix, q.keys, q.timed, key, nowMs)
    if holder and holder ~= job.name then
      answers[i] = share(q, job, holder, nowMs)
    else
      store(q, job, now, nowMs)
      answers[i] = { job.name, 0 }
    end
  end
  return answers
end`

// of a script whose first key is .limits, and whose second argument is priorityMs or ''
const READING = `
local priorityMs = tonumber(redis.call('HGET', KEYS[1], 'priorityMs') or ARGV[2])

local function queueAt (first, prefix)
  local wait, prioritized, delayed, meta, id, events, keys, timed, late = unpack(KEYS, first, first + ${KEYS_TO_PUSH.length - 1})
  return {
    wait = wait, prioritized = prioritized, delayed = delayed, meta = meta, id = id, events = events, keys = keys, timed = timed,
    late = late, prefix = prefix, priorityMs = priorityMs
  }
end

local function jobsAt (at, count)
  local jobs = {}
  for i = 1, tonumber(count) do
    local plan = ARGV[at + 3]
    jobs[i] = { name = ARGV[at], data = ARGV[at + 1], opts = ARGV[at + 2], plan = plan == '' and {} or cjson.decode(plan) }
    at = at + 4
  end
  return jobs
end`

module.exports = {
  KEYS_TO_PUSH,
  PUSH,
  // KEYS .limits, then of each type KEYS_TO_PUSH, .pushed:<process>:<type> and the records   ARGV ms for which a push is remembered,
  // priorityMs or '', then of each type its prefix, the number of the push, how many jobs, and of each job its name, data, opts, and plan
  // as JSON or ''   → of each type as push(), or, but of the first one, the text of an error: that keeps no other one back
  push: {
    lua: `${PUSH}${READING}
local function pushOnce (q, pushed, number, jobs)
  local last, told = string.match(redis.call('GET', pushed) or '', '^(%d+) (.*)$')
  if last == number and told ~= '' then return cjson.decode(told) end
  local answers, isShared = {}, false
  if last == number then
    for i, job in ipairs(jobs) do answers[i] = { job.name, 0 } end
    return answers
  end
  answers = push(q, jobs)
  for _, answer in ipairs(answers) do isShared = isShared or answer[2] > 0 end
  redis.call('SET', pushed, number .. ' ' .. (isShared and cjson.encode(answers) or ''), 'PX', ARGV[1])
  return answers
end

local answers, first, at = {}, 2, 3
while at <= #ARGV do
  local prefix, number, count = unpack(ARGV, at, at + 2)
  local q, pushed, jobs = queueAt(first, prefix), KEYS[first + ${KEYS_TO_PUSH.length}], jobsAt(at + 3, count)
  if at == 3 then
    answers[1] = pushOnce(q, pushed, number, jobs) -- what the broker refuses of all types, it refuses of the first one
  else
    local isDone, answer = pcall(pushOnce, q, pushed, number, jobs)
    if not isDone and type(answer) == 'table' then answer = answer.err end
    answers[#answers + 1] = answer
  end
  first = first + ${KEYS_TO_PUSH.length + 1} + count
  at = at + 3 + 4 * count
end
return answers`
  },

  // KEYS .limits, .pushed:<process>.<number>, then of each type KEYS_TO_PUSH and the records   ARGV ms for which it is remembered,
  // priorityMs or '', then of each type its prefix, how many jobs, and these as of push   → of each type as push()
  pushAll: {
    lua: `${PUSH}${READING}
local told = redis.call('GET', KEYS[2])
if told then return cjson.decode(told) end
local answers, first, at = {}, 3, 3
while at <= #ARGV do
  local prefix, count = unpack(ARGV, at, at + 1)
  answers[#answers + 1] = push(queueAt(first, prefix), jobsAt(at + 2, count))
  first = first + ${KEYS_TO_PUSH.length} + count
  at = at + 2 + 4 * count
end
redis.call('SET', KEYS[2], cjson.encode(answers), 'PX', ARGV[1])
return answers`
  },

  // KEYS of KEYS_TO_PUSH, .limits, failed, the record   ARGV prefix, name   → 1 if a dead letter waits again, behind all others
  retry: {
    numberOfKeys: KEYS_TO_PUSH.length + 3,
    lua: `${PUSH}
local wait, prioritized, delayed, meta, id, events, keys, timed, late, limits, failed, record = unpack(KEYS, 1, 12)
local name = ARGV[2]
local now = clock()
local key = redis.call('HGET', record, 'key')
if not redis.call('ZSCORE', failed, name) then return 0 end
local holder = key and holderOf(ARGV[1], keys, timed, key, math.floor(now / 1000))
if holder and holder ~= name then return 0 end
local q = {
  wait = wait, prioritized = prioritized, meta = meta, events = events, prefix = ARGV[1],
  priorityMs = tonumber(redis.call('HGET', limits, 'priorityMs') or '')
}
redis.call('INCR', id)
redis.call('ZREM', failed, name)
redis.call('HDEL', record, 'finishedOn', 'processedOn', 'failedReason')
join(q, name, now)
tell(q, 'waiting', 'jobId', name, 'prev', 'failed')
return 1`
  },

  // KEYS the record   ARGV a process   → 1 if nobody else wants the job that it does not want any more
  leave: {
    numberOfKeys: 1,
    lua: `
local had = redis.call('HMGET', KEYS[1], 'inboxes', 'kept')
local rest = {}
for inbox in string.gmatch(had[1] or '', '[^,]+') do
  if inbox ~= ARGV[1] then rest[#rest + 1] = inbox end
end
if #rest > 0 then
  redis.call('HSET', KEYS[1], 'inboxes', table.concat(rest, ','))
else
  redis.call('HDEL', KEYS[1], 'inboxes')
end
return #rest == 0 and had[1] and not had[2] and 1 or 0`
  }
}
