'use strict'

// What a job has cost, as its runner says while it runs: corrects the windows of rates of cost, and the record.

const { KEYS_COUNT, TAKE } = require('./take')

const MOST_MARKS = 64 // of a job: what it is charged later counts as of the last of them when it is given back

module.exports = {
  // Keys as of a take   ARGV behind those of a take: the job, its number of starts, what it has cost so far, 'PUBLISH' or 'SPUBLISH', .wake
  // What it was charged and has not cost is given back, the newest first; what it has cost beyond is charged now. Later attempts cost so
  // much. Other processes are told of units that are free.
  // → 1 if others of the type wait, and units are free
  spent: {
    numberOfKeys: KEYS_COUNT,
    lua: `${TAKE}
local id, start, total, publish, channel = unpack(ARGV, 6, 10)
local record = prefix .. id
local had = redis.call('HMGET', record, 'ats', 'charged', 'marks')
if had[1] ~= start then return 0 end
redis.call('HSET', record, 'cost', total)
local difference = tonumber(total) - (tonumber(had[2] or '') or 0)
if not had[2] or difference == 0 then return 0 end
local all, own = unpack(redis.call('HMGET', limits, 'rates', 'rates:' .. typeName))
local now, rates = clock(), openRates()
local windows = rates.windowsOf(own or all or '[]', 0, now, 0)
local marks, byId = {}, {}
for token in string.gmatch(had[3], '%S+') do
  local name, number, units = string.match(token, '^(.-)/(%d+)/(%d+)$')
  marks[#marks + 1] = { name = name, number = tonumber(number), units = tonumber(units) }
end
for _, window in ipairs(windows) do
  if window.isOfCost then byId[window.id] = window end
end

-- from the entry of the charge, and from later ones where that has not so many left
local function giveBack (window, number, units)
  rates.forget(window, now)
  if number < window.first then return rates.save(window) end -- that is over
  for at = number, window.next - 1 do
    local startedAt, count = rates.entryOf(window.id .. ':' .. at)
    local given = math.min(units, count)
    units = units - given
    window.count = window.count - given
    if at == window.next - 1 then window.inLast = window.inLast - given end
    redis.call('HSET', starts, window.id .. ':' .. at, struct.pack('<dd', startedAt, count - given))
    if units == 0 then break end
  end
  rates.save(window)
end

if difference > 0 then
  local isFull = #marks >= ${MOST_MARKS}
  for name, window in pairs(byId) do
    rates.add(window, difference, now, 0)
    local last
    for _, mark in ipairs(marks) do if mark.name == name then last = mark end end
    if isFull and last then
      last.units = last.units + difference
    else
      marks[#marks + 1] = { name = name, number = window.next - 1, units = difference }
    end
  end
  rates.keep(windows, now)
else
  local left = {}
  for at = #marks, 1, -1 do
    local mark = marks[at]
    left[mark.name] = left[mark.name] or -difference
    local given = math.min(left[mark.name], mark.units)
    left[mark.name] = left[mark.name] - given
    mark.units = mark.units - given
    if given > 0 and byId[mark.name] then giveBack(byId[mark.name], mark.number, given) end
  end
end
local texts = {}
for _, mark in ipairs(marks) do
  if mark.units > 0 then texts[#texts + 1] = mark.name .. '/' .. whole(mark.number) .. '/' .. whole(mark.units) end
end
redis.call('HSET', record, 'charged', total, 'marks', table.concat(texts, ' '))
if difference > 0 or redis.call('LLEN', wait) + redis.call('ZCARD', prioritized) == 0 then return 0 end
redis.call(publish, channel, cjson.encode({ given = typeName }))
return 1`
  }
}
