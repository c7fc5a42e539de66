-- @command  set_barber
-- @summary  Say whether a barber serves now.
-- @http     PUT /v1/shops/{shopId}/barbers/{barberId}
-- @allow    service
-- @arg      shopId   id
-- @arg      barberId id
-- @arg      active   bool
-- @key      barbers  shop:{shopId}#barbers
-- @returns  {shopId: string, barberId: string, active: bool, currentlyServing: int}
-- @errors   conflict
-- @cost     O(1)
-- @weight   100

local ACTIVE_MAX = 200

local count = read('SCARD', key.barbers)
local was = read('SISMEMBER', key.barbers, args.barberId) == 1
if args.active and not was then
  if count >= ACTIVE_MAX then fail('conflict', 'At most ' .. ACTIVE_MAX .. ' barbers can be active in a shop') end
  write('SADD', key.barbers, args.barberId)
  count = count + 1
elseif was and not args.active then
  write('SREM', key.barbers, args.barberId)
  count = count - 1
end
return {shopId = args.shopId, barberId = args.barberId, active = args.active, currentlyServing = count}
