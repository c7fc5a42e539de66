"""What one user is told of another, for every pack: by which event or read, and whether a block hides it.

The rows are compared with the headers of all scripts. A member of an answer or event that is in neither set below, and
an event or read that has one of SHOWS without a row, fail: whoever adds one decides here.
"""

from dataclasses import dataclass

#: Members that may say who somebody is, or what somebody did.
SHOWS = set("""
    added_by addedBy around barberId barbers blocks by city conversations current_song currentTrack deliveredMs
    displayName followerId host is_anonymous lastMessage lastSeen lastSenderId lastUpdated latitude left location
    longitude member members message messages moves mutes nearby online posts queue reaction readBy readMs senderId
    session songs top updates user userId username users
""".split())

#: Members that say nothing of another user.
SHOWS_NOBODY = set("""
    added_at addedAt afterMs album albumArt albumImageUrl albumName allowed artist artistName artists avgWaitTime
    blackCard blocked body bodyKey bookingId bookings challengeId changedAt conversationId count created_at
    createdAt currentlyServing cursor data deleted deviceId devices distance downvoteCount downvotes duration
    duration_ms endsAt environment estimate estimatedCompletion estimatedWaitTimes event expires_at following here
    host_provider id ids image_url images is_current is_locked is_paused isActive isPlaying isrc join_code joined_at
    last_skip_was_crowdsourced lastMessageId lastMessageTime lastMessageTimeMs minutes modifiedAt more muted
    my_votes name next notifications ok p50 p90 participant_count payload platform position postId present
    queued_song_id queueLength quietFrom quietMode quietTo rank read registeredAt removed rounding scheduledAt score
    sent_at serviceMinutes session_id sessions shopId skip_request_count skipped song source spotifyId standard
    startedAt status text textArgs ticket tier timestamp timestampMs timezone title titleKey token tokenEnd topic
    total_votes trackId trackName tracks type types typing unread until updatedAt upTo upToMs upvoteCount upvotes
    url user_requested_skip visible votes
""".split())


@dataclass(frozen=True)
class Row:
    """`names` are events, commands and files of states of a pack. `test` shows that a block hides them; else none."""

    pack: str
    names: tuple
    how: str
    test: str = ""

    @property
    def is_hidden(self):
        return self.test != ""


def hidden(pack, names, how, test):
    return Row(pack, tuple(names.split()), how, test)


def shown(pack, names, why):
    return Row(pack, tuple(names.split()), why)


SESSIONS, SHOPS = "test_blocks_in_sessions.py::", "test_blocks_at_shops.py::"
MORE, PRIVACY = "test_messaging_more.py::", "test_nearby_privacy.py::"
OWN = "it tells a user what the user did or has"

ROWS = [
    # Listening sessions
    hidden("queueup", "chat.message say", "the event is `chat.changed`, which says nothing, while somebody is there "
           "who must not see it", SESSIONS + "test_what_bob_says_is_not_shown_across_a_block"),
    hidden("queueup", "listening_chat", "the messages are left out for the caller",
           SESSIONS + "test_what_bob_says_is_not_shown_across_a_block"),
    hidden("queueup", "reaction.added", "no event while somebody is there who must not see it",
           SESSIONS + "test_a_reaction_is_not_shown_while_somebody_is_there_who_must_not_see_it"),
    hidden("queueup", "queue.updated now_playing.updated", "`added_by` is the id of zeros while somebody is there who "
           "must not see it", SESSIONS + "test_a_song_stays_and_does_not_name_a_blocked_user"),
    hidden("queueup", "current_listening listening_history", "`added_by` is the id of zeros for the caller",
           SESSIONS + "test_a_song_stays_and_does_not_name_a_blocked_user"),
    hidden("queueup", "join_listening scan_ticket visit_ticket create_listening", "`added_by` is the id of zeros for "
           "the caller", SESSIONS + "test_who_comes_in_brings_blocks_along"),
    shown("queueup", "session.updated", "it names the host: apps find out by it who may control the session"),
    shown("queueup", "add_song", OWN),
    # Shops
    hidden("barbershop", "roster", "the users are left out for the caller",
           SHOPS + "test_the_roster_of_a_shop_hides_across_a_block"),
    hidden("barbershop", "feed_updates feed:new_post feed following", "a block ends the following",
           SHOPS + "test_a_block_ends_the_following_of_a_barber"),
    shown("barbershop", "track:added track:playing session:started session:stopped state_dj dj", "anybody reads the "
          "DJ queue without a token, and it has ids alone; votes have names only where the shop has asked for them"),
    shown("barbershop", "leaderboard:moves state_challenge top around rank", "anybody reads a leaderboard without a "
          "token, and a rank is true only with all the others"),
    shown("barbershop", "add_track follow unfollow online booking queue:update queue", OWN + ", or it has no names"),
    # Conversations
    hidden("messaging", "message:added message:modified messages:delivered messages:read",
           "the event is `messages:changed`, which says nothing; in a direct conversation there is none",
           MORE + "test_in_a_group_neither_hears_the_other"),
    hidden("messaging", "messages join_conversation", "messages, receipts and presence are left out for the caller",
           MORE + "test_in_a_group_neither_hears_the_other"),
    hidden("messaging", "typing", "no event", MORE + "test_in_a_direct_conversation_neither_hears_the_other"),
    hidden("messaging", "presence:changed", "no event", MORE + "test_presence_is_hidden_from_the_blocked"),
    hidden("messaging", "conversation:updated conversations", "what is said after the block moves no list of the "
           "other", MORE + "test_in_a_group_neither_hears_the_other"),
    shown("messaging", "member:added member:removed messages:erased conversation:renamed conversation:deleted",
          "all members of a group know who is in it"),
    shown("messaging", "create_conversation add_member remove_member delivered read send_message modify_message", OWN),
    # Listeners nearby
    hidden("nearby", "nearby:enter nearby:move nearby:leave nearby:track nearby set_location",
           "neither of the two is told of the other", PRIVACY + "test_the_blocked_see_nothing_and_are_not_seen"),
    shown("nearby", "allow_follower drop_follower set_listener", OWN),
    # People
    shown("people", "block:changed mute:changed data:erased block unblock mute unmute blocks mutes", OWN),
]
