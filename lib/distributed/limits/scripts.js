'use strict'

// What is done at the broker, in one step, about the limits of all processes.
//
//   {fairlane:NAME}:.fleet   hash      the limits (terms.js), their generation, and the one in which the broker got its first ones
//   P:.limits                hash      the copy of each partition, of what limits its types
//
// Generations are times by the broker's clock, in µs, each later than the one before: so the last one counts wherever two differ.

// A globalConcurrency that comes to be while jobs run: nothing starts by it before all processes have said how many they run. So long they
// take at most to follow.
const FOLLOW_MS = 1000

// HSET of many: what a call has may be more than unpack() takes
const SET_ALL = `
local function setAll (key, from, to)
  for at = from, to, 1000 do redis.call('HSET', key, unpack(ARGV, at, math.min(at + 999, to))) end
end
local function removeAll (key, from, to)
  for at = from, to, 1000 do redis.call('HDEL', key, unpack(ARGV, at, math.min(at + 999, to))) end
end
`

const scripts = {
  // KEYS .fleet   ARGV the generation that is known   → the generation, and if that is another one ms by the broker's clock, then fields
  // and values
  fairlaneTerms: {
    numberOfKeys: 1,
    lua: `
local generation = redis.call('HGET', KEYS[1], 'generation')
if not generation then return { '' } end
if generation == ARGV[1] then return { generation } end
local time = redis.call('TIME')
return { generation, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), redis.call('HGETALL', KEYS[1]) }`
  },

  // KEYS .fleet   ARGV the generation that is known, one that the new one is to be later than; ms of a hold, '' to leave it; 'PUBLISH'; how
  // many follow of the next, fields and values, fields to remove
  // → the new generation, which is told on the channel of this name; nothing if another one is there than is known, and nothing is written
  // then
  fairlaneSetTerms: {
    numberOfKeys: 1,
    lua: `${SET_ALL}
local generation = redis.call('HGET', KEYS[1], 'generation') or ''
if generation ~= ARGV[1] then return false end
local time = redis.call('TIME')
local new = math.max(time[1] * 1000000 + time[2], (tonumber(generation) or 0) + 1, (tonumber(ARGV[2]) or 0) + 1)
new = string.format('%.0f', new)
local last = 5 + tonumber(ARGV[5])
local isFirst = generation ~= '' and redis.call('HEXISTS', KEYS[1], 'concurrency') == 0
redis.call('HSETNX', KEYS[1], 'born', new)
redis.call('HSET', KEYS[1], 'generation', new)
setAll(KEYS[1], 6, last)
removeAll(KEYS[1], last + 1, #ARGV)
local function inMs (ms) return string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ms) end
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], 'heldUntil')
elseif ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'heldUntil', inMs(tonumber(ARGV[3])))
end
if isFirst and redis.call('HEXISTS', KEYS[1], 'concurrency') == 1 then
  redis.call('HSET', KEYS[1], 'placesFrom', inMs(${FOLLOW_MS}))
elseif isFirst then
  redis.call('HDEL', KEYS[1], 'placesFrom')
end
redis.call(ARGV[4], KEYS[1], cjson.encode({ limits = new }))
return new`
  },

  // KEYS .fleet   ARGV generation, ms of a hold that are left, fields and values   What was lost is there again, unless something later
  // is.
  fairlaneRestoreTerms: {
    numberOfKeys: 1,
    lua: `${SET_ALL}
local generation = redis.call('HGET', KEYS[1], 'generation')
if generation and tonumber(generation) >= tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'generation', ARGV[1])
setAll(KEYS[1], 3, #ARGV)
if tonumber(ARGV[2]) > 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'heldUntil', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[2])))
end
return 1`
  },

  // KEYS .limits of a partition   ARGV generation, the one that what follows is to be written on, '' for any; ms of a hold that are left;
  // 'PUBLISH', .wake; how many follow of the next, fields and values, fields to remove
  // → the generation that is there then; '' for none, and then nothing was written
  fairlaneCopyTerms: {
    numberOfKeys: 1,
    lua: `${SET_ALL}
local generation = redis.call('HGET', KEYS[1], 'generation')
if generation and tonumber(generation) >= tonumber(ARGV[1]) then return generation end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
elseif generation ~= ARGV[2] then
  return generation or ''
end
local last = 6 + tonumber(ARGV[6])
redis.call('HSET', KEYS[1], 'generation', ARGV[1])
setAll(KEYS[1], 7, last)
removeAll(KEYS[1], last + 1, #ARGV)
if tonumber(ARGV[3]) > 0 then
  local time = redis.call('TIME')
  redis.call('HSET', KEYS[1], 'heldUntil', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[3])))
else
  redis.call('HDEL', KEYS[1], 'heldUntil')
end
redis.call(ARGV[4], ARGV[5], cjson.encode({ limits = ARGV[1] }))
return ARGV[1]`
  }
}

/** Makes methods of a client of these. */
function define (client) {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
}

module.exports = { define }
