-- @part    geo
-- @summary Places on the globe: rounding that no cell's border shows, cells with their neighbours, scores, distances.
--
-- A cell is a geohash of three letters: CELL_DEGREES wide and high, 156 km from south to north. A place is kept in its
-- own cell and in every other that lies within HALO_METRES, so whoever looks for neighbours looks into one cell.

local EARTH_METRES = 6372797.560856 -- as Redis measures, so that all distances agree
local DEGREE_METRES = EARTH_METRES * math.pi / 180
local CELL_DEGREES = 1.40625
local HALO_METRES = 21000 -- the largest radius, and a margin

-- Metres between two places in degrees that are some kilometres apart, on a plane that touches the globe between them:
-- a hundredth of a metre in two kilometres, at a third of what the exact formula costs.
local function metres(latitude, longitude, other_latitude, other_longitude)
  local east = other_longitude - longitude
  if east > 180 then east = east - 360 elseif east < -180 then east = east + 360 end
  local north = other_latitude - latitude
  east = east * math.cos(math.rad((latitude + other_latitude) / 2))
  return math.sqrt(north * north + east * east) * DEGREE_METRES
end

-- Column and row of the cell that holds a place. Halved as every geohash is, so that no digit is lost on a border.
local function column_and_row(latitude, longitude)
  local column, row = 0, 0
  local west, east, south, north = -180, 180, -90, 90
  for step = 1, 8 do
    local middle = (west + east) / 2
    column = column * 2
    if longitude >= middle then column, west = column + 1, middle else east = middle end
    if step < 8 then
      middle = (south + north) / 2
      row = row * 2
      if latitude >= middle then row, south = row + 1, middle else north = middle end
    end
  end
  return column, row
end

-- The three letters of a cell: bits of column and row in turn, five to a letter.
local function cell_name(column, row)
  local letters = '0123456789bcdefghjkmnpqrstuvwxyz'
  local code = 0
  for place = 7, 0, -1 do
    code = code * 2 + math.floor(column / 2 ^ place) % 2
    if place > 0 then code = code * 2 + math.floor(row / 2 ^ (place - 1)) % 2 end
  end
  local name = ''
  for _ = 1, 3 do
    local letter = code % 32
    name = string.sub(letters, letter + 1, letter + 1) .. name
    code = (code - letter) / 32
  end
  return name
end

local function cell_of(latitude, longitude)
  return cell_name(column_and_row(latitude, longitude))
end

-- Every cell that lies within HALO_METRES of a place, its own first.
local function cells_of(latitude, longitude)
  local own_column, own_row = column_and_row(latitude, longitude)
  local high = HALO_METRES / DEGREE_METRES
  local wide = high / math.cos(math.rad(latitude))
  local names = {cell_name(own_column, own_row)}
  local first_row = math.max(0, math.floor((latitude - high + 90) / CELL_DEGREES))
  local last_row = math.min(127, math.floor((latitude + high + 90) / CELL_DEGREES))
  local first = math.floor((longitude - wide + 180) / CELL_DEGREES)
  local last = math.floor((longitude + wide + 180) / CELL_DEGREES)
  for row = first_row, last_row do
    for column = first, last do
      if row ~= own_row or column % 256 ~= own_column then names[#names + 1] = cell_name(column % 256, row) end
    end
  end
  return names
end

-- The middle of the square of about `size` metres that a place lies in; with 0 the place itself. The squares divide
-- a cell evenly, so a rounded place lies in the cell of the exact one, and the cell tells nothing that it does not.
local function rounded(latitude, longitude, size)
  if size == 0 then return latitude, longitude end
  local column, row = column_and_row(latitude, longitude)
  local function middle(value, origin, count)
    local step = CELL_DEGREES / count
    local place = math.min(math.max(math.floor((value - origin) / step), 0), count - 1)
    return origin + (place + 0.5) * step
  end
  local count = math.floor(CELL_DEGREES * DEGREE_METRES / size)
  latitude = middle(latitude, row * CELL_DEGREES - 90, count)
  count = math.max(1, math.floor(CELL_DEGREES * DEGREE_METRES * math.cos(math.rad(latitude)) / size))
  return latitude, middle(longitude, column * CELL_DEGREES - 180, count)
end

-- The score under which Redis keeps a place (GEOADD), as text: 26 bits of latitude and of longitude in turn.
local function geo_score(latitude, longitude)
  -- The bits of a number of 13 bits with a zero before each.
  local function spread(number)
    number = bit.band(bit.bor(number, bit.lshift(number, 8)), 0x00ff00ff)
    number = bit.band(bit.bor(number, bit.lshift(number, 4)), 0x0f0f0f0f)
    number = bit.band(bit.bor(number, bit.lshift(number, 2)), 0x33333333)
    return bit.band(bit.bor(number, bit.lshift(number, 1)), 0x55555555)
  end
  local latitude_max = 85.05112878 -- of Redis's geo scores
  local north = math.floor((latitude + latitude_max) / (2 * latitude_max) * 2 ^ 26)
  local east = math.min(math.floor((longitude + 180) / 360 * 2 ^ 26), 2 ^ 26 - 1)
  local low = spread(north % 8192) + 2 * spread(east % 8192)
  local high = spread(math.floor(north / 8192)) + 2 * spread(math.floor(east / 8192))
  return string.format('%.0f', high * 2 ^ 26 + low)
end
