-- @command  set_text
-- @summary  Say in a shop's own words what its users are told of a booking; without any text the usual one counts.
-- @http     PUT /v1/shops/{shopId}/texts/{word}
-- @allow    service
-- @arg      shopId   id
-- @arg      word     enum received,rescheduled,confirmed,in-progress,completed,cancelled,no-show,expired,too_many
-- @arg      title    string 0..200 optional -- {bookingId}, {status}, {scheduledAt} and the like are filled in
-- @arg      body     string 0..1000 optional -- the same
-- @arg      titleKey string 0..100 optional -- name of a text of the app, which a push shows in place of the title
-- @arg      bodyKey  string 0..100 optional -- the same in place of the body
-- @key      texts    shop:{shopId}#texts
-- @returns  {shopId: string, word: string, title: string|null, body: string|null, titleKey: string|null,
--           bodyKey: string|null} -- null: the usual text
-- @cost     O(1)
-- @weight   150
-- @idempotent

local given = {}
for _, name in ipairs({'title', 'body', 'titleKey', 'bodyKey'}) do
  given[name] = args[name] ~= '' and args[name] or nil
end
if next(given) then write('HSET', key.texts, args.word, encode(given)) else write('HDEL', key.texts, args.word) end
return {
  shopId = args.shopId, word = args.word, title = given.title or null, body = given.body or null,
  titleKey = given.titleKey or null, bodyKey = given.bodyKey or null,
}
