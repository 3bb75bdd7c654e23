'use strict'

// Permits to start jobs by the rate of the queue, and places under its globalConcurrency, as one node gives them out. Loaded by queues that
// have one of these.
//
//   {fairlane:NAME}:.permits   hash   of each window slices of time, and how many jobs may start in each of them at the latest
//   {fairlane:NAME}:.places    hash   how many places each process has, and until when if it is not heard of
//
// A permit of time T is good for goodMs: its job starts from T to T + goodMs. It counts in a window from T until T + goodMs + intervalMs,
// so that in no stretch of intervalMs more jobs start than the limit says, whatever becomes of their processes. What has gone is counted
// by slices of a thousandth of the interval, each until its last job may have started that long ago.
//
//   now ──▶ T1 T2 │ T3 …      permits of times to come are given, too, up to aheadMs from now: few calls are needed then
//
// Who is told to wait for long is told, too, when another process gives permits back that it did not use. That comes first then: so permits
// go from a process that is too busy to use them to one that is not.
//
// Times are the broker's, and never go back: a server that has taken over, and whose clock is behind, goes on from where it was. Leases of
// places stand still while nobody calls, as when this node was away.

const { CLOCK, NOW, WINDOW_OF, ratesThat } = require('./windows')

// Where a rate is used up its permits are given evenly: else those that were used in a burst would come back in one, again and again. What
// was saved up is spread over a second at most.
const EVEN = 0.9
const LONGEST_SPREAD_MS = 1000
const LEAST_STEP_MS = 10

const LONG_MS = 1000 // who waits for longer is told of permits that come back
const MOST_WAITING = 16 // processes that are told; others ask again by themselves
const LONGEST_WAIT_MS = 10000 // after which a process asks again, as a message may be lost and its process be gone
const KEPT_WAITING_MS = 1.5 * LONGEST_WAIT_MS // who has not asked for so long does not wait any more
const OTHERS_FIRST_MS = 50 // who gives permits back asks again so much later than those who wait for them

const EARLY = 1 // nothing may start by its places yet
const LOST = 2 // its places are others' by now

