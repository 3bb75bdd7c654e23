'use strict'

// What counts the starts of jobs, and their units, where rates hold. Text of Lua, for scripts that have the names of take.js.
//
// .starts is a hash, which goes by itself when all of its starts are over. Each rate has a window there, by its interval:
//
//   1000          count, first and next entry, end of the slice, jobs in the last entry, times of the first and of the last one, each
//                 a double
//   1000:7        when the jobs of an entry have started, and how many it stands for
//   c1000         as 1000, of a rate of cost: units are counted in place of jobs
//   first         when the next job may start, and the processes that ask for it then, with commas between
//
// In the record of a job stands where its units are, while a rate of cost holds: `charged`, how many, and `marks`: of each window the name,
// the number of an entry and the units in that, the newest last.
//
// A start that is granted happens later, in the process, up to a slack: an entry counts from then on. The slack is short where a rate may
// be used up, and long enough for jobs that are taken ahead where what waits is far from that.

const { AMPLE_SLACK_MS, LONGEST_SLACK_MS, SLACK } = require('../slack')

const FINEST = 1000 // jobs of a window that have an entry each; where the limit is higher, those in one of so many slices share one
const SHORT_MICROS = 500000 // for shorter times all processes come first
const SAME_MICROS = 10000 // what may start within that starts together
const MOST_FIRST = 16 // processes that come first
const MOST_LOOKED = 16 // jobs that wait and are asked what they cost

/**
 * Lua: openRates() → functions. They are made where a rate holds, since to make them takes as long as several commands. isLook: nothing is
 * written.
 */
