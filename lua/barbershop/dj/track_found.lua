-- @command  track_found
-- @summary  Take what Spotify says of a track that somebody added by its id alone.
-- @allow    worker
-- @arg      shopId  id
-- @arg      trackId string 1..128
-- @arg      outcome enum ok,failed
-- @arg      answer  json 32768 8 optional -- as describe_track takes it
-- @include  track
-- @include  described
-- @include  untold
-- @key      catalogue dj:{shopId}#catalogue
-- @key      described dj:{shopId}#described
-- @key      tracks    dj:{shopId}#tracks
-- @key      tally     dj:{shopId}#tally
-- @key      order     dj:{shopId}#order
-- @key      untold    dj:{shopId}#untold
-- @topic    dj:{shopId}
-- @emits  track:added added_track
-- @emits  track:described described_track
-- @returns  {}
-- @errors   too_large
-- @cost     O(log n) in the shop's described tracks, O(n) in the bytes of the description
-- @weight   1200
--
-- A track that Spotify does not know stays as the adder said it. Of a track that waits to be told (part_untold.lua)
-- others are told now.

local is_untold = number(read('ZSCORE', key.untold, args.trackId)) ~= nil
if args.outcome == 'ok' and args.answer then
  local about = describe(args.trackId, args.answer, is_untold)
  if is_untold then tell_added(args.trackId, about) end
elseif is_untold then
  tell_added(args.trackId)
end
return {}
