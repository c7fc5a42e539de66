"""Blocks in listening sessions: who blocks another is not shown the other, nor the other way round."""

import pytest

from Fixtures.scripts.listening_scripts import Sessions

NOBODY = "00000000-0000-0000-0000-000000000000"


class Party(Sessions):
    """A session that some take part in; blocks are made as the pack `people` and the worker make them."""

    def __init__(self, db, *users):
        super().__init__(db)
        self.id = self.create("party", users[0], f"user {users[0].title()}")["session"]["id"]
        self.token = 0
        for user in users[1:]:
            self.join("party", user, f"user {user.title()}")

    def block(self, user, other, blocked=True):
        change = self.db.sadd if blocked else self.db.srem
        change(f"user:{user}#blocks", other)
        self.token += 1
        self.commands.call("listening_blocks_refresh", userId=user, token=self.token)
        self.relay()

    def news(self, act, *arguments, **options):
        """What the topic is told by a deed."""
        before = len(self.heard(self.id))
        act(*arguments, **options)
        return self.heard(self.id, before)

    def said_to(self, user):
        return [message["text"] for message in self.call("listening_chat", user)["messages"]]

    def adders_shown_to(self, user):
        answer = self.current(user)
        return [song["added_by"]["id"] for song in [answer["current_song"], *answer["queue"]]]


@pytest.fixture
def party(db):
    return Party(db, "host", "ann", "bob", "cat")


@pytest.mark.parametrize("blocker, blocked", [("ann", "bob"), ("bob", "ann")])
def test_what_bob_says_is_not_shown_across_a_block(party, blocker, blocked):
    """The chat of a session showed a blocked user to everybody. Everybody else is told to ask, and is shown all."""
    assert [event for event, _ in party.news(party.call, "say", "bob", text="first")] == ["chat.message"]
    party.block(blocker, blocked)
    assert party.news(party.call, "say", "bob", text="second") == [("chat.changed", {"session_id": party.id})]
    assert party.said_to("ann") == []
    assert party.said_to("bob") == party.said_to("cat") == ["first", "second"]
    assert [event for event, _ in party.news(party.call, "say", "cat", text="third")] == ["chat.message"]
    assert party.said_to("ann") == ["third"]
    party.leave("ann")
    assert [event for event, _ in party.news(party.call, "say", "bob", text="fourth")] == ["chat.message"]
    assert party.join("party", "ann") and party.said_to("ann") == ["third"]
    party.block(blocker, blocked, False)
    assert [event for event, _ in party.news(party.call, "say", "bob", text="fifth")] == ["chat.message"]
    assert party.said_to("ann") == ["first", "second", "third", "fourth", "fifth"]


def test_a_page_of_the_chat_is_full_without_what_is_hidden(party):
    party.block("ann", "bob")
    for number in range(6):
        party.call("say", "bob" if number % 2 else "cat", text=str(number))
    assert [one["text"] for one in party.call("listening_chat", "ann", limit=2)["messages"]] == ["2", "4"]


def test_a_reaction_is_not_shown_while_somebody_is_there_who_must_not_see_it(party):
    """A reaction is kept nowhere, so nobody can ask for what was left out. Who is blocked does not notice."""
    party.block("ann", "bob")
    assert party.news(party.call, "react", "cat", reaction="x")[0][1]["user"]["id"] == "cat"
    for user in ("bob", "ann"):
        assert party.news(party.call, "react", user, reaction="x") == []
    party.leave("ann")
    assert party.news(party.call, "react", "bob", reaction="x")[0][1]["user"]["id"] == "bob"


@pytest.mark.parametrize("blocker, blocked", [("ann", "bob"), ("bob", "ann")])
def test_a_song_stays_and_does_not_name_a_blocked_user(party, blocker, blocked):
    party.block(blocker, blocked)
    party.add("bob")
    party.add("bob", artists='["A"]')
    party.add("cat")
    assert party.adders_shown_to("ann") == [NOBODY, NOBODY, "cat"]
    assert party.adders_shown_to("bob") == party.adders_shown_to("cat") == ["bob", "bob", "cat"]
    # Events are the same for all.
    ((playing, told), *_) = [one for one in party.heard(party.id) if one[0] == "now_playing.updated"]
    assert told["current_song"]["added_by"] == {"id": NOBODY}
    told = [data["queue"] for event, data in party.heard(party.id) if event == "queue.updated"][-1]
    assert [song["added_by"]["id"] for song in told] == [NOBODY, "cat"]
    assert told[0]["song"] == party.current("ann")["queue"][0]["song"] and told[0]["song"]["artists"] == ["A"]
    # The next song, and the songs that are over.
    events = dict(party.news(party.call, "song_finished", "host"))
    assert events["now_playing.updated"]["current_song"]["added_by"] == {"id": NOBODY}
    assert events["queue.updated"]["queue"][0]["added_by"]["id"] == "cat"

    def history(user):
        return [song["added_by"]["id"] for song in party.call("listening_history", user, sessionId=party.id)["songs"]]
    assert history("ann") == [NOBODY] and history("bob") == history("cat") == ["bob"]
    # Once nobody is there who must not see it, the name is told again.
    party.leave("ann")
    assert dict(party.news(party.call, "song_finished", "host"))["queue.updated"]["queue"] == []
    assert party.add("bob")["added_by"]["id"] == "bob"
    assert [data["queue"][0]["added_by"]["id"] for event, data in party.heard(party.id)[-1:]] == ["bob"]


