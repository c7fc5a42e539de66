-- The numbers that scripts of several built-in packs share: NAME = number -- meaning, unit.

BEAT_LEAST_MS = 15000 -- least time between two heartbeats of a user that both count, ms
BLOCKS_MAX = 240 -- most users that one user may block
DAY_MS = 86400000 -- a day, ms
MINUTE_MS = 60000 -- a minute, ms
MUTES_MAX = 240 -- most users that one user may mute
USER_BYTES_MAX = 128 -- longest id of a user, bytes
YEAR_9999_MS = 253370764800000 -- latest time that stored data may have, ms since 1970