const RATES = `
local isLook = false

local function openRates ()
  local function entryOf (name)
    local entry = redis.call('HGET', starts, name)
    if not entry then return 0, 1 end
    return struct.unpack('<dd', entry)
  end

  local function save (window)
    local state = struct.pack(
      '<ddddddd', window.count, window.first, window.next, window.sliceEnd, window.inLast, window.firstAt, window.lastAt
    )
    redis.call('HSET', starts, window.id, state)
  end

  -- entries that are over go; the window is to be saved then
  local function forget (window, now)
    while window.count > 0 and window.firstAt + window.length <= now do
      local entry = window.id .. ':' .. window.first
      local count
      window.firstAt, count = entryOf(entry)
      if window.firstAt + window.length <= now then
        redis.call('HDEL', starts, entry)
        window.first = window.first + 1
        window.count = window.first < window.next and window.count - count or 0 -- a lost entry may have stood for several
      end
    end
  end

  local function costOf (id)
    local text = string.match(redis.call('HGET', prefix .. id, 'cost') or '', '^%d+$')
    return text and #text < 17 and tonumber(text) or 1
  end

  -- what the next job costs
  local function costOfNext ()
    local id = redis.call('LINDEX', wait, -1) or redis.call('ZRANGE', prioritized, 0, 0)[1]
    return id and costOf(id) or 1
  end

  -- what those cost that wait, as far as the first ones tell: a cheap one may stand before dear ones
  local function costOfWaiting (waiting)
    local ids = redis.call('LRANGE', wait, -${MOST_LOOKED}, -1)
    if #ids < ${MOST_LOOKED} then
      for _, id in ipairs(redis.call('ZRANGE', prioritized, 0, ${MOST_LOOKED - 1} - #ids)) do ids[#ids + 1] = id end
    end
    local sum, most = 0, 0
    for _, id in ipairs(ids) do
      local cost = costOf(id)
      sum = sum + cost
      most = math.max(most, cost)
    end
    return sum + math.max(0, waiting - #ids) * most
  end

  -- how much there is too much of in a window for the next job, which needs so much; one that costs more than the limit needs all of it
  local function missingIn (window)
    return window.need == 0 and 0 or window.count - window.limit + math.min(window.need, window.limit)
  end

  -- in how many microseconds the next job may start
  local function pauseOf (window, now)
    if not isLook and missingIn(window) > 0 then
      local first = window.first
      forget(window, now)
      if window.first > first then save(window) end -- another rate may hold the job back
    end
    local missing = missingIn(window)
    if missing <= 0 then return 0 end
    local at, count
    for number = window.first, window.next - 1 do
      at, count = entryOf(window.id .. ':' .. number)
      missing = missing - count
      if missing <= 0 then break end
    end
    return math.max(isLook and 0 or 1, at + window.length - now)
  end

  -- the windows of a type, in how many microseconds the next job may start, and how many ms after the call for it was sent; cost: of that
  -- job, nil if it is to be looked up
  local function windowsOf (text, waiting, now, cost)
    local rates, windows, ids, pause, startMs, units = cjson.decode(text), {}, {}, 0, 0, nil
    if #rates == 0 then return windows, 0, 0 end
    for i, rate in ipairs(rates) do
      ids[i] = (rate.of == 'cost' and 'c' or '') .. whole(rate.intervalMs)
      if i > 1 and rates[i - 1].intervalMs == rate.intervalMs then ids[i] = ids[i] .. '.' .. i end
      if rate.of == 'cost' and not cost then cost = costOfNext() end
    end
    local states = redis.call('HMGET', starts, unpack(ids))
    for i, rate in ipairs(rates) do
      local window = { id = ids[i], limit = rate.limit, length = rate.intervalMs * 1000, isOfCost = rate.of == 'cost', need = 1 }
      window.count, window.first, window.next, window.sliceEnd, window.inLast, window.firstAt, window.lastAt = 0, 0, 0, 0, 0, 0, 0
      if window.isOfCost then
        window.need = cost
        window.first = math.floor(now / 100) -- no mark of an entry that is gone is that of a later one
        window.next = window.first
      end
      if states[i] then
        window.count, window.first, window.next, window.sliceEnd, window.inLast, window.firstAt, window.lastAt =
          struct.unpack('<ddddddd', states[i])
      end
      windows[i] = window
      pause = math.max(pause, pauseOf(window, now))
      local slackMs = ${AMPLE_SLACK_MS}
      local isTight = window.count + waiting * window.need > rate.limit / 2
      if not isTight and window.isOfCost and waiting > 1 then
        units = units or costOfWaiting(waiting)
        isTight = window.count + units > rate.limit / 2
      end
      if isTight then slackMs = math.min(${LONGEST_SLACK_MS}, rate.intervalMs * ${SLACK}) end
      if startMs == 0 or slackMs < startMs then startMs = slackMs end
    end
    return windows, pause, startMs
  end

  local function hasRoom (window, at, count)
    local missing = window.count - window.limit + count * window.need
    for number = window.first, window.next - 1 do
      if missing <= 0 then break end
      local startedAt, some = entryOf(window.id .. ':' .. number)
      if startedAt + window.length > at + ${SAME_MICROS} then return false end
      missing = missing - some
    end
    return missing <= 0
  end

  -- Of the processes that find that nothing may start before a time as many come first as jobs may start then: they ask at that time. 1 is
  -- for the others, which look a little later whether that was enough (worker/standby.js).
  local function comesLater (windows, at, now)
    if at - now < ${SHORT_MICROS} then return 0 end
    local time, names = string.match(redis.call('HGET', starts, 'first') or '', '^(%d+)(,.*)$')
    if time ~= whole(at) then names = ',' end
    if string.find(names, ',' .. token .. ',', 1, true) then return 0 end
    local _, count = string.gsub(names, ',', ',') -- with this process
    if count > ${MOST_FIRST} then return 1 end
    for _, window in ipairs(windows) do
      if not hasRoom(window, at, count) then return 1 end
    end
    redis.call('HSET', starts, 'first', whole(at) .. names .. token .. ',')
    return 0
  end

  -- so many starts, or units, count from then on
  local function add (window, count, now, startMs)
    window.lastAt = math.max(window.lastAt, now + startMs * 1000)
    if window.inLast == 0 or now >= window.sliceEnd then
      forget(window, now)
      if window.count == 0 then window.firstAt = window.lastAt end
      window.next = window.next + 1
      window.inLast = 0
      local isSliced = window.isOfCost or window.limit > ${FINEST}
      window.sliceEnd = isSliced and now + math.ceil(window.length / ${FINEST}) or 0
    end
    window.count = window.count + count
    window.inLast = window.inLast + count
    save(window)
    redis.call('HSET', starts, window.id .. ':' .. window.next - 1, struct.pack('<dd', window.lastAt, window.inLast))
  end

  -- .starts stays until all that is in any of the windows is over
  local function keep (windows, now)
    local longest = 0
    for _, window in ipairs(windows) do
      if window.count > 0 then longest = math.max(longest, window.lastAt + window.length + window.length / ${FINEST} - now) end
    end
    if longest > 0 then redis.call('PEXPIRE', starts, whole(math.ceil(longest / 1000))) end
  end

  -- a job starts, that costs what the windows of cost need
  local function note (windows, now, startMs)
    for _, window in ipairs(windows) do
      if window.need > 0 then add(window, window.need, now, startMs) end
    end
    keep(windows, now)
  end

  -- what a job is charged stands in its record
  local function charge (id, windows, had)
    local marks, cost = { had }, nil
    for _, window in ipairs(windows) do
      if window.isOfCost then
        cost = window.need
        if cost > 0 then marks[#marks + 1] = window.id .. '/' .. whole(window.next - 1) .. '/' .. whole(cost) end
      end
    end
    if cost then redis.call('HSET', prefix .. id, 'charged', whole(cost), 'marks', table.concat(marks, ' ')) end
  end

  -- in how many microseconds the next job may start, after another one
  local function pauseOfAll (windows, now)
    local pause, cost = 0, nil
    for _, window in ipairs(windows) do
      if window.isOfCost then
        cost = cost or costOfNext()
        window.need = cost
      end
      pause = math.max(pause, pauseOf(window, now))
    end
    return pause
  end

  return {
    add = add, charge = charge, comesLater = comesLater, costOf = costOf, entryOf = entryOf, forget = forget, keep = keep, note = note,
    pauseOfAll = pauseOfAll, save = save, windowsOf = windowsOf
  }
end`

module.exports = { RATES }
