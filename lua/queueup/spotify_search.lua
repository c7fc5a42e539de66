-- @command  spotify_search
-- @summary  Songs of Spotify's catalogue that fit some words, found by a courier.
-- @http     GET /api/v1/spotify/search via spotify cache 60 -- Searching Spotify is not configured on this server
-- @allow    user|service
-- @arg      q     string 1..200
-- @arg      limit int 1..50 = 20
-- @returns  {tracks: [object]}
-- @cost     O(1)
-- @weight   70
-- @rate     30/60 s user
-- @rate     5/1 s user
-- @readonly
--
-- The courier is asked {q, limit} and answers {tracks}: at most `limit` of {id, isrc, name, artists, album,
-- duration_ms, image_url, source}, as clients have them. Spaces around the words are not asked for.

local words = string.match(args.q, '^%s*(.-)%s*$')
if words == '' then fail('bad_request', 'Please type what you are looking for') end
return {q = words, limit = args.limit}
