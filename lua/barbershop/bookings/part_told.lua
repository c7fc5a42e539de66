-- @part     told
-- @summary  Tell what a shop has decided about a booking, with the version of the decision.
--
-- For scripts that include `version` and `booking`, with the key version and `@calls booking_changed, user_booking`.

-- The version of what this run decides about bookings.
local version_decided
local function booking_version()
  version_decided = version_decided or next_version(key.version)
  return version_decided
end

-- Tells a booking's status to its user and on the booking's topics.
local function tell(shop, number, user, status, title, body, completion)
  for _, topic in ipairs({shop_topic(shop, number) or false, number_topic(number) or false}) do
    if topic then
      later('booking_changed', {
        bookingId = topic, number = topic ~= number and number or nil, shopId = shop, userId = user, status = status,
        estimatedCompletion = completion,
      })
    end
  end
  later('user_booking', {
    userId = user, shopId = shop, bookingId = number, status = status, estimatedCompletion = completion,
    title = title, body = body, version = booking_version(),
  })
end
