'use strict'

// Units of a rate of cost of the whole queue, as one node gives them out. Loaded by queues that have one.
//
//   {fairlane:NAME}:.units   hash   of each window slices of time, and how many units may be charged in each of them at the latest
//   {fairlane:NAME}:.line    hash   processes that wait for units: since when, until when if they are not heard of, and for how many
//
// Units are given all at once that a job needs, and to the process that has waited longest: small jobs do not pass a large one for ever.
// Units of time T are good for goodMs: their job starts from T to T + goodMs. They count in a window from T until T + goodMs + intervalMs,
// whatever becomes of their process. A window counts by slices of a thousandth of the interval. Times are the broker's, and never go back.

const { CLOCK, NOW, WINDOW_OF, ratesThat } = require('./windows')

const LINE_MS = 3000 // for so long a process keeps its place in the line that is not heard of

const scripts = {
  // KEYS .fleet, .units, .line
  // ARGV generation, process, units that its next job needs, 0 for none, -1 to be told only when the next job may start; how many more are
  // of use; goodMs, 'PUBLISH', channel; units to be charged now, whatever the limit says; then of units that are given back the mark, and
  // how many
  // → generation, units that are given, their mark, ms until it should ask again, mark of what was charged.   The generation alone, if it
  // is another one: nothing is done then.
  fairlaneUnits: {
    numberOfKeys: 3,
    lua: `
local fleet = redis.call('HMGET', KEYS[1], 'generation', 'rate')
if (fleet[1] or '') ~= ARGV[1] then return { fleet[1] or '' } end
local key, line = KEYS[2], KEYS[3]
${CLOCK}
local kept = redis.call('HMGET', key, 'last', 'shift', 'seq')
local seq = tonumber(kept[3]) or 0
${NOW}
local token, need, ahead, goodMs = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
${ratesThat("rate.of == 'cost'")} -- of others the starts are counted: permits.js
${WINDOW_OF}
local windows, longest = {}, 0
for i, rate in ipairs(rates) do
  windows[i] = windowOf(rate)
  longest = math.max(longest, rate.intervalMs)
end
if #windows == 0 then return { ARGV[1], math.max(need, 0), text(now), 0, text(now) } end

local function countOf (window, slice)
  return tonumber(redis.call('HGET', key, window.name .. text(slice)) or '') or 0
end

-- what has gone from the windows
for _, window in ipairs(windows) do
  while window.sum > 0 and (window.first + 1) * window.width + window.interval <= now do
    window.sum = window.sum - countOf(window, window.first)
    redis.call('HDEL', key, window.name .. text(window.first))
    window.first = window.first + 1
  end
end

-- in how many ms there is room for so many units; all of a window for more than its limit
local function waitFor (units)
  local wait = 0
  for _, window in ipairs(windows) do
    local missing = window.sum + math.min(units, window.limit) - window.limit
    local slice = window.first
    while missing > 0 and slice * window.width < now + 10000 do
      missing = missing - countOf(window, slice)
      slice = slice + 1
      if missing <= 0 then wait = math.max(wait, slice * window.width + window.interval - now) end
    end
  end
  return wait
end

local function add (units, from)
  for _, window in ipairs(windows) do
    local slice = math.floor(from / window.width)
    window.first = window.sum > 0 and math.min(window.first, slice) or slice
    window.sum = window.sum + units
    redis.call('HINCRBY', key, window.name .. text(slice), text(units))
  end
end

local function save ()
  redis.call('HSET', key, 'last', text(now), 'shift', text(shift), 'seq', text(seq))
  for _, window in ipairs(windows) do
    redis.call('HSET', key, window.name .. 'first', text(window.first), window.name .. 'sum', text(window.sum))
  end
  redis.call('PEXPIRE', key, text(2 * longest + goodMs + 60000))
end

local isFreed = false
for at = 9, #ARGV, 2 do
  local mark, units = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  for _, window in ipairs(windows) do
    local slice = math.floor(mark / window.width)
    local less = window.sum > 0 and slice >= window.first and math.min(countOf(window, slice), units) or 0
    if less > 0 then
      redis.call('HINCRBY', key, window.name .. text(slice), text(-less))
      window.sum = window.sum - less
      isFreed = true
    end
  end
end
local charge = tonumber(ARGV[8])
if charge > 0 then add(charge, now) end

local all = redis.call('HGETALL', line)
local own, first
for i = 1, #all, 2 do
  local since, over, units = string.match(all[i + 1], '^(%d+):(%d+):(%d+)$')
  local place = { token = all[i], since = tonumber(since), units = tonumber(units) }
  if all[i] == token then own = place
  elseif tonumber(over) <= now then redis.call('HDEL', line, all[i])
  elseif not first or place.since < first.since then first = place end
end

if need < 0 then
  if own and (not first or own.since < first.since) then first = own end
  save()
  return { ARGV[1], 0, '', math.ceil(waitFor(first and first.units or 1)), '' }
end

local granted, mark, wait = 0, now + goodMs, 0
local isFirst = not first or (own and own.since < first.since)
if need > 0 then
  wait = waitFor(need)
  if isFirst and wait == 0 then
    granted = need
    if not first then
      local spare = ahead
      for _, window in ipairs(windows) do spare = math.min(spare, window.limit - window.sum - need) end
      granted = need + math.max(0, spare)
    end
    add(granted, mark)
  else
    if not own then seq = seq + 1 end
    redis.call('HSET', line, token, text(own and own.since or seq) .. ':' .. text(now + ${LINE_MS}) .. ':' .. text(need))
    wait = isFirst and math.max(1, wait) or ${LINE_MS}
  end
end
if own and (need == 0 or granted > 0) then
  redis.call('HDEL', line, token)
  isFreed = isFreed or isFirst
end
if isFreed and first and not (own and isFirst and granted == 0 and need > 0) and waitFor(first.units) == 0 then
  redis.call(ARGV[6], ARGV[7], cjson.encode({ freed = { first.token } }))
end

save()
redis.call('PEXPIRE', line, ${2 * LINE_MS})
return { ARGV[1], granted, text(mark), math.ceil(wait), text(now) }`
  }
}

/** The keys of a queue, as the script takes them. */
function keysOf (queueName) {
  return ['fleet', 'units', 'line'].map(what => `{fairlane:${queueName}}:.${what}`)
}

/** Makes methods of a client of these. */
function define (client) {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
}

module.exports = { LINE_MS, define, keysOf }
