-- @command  spotify_search
-- @summary  Songs of Spotify's catalogue that fit some words; no service is asked yet, so there is no answer.
-- @http     GET /api/v1/spotify/search
-- @allow    user|service
-- @arg      q     string 1..200
-- @arg      limit int 1..50 = 20
-- @returns  {tracks}
-- @errors   unavailable
-- @cost     O(1)
-- @weight   50
-- @rate     30/60 s user
-- @rate     5/1 s user
-- @readonly

fail('unavailable', 'Searching Spotify is not configured on this server')