const scripts = {
  // KEYS .fleet, .permits, .places
  // ARGV generation, process, leaseMs, places that it has, places that it wants, 1: it had some before; permits that it wants at once, and
  // at most, -1 to be told only when the next one begins; goodMs, aheadMs, 'PUBLISH', channel, how many of the places that it has no job
  // has; in how many ms it should ask again by what it was told before; then of permits that were not used the mark, and how many
  // → generation, ms until it should ask again, places, below 0 those that it is to let go, what is to be known of those that it has (LOST,
  // EARLY, or 0), processes that wait for places; then of permits how many, in how many ms they begin, and their mark.   The generation
  // alone, if it is another one: nothing is done then.
  fairlanePermits: {
    numberOfKeys: 3,
    lua: `
local fleet = redis.call('HMGET', KEYS[1], 'generation', 'rate', 'concurrency', 'placesFrom')
if (fleet[1] or '') ~= ARGV[1] then return { fleet[1] or '' } end
${CLOCK}
local answer = { ARGV[1], 0, 0, 0, 0 }

local mayStart = true -- a permit is of no use without a place
if fleet[3] and ARGV[8] ~= '-1' then
  local key = KEYS[3]
  local all = redis.call('HGETALL', key)
  local lease = tonumber(ARGV[3])
  local at, leaseClock = clock, clock
  local processes = {}
  local function processOf (name)
    if not processes[name] then processes[name] = { places = 0, over = 0 } end
    return processes[name]
  end
  for i = 1, #all, 2 do
    local kind, name, value = string.sub(all[i], 1, 2), string.sub(all[i], 3), tonumber(all[i + 1])
    if kind == 'n:' then processOf(name).places = value
    elseif kind == 'e:' then processOf(name).over = value
    elseif kind == 'w:' then processOf(name).waits = value
    elseif name == 'at' then at = value
    else leaseClock = value end
  end
  leaseClock = leaseClock + math.min(math.max(0, clock - at), lease / 2)
  local own = processOf(ARGV[2])
  if own.places > 0 and own.over <= leaseClock then own = { places = 0, over = 0 } end
  processes[ARGV[2]] = nil
  local used = 0
  for name, process in pairs(processes) do
    if process.over <= leaseClock then
      redis.call('HDEL', key, 'n:' .. name, 'e:' .. name, 'w:' .. name)
      processes[name] = nil
    else
      used = used + process.places
    end
  end
  local held, want = tonumber(ARGV[4]), tonumber(ARGV[5])
  if held > 0 and own.over == 0 and ARGV[6] == '1' then
    answer[4] = ${LOST}
    held = 0
  end
  local rest = tonumber(fleet[3]) - used - held
  local soonMs = (tonumber(fleet[4]) or 0) - clock -- until then processes may run jobs that they have not told of
  local most = soonMs > 0 and 0 or rest
  local granted = math.max(0, math.min(want, most))
  answer[3] = granted
  mayStart = soonMs <= 0 and granted + tonumber(ARGV[13]) > 0
  if rest < 0 and held > 0 then answer[3] = -math.ceil(-rest * held / (used + held)) end -- of those that are too many each its share
  local isWaiting = granted < want
  if soonMs > 0 then
    answer[2] = soonMs
    answer[4] = math.max(answer[4], ${EARLY})
  elseif isWaiting and not mayStart then
    answer[2] = math.max(answer[2], 1000)
  end
  redis.call('HSET', key, 't:at', text(clock), 't:clock', text(leaseClock))
  if held + granted > 0 or isWaiting then
    redis.call('HSET', key, 'n:' .. ARGV[2], held + granted, 'e:' .. ARGV[2], text(leaseClock + lease))
  else
    redis.call('HDEL', key, 'n:' .. ARGV[2], 'e:' .. ARGV[2])
  end
  if isWaiting then redis.call('HSET', key, 'w:' .. ARGV[2], own.waits and text(own.waits) or text(leaseClock))
  else redis.call('HDEL', key, 'w:' .. ARGV[2]) end
  local waiting = {}
  for name, process in pairs(processes) do
    if process.waits then waiting[#waiting + 1] = name end
  end
  answer[5] = #waiting
  local free = most - granted
  if free > 0 and #waiting > 0 then
    table.sort(waiting, function (a, b) return processes[a].waits < processes[b].waits end)
    local told = {}
    for i = 1, math.min(free, #waiting) do
      told[i] = waiting[i]
      redis.call('HDEL', key, 'w:' .. waiting[i])
    end
    redis.call(ARGV[11], ARGV[12], cjson.encode({ freed = told }))
  end
  if used + held + granted == 0 and not isWaiting and #waiting == 0 then redis.call('DEL', key) end
end

${ratesThat("rate.of ~= 'cost'")} -- of others the units are counted: units.js
if #rates > 0 then
  local key = KEYS[2]
  local kept = redis.call('HMGET', key, 'last', 'shift', 'tail', 'promised', 'evenUntil', 'stepAt', 'inStep', 'waiting')
${NOW}
  local wantNow, wantAll = tonumber(ARGV[7]), tonumber(ARGV[8])
  local isAsked = wantAll < 0
  if isAsked then wantAll = 1 end
  if not mayStart then wantAll = 0 end
  local goodMs, aheadMs = tonumber(ARGV[9]), tonumber(ARGV[10])
  local tail = math.max(tonumber(kept[3]) or now, now)
  local evenUntil, stepAt, inStep = tonumber(kept[5]) or 0, tonumber(kept[6]) or 0, tonumber(kept[7]) or 0
${WINDOW_OF}
  local space = 0
  local windows = {}
  for i, rate in ipairs(rates) do
    windows[i] = windowOf(rate)
    space = math.max(space, math.min(${EVEN} * (rate.intervalMs + goodMs), ${LONGEST_SPREAD_MS}) / rate.limit)
  end

  local back = 0 -- permits that may be given again
  for at = 15, #ARGV, 2 do
    local mark, unused = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    local most = 0
    for _, window in ipairs(windows) do
      local slice = math.floor(mark / window.width)
      local field = window.name .. text(slice)
      local count = window.sum > 0 and slice >= window.first and tonumber(redis.call('HGET', key, field)) or 0
      local less = math.min(count, unused)
      if less > 0 then
        redis.call('HINCRBY', key, field, -less)
        window.sum = window.sum - less
        most = math.max(most, less)
      end
    end
    back = back + most
  end

  -- processes that wait, the one first that has asked least lately, and when each has asked
  local waiting = {}
  for name, askedAt in string.gmatch(kept[8] or '', '([^,]+),(%d+)') do
    local isGone = tonumber(askedAt) + ${KEPT_WAITING_MS} < now
    if not isGone and not (name == ARGV[2] and wantAll > 0) then waiting[#waiting + 1] = { name, askedAt } end
  end
  if back > 0 and #waiting > 0 then
    local told = {}
    for i = 1, math.min(back, #waiting) do told[i] = table.remove(waiting, 1)[1] end
    redis.call(ARGV[11], ARGV[12], cjson.encode({ freed = told }))
    if wantAll > 0 then
      wantAll = 0
      answer[2] = math.max(answer[2], ${OTHERS_FIRST_MS})
    end
  end

  -- when there is room for one more from a time on, and what has gone from the window by then
  local function roomFrom (window, from)
    local first, sum, gone = window.first, window.sum, {}
    while sum > 0 do
      local over = (first + 1) * window.width + window.interval
      if over > from then
        if sum < window.limit then break end
        from = over
      end
      local field = window.name .. text(first)
      local count = tonumber(redis.call('HGET', key, field))
      if count then
        sum = sum - count
        gone[#gone + 1] = field
      end
      first = first + 1
    end
    return from, first, sum, gone
  end

  -- so many in each step, while the rate is used up
  local perStep = math.ceil(${LEAST_STEP_MS} / space)
  local stepMs = math.ceil(perStep * space)

  local count, at, gap = 0, tail, 0
  while count < wantAll do
    local isEven = now < evenUntil
    if isEven and inStep >= perStep then at = math.max(at, stepAt + stepMs) end
    local states
    local from
    repeat
      from = at
      states = {}
      for i, window in ipairs(windows) do
        local room, first, sum, gone = roomFrom(window, at)
        if room > at then
          at = room
          gap = window.interval / window.limit
          evenUntil = math.max(evenUntil, room + window.interval)
        end
        states[i] = { first = first, sum = sum, gone = gone }
      end
    until at == from
    if isAsked then
      answer[2] = math.ceil(at - now)
      break
    end
    if at > now + aheadMs then
      if count == 0 then
        local latest = at + 1000 + 10 * gap
        local promised = now + aheadMs + tonumber(ARGV[14]) -- it comes at the time that it was told before
        if promised < at or promised > latest then
          promised = tonumber(kept[4]) or 0
          if promised < at or promised > latest then promised = at end
          redis.call('HSET', key, 'promised', text(promised + gap))
        end
        answer[2] = math.max(1, promised - now - aheadMs)
        if answer[2] > ${LONG_MS} and #waiting < ${MOST_WAITING} then waiting[#waiting + 1] = { ARGV[2], text(now) } end
      end
      break
    end
    local most = (at <= now and wantNow or wantAll) - count
    for i, window in ipairs(windows) do most = math.min(most, window.limit - states[i].sum) end
    if at >= stepAt + stepMs then
      stepAt = at
      inStep = 0
    end
    if isEven then most = math.min(most, perStep - inStep) end
    if most <= 0 then break end
    inStep = inStep + most
    for i, window in ipairs(windows) do
      local state = states[i]
      for from = 1, #state.gone, 1000 do
        redis.call('HDEL', key, unpack(state.gone, from, math.min(from + 999, #state.gone)))
      end
      local slice = math.floor((at + goodMs) / window.width)
      window.first = state.sum > 0 and math.min(state.first, slice) or slice
      window.sum = state.sum + most
      redis.call('HINCRBY', key, window.name .. text(slice), most)
    end
    answer[#answer + 1] = most
    answer[#answer + 1] = at - now
    answer[#answer + 1] = text(at + goodMs)
    count = count + most
    tail = at
  end

  local longest = 0
  for i, entry in ipairs(waiting) do waiting[i] = table.concat(entry, ',') end
  redis.call('HSET', key, 'last', text(now), 'shift', text(shift), 'tail', text(tail),
    'evenUntil', text(evenUntil), 'stepAt', text(stepAt), 'inStep', inStep, 'waiting', table.concat(waiting, ','))
  for _, window in ipairs(windows) do
    redis.call('HSET', key, window.name .. 'first', text(window.first), window.name .. 'sum', text(window.sum))
    longest = math.max(longest, window.interval)
  end
  redis.call('PEXPIRE', key, text(2 * longest + goodMs + aheadMs + 60000))
end
return answer`
  }
}

/** The keys of a queue, as the script takes them. */
function keysOf (queueName) {
  return ['fleet', 'permits', 'places'].map(what => `{fairlane:${queueName}}:.${what}`)
}

/** Makes methods of a client of these. */
function define (client) {
  for (const [name, script] of Object.entries(scripts)) client.defineCommand(name, script)
}

module.exports = { EARLY, LONGEST_WAIT_MS, LOST, define, keysOf }