def test_who_comes_in_brings_blocks_along(db, party):
    """The first answer is right: nothing has to follow it."""
    party.call("say", "bob", text="hello")
    party.add("bob")
    db.sadd("user:eve#blocks", "bob", "zoe", "not an id")
    assert party.join("party", "eve")["current_song"]["added_by"] == {"id": NOBODY}
    assert party.said_to("eve") == []
    ticket = party.call("make_ticket", "host")["ticket"]
    db.sadd("user:dan#blocks", "cat")
    party.call("scan_ticket", "dan", sessionId=party.id, ticket=ticket)
    assert party.news(party.call, "say", "cat", text="x")[0][0] == "chat.changed"
    db.sadd("user:new#blocks", "dan")
    other = party.create("other", "new")["session"]["id"]
    party.join("other", "dan")
    party.call("say", "dan", text="x")
    assert party.heard(other)[-1] == ("chat.changed", {"session_id": other})


def test_a_user_whom_hundreds_block_is_hidden_from_each(db, party):
    """The list of those who block one user has an end, and a block beyond it holds all the same."""
    crowd = [f"{number:04}-{'u' * 60}" for number in range(90)]
    for user in crowd:
        db.sadd(f"user:{user}#blocks", "bob")
        party.join("party", user)
    assert len(db.hget(f"session:{party.id}#apart", "<bob")) <= 4097
    party.call("say", "bob", text="hello")
    for user in crowd:
        party.call("say", user, text="hey")
    assert all(party.said_to(user)[:1] == ["hey"] for user in (crowd[0], crowd[-1]))
    assert party.said_to("bob") == ["hello"]
    for user in crowd:
        db.delete(f"user:{user}#blocks")
        party.join("party", user)
        party.call("note_blocks", "", "worker", sessionId=party.id, userId=user, blocks=[], version=10 ** 15)
    assert db.hgetall(f"session:{party.id}#apart") == {b"<bob": b"*"}
    # The list does not tell any more who they are: the own blocks of the first forty who wrote are looked at.
    assert len(party.said_to("bob")) == 41


def test_an_older_word_of_blocks_changes_nothing(db, party):
    def note(blocks, version, user="ann"):
        return party.call("note_blocks", "", "worker", sessionId=party.id, userId=user, blocks=blocks, version=version)
    assert note(["bob"], 20) == {"noted": True}
    assert note([], 10) == {"noted": False}
    assert db.hgetall(f"session:{party.id}#apart") == {b">ann": b"bob ", b"<bob": b"ann "}
    # All of it ends with the session, and an erasure takes the user's part.
    assert db.pttl(f"session:{party.id}#apart") > 0 and db.pttl(f"session:{party.id}#apart_at") > 0
    party.call("erase_listener", "ann", "worker")
    party.relay()
    assert note(["bob"], 40) == {"noted": False}
    assert db.exists(f"session:{party.id}#apart") == 0


@pytest.mark.parametrize("blocker, blocked", [("ann", "bob"), ("bob", "ann")])
def test_who_comes_in_reads_no_words_in_the_log_that_a_block_hides(party, blocker, blocked):
    """While one of the two was away, chat and songs were told in full, and stood in the log for ten minutes."""
    party.block(blocker, blocked)
    party.leave("bob")
    party.call("say", "ann", text="secret of ann")
    party.add("ann")
    party.join("party", "bob")
    assert "ann" not in str(party.heard(party.id)) and party.said_to("bob") == []
    party.call("say", "cat", text="kept")
    party.leave("bob")
    party.join("party", "dan")
    assert "kept" in str(party.heard(party.id)), "nobody is hidden from Dan"
