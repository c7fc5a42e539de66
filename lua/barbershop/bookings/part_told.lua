-- @part     told
-- @summary  Tell what a shop has decided about a booking, with the version of the decision.
-- @type     booking_change {bookingId: string, status: status, estimatedCompletion?: string, scheduledAt?: string}
--
-- For scripts that include `version` and `booking`, with the keys version and texts and `@calls booking_changed,
-- user_booking`. shop:S#texts is a hash: a word -> JSON {title, body, titleKey, bodyKey}, the shop's own texts
-- (set_text.lua). A word is the status, `received`, `expired`, `too_many` or `rescheduled`.

local TEXTS = {
  received = {'Booking received', 'The shop will confirm your booking.'},
  rescheduled = {'Booking moved', 'Your booking has another time.'},
  confirmed = {'Booking confirmed', 'The shop expects you.'},
  ['in-progress'] = {'Service started', 'Your service has begun.'},
  completed = {'Service completed', 'Thank you for your visit.'},
  cancelled = {'Booking cancelled', 'Your booking was cancelled.'},
  ['no-show'] = {'Booking missed', 'Your booking was closed, as you did not come.'},
  expired = {'Booking cancelled', 'The shop did not confirm your booking in time.'},
  too_many = {'Booking cancelled', 'You have too many bookings that wait to be confirmed.'},
}

-- Text with `{shopId}` and its like replaced.
local function filled(text, values)
  return (string.gsub(text, '{(%w+)}', function(name) return values[name] end))
end

-- The texts of a notification: the shop's own ones, or those above.
local function texts_of(word, values)
  local own = decode(read('HGET', key.texts, word))
  if type(own) ~= 'table' then own = {} end
  local function own_text(name) return type(own[name]) == 'string' and own[name] ~= '' and own[name] or nil end
  local title, body = own_text('title'), own_text('body')
  return {
    title = title and filled(title, values) or TEXTS[word][1], body = body and filled(body, values) or TEXTS[word][2],
    titleKey = own_text('titleKey'), bodyKey = own_text('bodyKey'),
  }
end

-- The beginning of a text, cut between two characters.
local function clipped(text, bytes)
  if #text <= bytes then return text end
  while bytes > 0 and string.byte(text, bytes + 1) >= 128 and string.byte(text, bytes + 1) < 192 do
    bytes = bytes - 1
  end
  return string.sub(text, 1, bytes)
end

-- The version of what this run decides about bookings.
local version_decided
local function booking_version()
  version_decided = version_decided or next_version(key.version)
  return version_decided
end

-- Tells a booking's status to its user and on the booking's topics, with the texts of a word.
local function tell(shop, number, user, status, word, completion, scheduled)
  local told = texts_of(word, {
    shopId = shop, bookingId = number, status = status, scheduledAt = scheduled and iso(scheduled),
    estimatedCompletion = completion and iso(completion),
  })
  for _, topic in ipairs({shop_topic(shop, number) or false, number_topic(number) or false}) do
    if topic then
      later('booking_changed', {
        bookingId = topic, number = topic ~= number and number or nil, shopId = shop, userId = user, status = status,
        estimatedCompletion = completion, scheduledAt = scheduled,
      })
    end
  end
  later('user_booking', {
    userId = user, shopId = shop, bookingId = number, status = status, estimatedCompletion = completion,
    scheduledAt = scheduled, title = clipped(told.title, 200), body = clipped(told.body, 2000),
    titleKey = told.titleKey, bodyKey = told.bodyKey, version = booking_version(),
  })
end
