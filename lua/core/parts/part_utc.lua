-- @part     utc
-- @summary  A time as states tell it; commands have `iso`, which states run without.

-- ISO 8601 in UTC; the days are counted by the civil calendar from 1 March of year 0.
local function utc(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local day = (days + 719468) % 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  local of_year = day - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * of_year + 2) / 153)
  local of_month = of_year - math.floor((153 * month + 2) / 5) + 1
  year = year + math.floor((days + 719468) / 146097) * 400 + (month >= 10 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month < 10 and month + 3 or month - 9, of_month,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end
