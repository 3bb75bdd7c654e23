'use strict'

// What the scripts of permits and of units share: a clock that never goes back, and the windows of time in which they count.

/** → clock: the broker's time in ms. text: how a number is written. */
const CLOCK = `
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
local function text (n) return string.format('%.0f', n) end`

/** kept: `last` and `shift` as they were saved, first of all → now: what the clock says, but not less than it did. */
const NOW = `
  local shift = tonumber(kept[2]) or 0
  local now = clock + shift
  local last = tonumber(kept[1]) or now
  if now < last then
    shift = shift + last - now
    now = last
  end`

/**
 * fleet[2]: the rates of the queue, of which some are counted here → rates. Of several with one interval the lowest limit holds: they share
 * their counts.
 * @param {string} isCounted of a rate, in Lua
 */
const ratesThat = isCounted => `
local rates, byInterval = {}, {}
for _, rate in ipairs(cjson.decode(fleet[2] or '[]')) do
  local known = byInterval[rate.intervalMs]
  if ${isCounted} then
    if known then known.limit = math.min(known.limit, rate.limit)
    else
      byInterval[rate.intervalMs] = rate
      rates[#rates + 1] = rate
    end
  end
end`

/** key: of the counts → windowOf(rate): it counts by slices of a thousandth of its interval. */
const WINDOW_OF = `
  local function windowOf (rate)
    local name = text(rate.intervalMs) .. ':'
    local state = redis.call('HMGET', key, name .. 'first', name .. 'sum')
    return {
      limit = rate.limit, interval = rate.intervalMs, width = math.max(1, math.ceil(rate.intervalMs / 1000)), name = name,
      first = tonumber(state[1]) or 0, sum = tonumber(state[2]) or 0
    }
  end`

module.exports = { CLOCK, NOW, WINDOW_OF, ratesThat }
