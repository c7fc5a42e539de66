-- The numbers that several scripts of this pack share: NAME = number -- meaning, unit.

CHAT_MAX = 100 -- most chat messages that a session keeps
EMPTY_MS = 3600000 -- life of a session that nobody takes part in, ms
GUEST_MS = 600000 -- time from a guest's last sign to the end of the visit, ms
SESSIONS_USER_MAX = 50 -- most sessions that are noted for a user
SESSION_MS = 86400000 -- life of a session, ms
TICKET_MS = 900000 -- life of a ticket, ms
