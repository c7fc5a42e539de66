-- The numbers that several scripts of this pack share: NAME = number -- meaning, unit.

FORGOTTEN_S = 604800 -- life of the note about forgotten messages, s: 7 days
GROUPS_MAX = 200 -- most groups of a user, but for those that the user made
OWN_GROUPS_MAX = 1000 -- groups in which a user makes no further one: as many as a list shows
MEMBERS_MAX = 50 -- most members of a group
ONLINE_MS = 65000 -- time from a user's last heartbeat until others are told, ms: three and a little
TEXT_MAX = 2000 -- most characters of a message (1..10000)
