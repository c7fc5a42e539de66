"""The listening session's tab: the app's routes, its socket by path, votes, the skip bar, the server's sentences."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.scripted_gateway import answer_requests

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

HOST = {"id": "guest-h", "username": None, "is_anonymous": False}


def song(name, votes=0, second=0, **more):
    track = {"id": f"t-{name}", "isrc": None, "name": name, "artists": "Band", "album": "", "duration_ms": 1000,
             "image_url": None, "source": "spotify"}
    return {"id": f"q-{name}", "status": "queued", "added_at": f"2026-11-22T10:00:0{second}.000Z", "votes": votes,
            "song": track, "added_by": HOST} | more


def whole(**more):
    session = {"id": "s-1", "join_code": "PARTY", "created_at": "2026-11-22T10:00:00.000Z", "host": HOST}
    return {"session": session, "current_song": song("Opener", status="playing"),
            "queue": [song("One", 2, 1), song("Two", 1, 2)], "my_votes": {"q-One": 1}, "skip_request_count": 1,
            "participant_count": 4, "user_requested_skip": False, "last_skip_was_crowdsourced": False} | more


class App:
    """The routes of the app, answered by a table: `METHOD path` below /api/v1 to (status, body)."""

    def __init__(self, page, **answers):
        self.answers = {"GET /sessions/current": (404, {"error": "No active session", "status_code": 404})} | answers
        self.asked = answer_requests(page, "**/api/v1/**", self.answer)

    def answer(self, method, path, _):
        return self.answers[f"{method} {path.removeprefix('/api/v1')}"]

    def calls(self, method):
        return [(path.removeprefix("/api/v1"), body) for called, path, body, _ in self.asked if called == method]


@pytest.fixture
def door(page, gateway):
    """The page of somebody who takes part in no session."""
    app = App(page)
    page.goto(gateway.url + "#session")
    gateway.connection().authenticate()
    expect(page.get_by_role("button", name="Join")).to_be_visible()
    yield page, app
    # The browser itself reports each refused request.
    page.tolerated.append("status of 4")


@pytest.fixture
def live(page, gateway):
    """The page of somebody in a session, the routes, and the server's side of the session's socket."""
    app = App(page, **{"GET /sessions/current": (200, whole())})
    # The socket draws how long it waits; here each wait is long enough to be seen.
    page.add_init_script("Math.random = () => 0.99")
    page.goto(gateway.url + "#session")
    gateway.connection().authenticate()
    # Requests are answered while the page is waited for.
    expect(page.get_by_role("heading", name="Session PARTY")).to_be_visible()
    path, socket = gateway.socket()
    assert path == "/api/v1/sessions/s-1/realtime"
    # The page asks for the whole once it is joined, and again for each event that comes before the answer.
    with page.expect_response("**/sessions/current"):
        joined(socket)
    page.evaluate("() => new Promise((done) => setTimeout(done))")
    expect(page.locator("#session-line-text")).to_have_text("Live")
    yield page, app, socket
    page.tolerated.append("status of 4")


def joined(socket, offset=0):
    """The path joins the topic: the page did not ask for it."""
    data = {"topic": "session:s-1", "epoch": "e1", "offset": offset, "recovered": False}
    socket.send("subscribed", data, topic="session:s-1")


def names(page):
    return page.locator("#session-queue .name")


def scores(page):
    return page.locator("#session-queue .score").all_text_contents()


def vote_button(page, way, name):
    return page.get_by_role("button", name=f"Vote {way}: {name}")


def test_a_session_is_joined_by_its_code_and_refusals_are_told(door, gateway):
    page, app = door
    app.answers["POST /sessions/join"] = (404, {"error": "Session not found", "status_code": 404, "request_id": "r"})
    page.get_by_role("textbox", name="Join code").fill("NOPE")
    page.keyboard.press("Enter")
    expect(page.locator("#session-problem")).to_have_text("Session not found")
    app.answers["POST /sessions/create"] = (422, {"error": "join_code", "detail": [{"msg": "join_code is short"}]})
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#session-problem")).to_have_text("join_code")
    app.answers["POST /sessions/join"] = (200, whole())
    app.answers["GET /sessions/current"] = (200, whole())
    page.get_by_role("textbox", name="Join code").fill("PARTY")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Session PARTY")).to_be_focused()
    path, socket = gateway.socket()
    assert path == "/api/v1/sessions/s-1/realtime"
    assert socket.offered == ["switchboard.v1", "bearer.token-of-guest-a"]
    expect(page.locator("#session-problem")).to_be_hidden()
    assert app.calls("POST")[-1] == ("/sessions/join", {"join_code": "PARTY"})
    assert page.url.endswith("#session/PARTY")
    assert app.asked[-1][3]["authorization"] == "Bearer token-of-guest-a"


def test_who_comes_by_a_link_joins_at_once(page, gateway):
    app = App(page, **{"POST /sessions/join": (200, whole())})
    page.goto(gateway.url + "#session/PARTY")
    gateway.connection().authenticate()
    expect(page.get_by_role("heading", name="Session PARTY")).to_be_visible()
    gateway.socket()
    assert app.calls("POST") == [("/sessions/join", {"join_code": "PARTY"})]
    page.tolerated.append("status of 404")


def test_a_link_that_is_no_text_shows_the_door(page, gateway):
    """`#session/%` ended the tab with an exception before it had begun."""
    app = App(page)
    page.goto(gateway.url + "#session/%")
    gateway.connection().authenticate()
    expect(page.get_by_role("textbox", name="Join code")).to_have_value("")
    assert app.calls("POST") == []
    page.tolerated.append("status of 404")


def test_events_of_the_session_are_shown(live):
    page, _, socket = live
    expect(names(page)).to_have_text(["One", "Two"])
    expect(vote_button(page, "up", "One")).to_have_attribute("aria-pressed", "true")
    queue = [song("One", 2, 1), song("Two", 1, 2), song("Three", 0, 3)]
    socket.send("queue.updated", {"session_id": "s-1", "queue": queue}, topic="session:s-1", offset=1)
    expect(names(page)).to_have_text(["One", "Two", "Three"])
    voted = {"session_id": "s-1", "queued_song_id": "q-Three", "total_votes": 2}
    socket.send("votes.updated", voted, topic="session:s-1", offset=2)
    # Of equal votes the song that was added earlier goes first.
    expect(names(page)).to_have_text(["One", "Three", "Two"])
    assert scores(page) == ["+2", "+2", "+1"]
    socket.send("now_playing.updated", {"session_id": "s-1", "current_song": song("One", 2, status="playing")},
                topic="session:s-1", offset=3)
    expect(page.locator("#session-song")).to_have_text("One")
    socket.send("now_playing.updated", {"session_id": "s-1"}, topic="session:s-1", offset=4)
    expect(page.locator("#session-song")).to_have_text("Nothing plays")


def test_a_vote_is_shown_at_once_and_taken_back_when_it_is_refused(live):
    page, app, _ = live
    app.answers["POST /songs/q-Two/vote"] = (200, {"ok": True, "total_votes": 3})
    vote_button(page, "up", "Two").click()
    expect(names(page)).to_have_text(["Two", "One"])
    assert scores(page) == ["+3", "+2"]
    app.answers["DELETE /songs/q-One/vote"] = (200, {"ok": True, "total_votes": 1})
    vote_button(page, "up", "One").click()
    expect(vote_button(page, "up", "One")).to_have_attribute("aria-pressed", "false")
    assert app.calls("POST") == [("/songs/q-Two/vote", {"vote_value": 1})]
    app.answers["POST /songs/q-One/vote"] = (429, {"error": "Too many votes", "status_code": 429})
    vote_button(page, "down", "One").click()
    expect(page.locator("#session-problem")).to_have_text("Too many votes")
    expect(vote_button(page, "down", "One")).to_have_attribute("aria-pressed", "false")


def test_the_skip_bar_counts_to_more_than_half(live):
    page, app, socket = live
    expect(page.locator("#session-skip-text")).to_have_text("1 of 4 asks to skip; it takes 3")
    app.answers["POST /sessions/request_skip"] = (
        200, {"ok": True, "skip_request_count": 2, "participant_count": 4, "skipped": False})
    page.get_by_role("button", name="Ask to skip").click()
    expect(page.get_by_role("button", name="You asked to skip")).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#session-skip-bar")).to_have_js_property("value", 2)
    expect(page.locator("#session-skip-bar")).to_have_js_property("max", 3)
    page.get_by_role("button", name="You asked to skip").click(force=True)
    assert len(app.calls("POST")) == 1
    told = {"session_id": "s-1", "host": HOST, "is_locked": False, "is_paused": False, "participant_count": 4,
            "skip_request_count": 0, "last_skip_was_crowdsourced": True}
    socket.send("now_playing.updated", {"session_id": "s-1", "current_song": song("One")}, topic="session:s-1",
                offset=1)
    socket.send("session.updated", told, topic="session:s-1", offset=2)
    expect(page.get_by_role("button", name="Ask to skip")).to_have_attribute("aria-disabled", "false")
    expect(page.locator("#session-last")).to_contain_text("more than half")


def test_only_the_host_sees_what_a_host_may_do(live, gateway):
    page, app, socket = live
    expect(page.get_by_role("button", name="Next song")).to_be_hidden()
    told = {"session_id": "s-1", "host": HOST | {"id": "guest-a"}, "is_locked": True, "is_paused": False,
            "participant_count": 2, "skip_request_count": 0, "last_skip_was_crowdsourced": False}
    socket.send("session.updated", told, topic="session:s-1", offset=1)
    expect(page.locator("#session-people")).to_have_text("2 people, hosted by you, locked")
    app.answers["POST /sessions/song_finished"] = (200, {"ok": True})
    app.answers["PATCH /sessions/control_session"] = (403, {"error": "You are not the host of this session"})
    page.get_by_role("button", name="Next song").click()
    page.get_by_role("button", name="Unlock").click()
    expect(page.locator("#session-problem")).to_have_text("You are not the host of this session")
    assert app.calls("POST") == [("/sessions/song_finished", {"queued_song_id": "q-Opener"})]
    assert app.calls("PATCH") == [("/sessions/control_session", {"is_locked": False})]


def test_a_song_is_added_by_its_form(live):
    page, app, _ = live
    page.get_by_role("tabpanel").get_by_role("button", name="Add").click()
    expect(page.locator("#song-problem")).to_have_text("A song needs a name.")
    app.answers["POST /songs/add"] = (200, song("Blue"))
    page.keyboard.type("Blue")
    page.get_by_role("textbox", name="Artists").fill("Us")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Song")).to_have_value("")
    [(path, body)] = app.calls("POST")
    assert {"name": "Blue", "artists": "Us", "source": "spotify"}.items() <= body.items()


def test_after_a_break_the_whole_is_asked_for_again(live, gateway):
    page, app, socket = live
    app.answers["GET /sessions/current"] = (200, whole(queue=[song("Later", 1)]))
    socket.close()
    expect(page.locator("#session-line-text")).to_have_text("Reconnecting: the server restarts")
    _, socket = gateway.socket()
    joined(socket, offset=7)
    expect(names(page)).to_have_text(["Later"])


def test_a_refused_socket_says_the_servers_sentence(live):
    page, _, socket = live
    refusal = {"code": "forbidden", "message": "Session not found"}
    socket.send("error", refusal, topic="session:s-1")
    expect(page.locator("#session-problem")).to_have_text("Session not found")


def test_leaving_closes_the_socket_and_shows_the_door(live, gateway):
    page, app, _ = live
    app.answers["POST /sessions/leave"] = (200, {"ok": True})
    page.get_by_role("button", name="Leave").click()
    expect(page.get_by_role("button", name="Join")).to_be_visible()
    expect(page.locator("#session-inside")).to_be_hidden()
    assert gateway.sockets_waiting() == 0


def test_markup_and_nonsense_break_nothing(live):
    page, _, socket = live
    markup = "<img src=x onerror=alert(1)>"
    for offset, data in enumerate([{}, {"queue": 5}, {"queue": [5, {"id": 3}, {"id": markup}]},
                                   {"queued_song_id": markup, "total_votes": "x"}, {"current_song": 5}], start=1):
        for name in ("queue.updated", "votes.updated", "now_playing.updated", "session.updated", markup):
            socket.send(name, data, topic="session:s-1")
    socket.send("queue.updated", {"queue": [song(markup)]}, topic="session:s-1", offset=1)
    expect(names(page)).to_have_text([markup])
    assert page.locator("#app-session img").count() == 0
