"""The conversations' tab: what is sent, in which order it is shown, who has read it, and what a device must not do."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.scripted_gateway import answer_requests
from Fixtures.waiting import eventually

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

CHAT = "guest-a_guest-b"
TOPIC = f"conversation:{CHAT}"
BASE_MS = 1_795_000_000_000


def message(number, sender="guest-b", text=None, **more):
    return {"id": f"m-{number}", "conversationId": CHAT, "senderId": sender, "text": text or f"Words {number}",
            "timestamp": "2026-11-22T10:00:00.000Z", "timestampMs": BASE_MS + number, "status": "sent",
            "readBy": []} | more


#: What a user wants to be pushed who has said nothing, and has no device.
RULES = {"types": {}, "quietFrom": None, "quietTo": None, "quietMode": "hold", "timezone": None, "devices": []}


def state(*messages, online=False, following=None):
    members = [{"userId": user, "deliveredMs": 0, "readMs": 0, "online": online, "lastSeen": None}
               for user in ("guest-a", "guest-b")]
    return {"conversationId": CHAT, "title": "", "members": members, "messages": list(messages), "next": following,
            "unread": len(messages)}


def listed(**more):
    return {"id": CHAT, "members": ["guest-a", "guest-b"], "title": "", "lastMessage": "Words 1", "unread": 1,
            "lastMessageTime": "2026-11-22T10:00:00.000Z", "muted": False} | more


@pytest.fixture
def lobby(page, gateway):
    """The page with a list of conversations, none of them open."""
    page.goto(gateway.url + "#chat")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    connection.answer("conversations", {"conversations": [listed()], "next": None})
    expect(page.locator("#chat-list button")).to_have_count(1)
    return page, connection


@pytest.fixture
def live(page, gateway):
    """The page with a conversation that a link opened."""
    page.goto(gateway.url + "#chat/guest-b")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(2, states={TOPIC: state(message(2), message(1, "guest-a", status="delivered"))})
    connection.answer("blocks", {"blocks": []})
    connection.answer("read", {})
    expect(page.locator("#chat-messages li")).to_have_count(2)
    return page, connection


def words(page):
    return page.locator("#chat-messages .words")


def hear(connection, offset, event, **data):
    connection.send(event, {"conversationId": CHAT, **data}, topic=TOPIC, offset=offset)


def write(page, text):
    page.get_by_role("textbox", name="Message").fill(text)
    page.keyboard.press("Enter")


def test_the_list_is_shown_and_moves(lobby):
    page, connection = lobby
    row = page.locator("#chat-list button")
    expect(row).to_contain_text("guest-b")
    expect(row.locator(".unread")).to_have_text("1 unread")
    other = listed(id="g1", title="Friends", members=["guest-a", "guest-c", "guest-d"], unread=0,
                   lastMessage="Later", lastMessageTime="2026-11-22T11:00:00.000Z")
    connection.send("conversation:updated", other, topic="user:guest-a", offset=1)
    expect(row.locator(".name")).to_have_text(["Friends", "guest-b"])
    connection.send("conversation:removed", {"id": "g1"}, topic="user:guest-a", offset=2)
    expect(row.locator(".name")).to_have_text(["guest-b"])
    row.click()
    assert connection.receive("subscribe")["data"] == {"topic": TOPIC}


def test_a_list_that_is_older_than_what_was_told_meanwhile_is_asked_for_again(page, gateway):
    """A conversation that was read between question and answer stayed unread for good."""
    page.goto(gateway.url + "#chat")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    asked = connection.receive("conversations")
    connection.send("conversation:updated", listed(unread=0), topic="user:guest-a", offset=1)
    connection.send("ack", {"conversations": [listed()], "next": None}, ref=asked["ref"])
    connection.answer("conversations", {"conversations": [listed(unread=0)], "next": None})
    expect(page.locator("#chat-list button")).to_have_count(1)
    expect(page.locator("#chat-list .unread")).to_have_count(0)


def test_members_of_a_group_stay_when_an_update_tells_none(lobby):
    """Who is in a group is told only when it changes; a message left a group without title as a bare id."""
    page, connection = lobby
    group = listed(id="g1", members=["guest-a", "guest-c", "guest-d"], unread=0, lastMessage="Early",
                   lastMessageTime="2026-11-22T11:00:00.000Z")
    connection.send("conversation:updated", group, topic="user:guest-a", offset=1)
    row = page.locator("#chat-list button").first
    expect(row).to_contain_text("Early")
    later = {name: value for name, value in group.items() if name != "members"} | {"lastMessage": "Later"}
    connection.send("conversation:updated", later, topic="user:guest-a", offset=2)
    expect(row).to_contain_text("Later")
    expect(row.locator(".name")).to_have_text("guest-c, guest-d")
    connection.send("conversation:updated", group | {"members": ["guest-a", "guest-c"]}, topic="user:guest-a", offset=3)
    expect(row.locator(".name")).to_have_text("guest-c")


def test_a_guest_is_written_to_by_name_and_not_oneself(lobby):
    page, connection = lobby
    page.get_by_role("textbox", name="Write to guest").fill("guest-a")
    page.get_by_role("button", name="Open").click()
    expect(page.locator("#chat-door-problem")).to_have_text("Name another guest.")
    page.get_by_role("textbox", name="Write to guest").fill("guest-9")
    page.keyboard.press("Enter")
    # The two ids are sorted, whoever opens the conversation.
    assert connection.receive("subscribe")["data"] == {"topic": "conversation:guest-9_guest-a"}
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()


def test_a_link_that_is_no_text_opens_no_conversation(page, gateway):
    """`#chat/%` ended the tab with an exception before it had begun."""
    page.goto(gateway.url + "#chat/%")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    connection.answer("conversations", {"conversations": [listed()], "next": None})
    expect(page.locator("#chat-list button")).to_have_count(1)
    expect(page.locator("#chat-thread")).to_be_hidden()


def test_messages_are_in_the_servers_order_and_each_once(live):
    page, connection = live
    assert words(page).all_text_contents() == ["Words 1", "Words 2"]
    hear(connection, 1, "message:added", **message(5))
    hear(connection, 2, "message:added", **message(4))
    hear(connection, 3, "message:added", **message(5))
    expect(words(page)).to_have_text(["Words 1", "Words 2", "Words 4", "Words 5"])
    hear(connection, 4, "message:modified", **message(4, text="Better words", modifiedAt="2026-11-22T10:01:00.000Z"))
    hear(connection, 5, "message:removed", id="m-2")
    expect(words(page)).to_have_text(["Words 1", "Better words", "Words 5"])
    expect(page.locator("#chat-messages li").nth(1)).to_contain_text("changed")


@pytest.mark.parametrize("first", ["answer", "event"])
def test_an_own_message_is_shown_at_once_and_only_once(live, first):
    page, connection = live
    write(page, "Hello")
    expect(words(page).last).to_have_text("Hello")
    expect(page.locator("#chat-messages li").last).to_contain_text("Sending")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("")
    call = connection.receive("send_message")
    assert (call["data"]["conversationId"], call["data"]["text"]) == (CHAT, "Hello")
    told = message(3, "guest-a", "Hello", id=call["data"]["id"])
    steps = [lambda: connection.send("ack", told, ref=call["ref"]),
             lambda: hear(connection, 1, "message:added", **told)]
    for step in steps if first == "answer" else reversed(steps):
        step()
    expect(page.locator("#chat-messages li").last).to_contain_text("Sent")
    hear(connection, 2, "message:added", **message(4))
    expect(words(page)).to_have_text(["Words 1", "Words 2", "Hello", "Words 4"])


def test_words_that_were_refused_are_put_back_with_the_servers_sentence(live):
    page, connection = live
    write(page, "Hello")
    connection.answer("send_message", ("blocked", "This user does not take your messages"))
    expect(page.locator("#chat-problem")).to_have_text("This user does not take your messages")
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Hello")
    expect(words(page)).to_have_text(["Words 1", "Words 2"])


def test_a_mark_for_a_range_changes_the_status_of_own_messages(live):
    page, connection = live
    first = page.locator("#chat-messages li").first
    expect(first).to_contain_text("Delivered")
    hear(connection, 1, "messages:read", userId="guest-b", status="read", afterMs=0, upToMs=BASE_MS + 1)
    expect(first).to_contain_text("Read")
    # A mark never goes back.
    hear(connection, 2, "messages:delivered", userId="guest-b", status="delivered", afterMs=0, upToMs=BASE_MS + 9)
    hear(connection, 3, "message:added", **message(3))
    expect(words(page)).to_have_count(3)
    expect(first).to_contain_text("Read")


def test_what_is_seen_is_read_and_no_message_twice(live):
    page, connection = live
    hear(connection, 1, "message:added", **message(3))
    assert connection.answer("read", {})["data"] == {"conversationId": CHAT, "upTo": "m-3"}
    hear(connection, 2, "message:added", **message(4, "guest-a"))
    hear(connection, 3, "message:added", **message(5))
    assert connection.answer("read", {})["data"]["upTo"] == "m-5"
    # A window that shows another tab has only received it.
    page.get_by_role("tab", name="Orders").click()
    hear(connection, 4, "message:added", **message(6))
    assert connection.answer("delivered", {})["data"]["upTo"] == "m-6"
    page.get_by_role("tab", name="Chat").click()
    assert connection.answer("read", {})["data"]["upTo"] == "m-6"


def test_who_types_and_who_is_here_is_told(live):
    page, connection = live
    connection.send("typing", {"conversationId": CHAT, "userId": "guest-b", "typing": True}, topic=TOPIC)
    expect(page.locator("#chat-typing")).to_have_text("guest-b is typing")
    hear(connection, 1, "message:added", **message(3))
    expect(page.locator("#chat-typing")).to_have_text("")
    hear(connection, 2, "presence:changed", userId="guest-b", online=True, lastSeen="2026-11-22T10:00:00.000Z")
    expect(page.locator("#chat-presence")).to_have_text("Online")
    hear(connection, 3, "presence:changed", userId="guest-b", online=False, lastSeen="2026-11-22T10:00:00.000Z")
    expect(page.locator("#chat-presence")).to_contain_text("Last seen")
    page.get_by_role("textbox", name="Message").press_sequentially("ab")
    assert connection.receive("typing")["data"] == {"conversationId": CHAT}


def test_earlier_messages_are_asked_for_by_page(page, gateway):
    page.goto(gateway.url + "#chat/guest-b")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(2, states={TOPIC: state(message(9), following=BASE_MS + 9)})
    page.get_by_role("button", name="Earlier messages").click()
    call = connection.answer("messages", {"conversationId": CHAT, "messages": [message(8), message(7)], "next": None})
    assert call["data"] == {"conversationId": CHAT, "before": BASE_MS + 9}
    expect(words(page)).to_have_text(["Words 7", "Words 8", "Words 9"])
    expect(page.get_by_role("button", name="Earlier messages")).to_be_hidden()


def test_a_change_that_is_not_told_is_asked_for(live):
    page, connection = live
    hear(connection, 1, "messages:changed")
    connection.answer("messages", {"conversationId": CHAT, "messages": [message(3)], "next": None})
    expect(words(page)).to_have_text(["Words 3"])


def test_the_other_is_blocked_and_unblocked(live):
    page, connection = live
    page.get_by_role("button", name="Block").click()
    assert connection.answer("block", {"userId": "guest-b", "blocked": True})["data"] == {"other": "guest-b"}
    expect(page.get_by_role("button", name="Unblock", pressed=True)).to_be_visible()
    connection.send("block:changed", {"userId": "guest-b", "blocked": False}, topic="user:guest-a", offset=1)
    expect(page.get_by_role("button", name="Block", pressed=False)).to_be_visible()


def test_a_conversation_that_cannot_be_joined_says_why(page, gateway):
    page.goto(gateway.url + "#chat/guest-b")
    connection = gateway.connection()
    connection.authenticate()
    requests = {request["data"]["topic"]: request for request in (connection.receive("subscribe") for _ in range(2))}
    refusal = {"code": "forbidden", "message": "You are not in this conversation"}
    connection.send("error", refusal, topic=TOPIC, ref=requests[TOPIC]["ref"])
    expect(page.locator("#chat-problem")).to_have_text("You are not in this conversation")


def test_own_messages_can_be_taken_back(live):
    page, connection = live
    page.get_by_role("button", name="Delete").click()
    assert connection.answer("remove_message", {"removed": True})["data"] == {"conversationId": CHAT, "id": "m-1"}
    expect(words(page)).to_have_text(["Words 2"])


def test_markup_and_nonsense_break_nothing(live):
    page, connection = live
    markup = "<img src=x onerror=alert(1)>"
    for event in ("message:added", "message:removed", "messages:read", "typing", "presence:changed", markup):
        connection.send(event, {}, topic=TOPIC)
        connection.send(event, {"id": 5, "userId": markup, "text": markup, "timestampMs": "x"}, topic=TOPIC)
    connection.send("conversation:updated", {"id": "x", "members": 5, "lastMessage": markup}, topic="user:guest-a")
    hear(connection, 1, "message:added", **message(3, text=markup))
    expect(words(page).last).to_have_text(markup)
    assert page.locator("#app-chat img").count() == 0


@pytest.fixture
def registered(page, gateway):
    """The page with a conversation of which the guest has a push on the phone, and what the phone was asked."""
    push = {"id": f"n:{BASE_MS}-0", "title": "Ready", "body": "Come in", "senderId": "", "timestampMs": 1,
            "silent": False}
    asked = answer_requests(page, "**/demo/phone/**", lambda method, *_: (
        (200, {"badge": 1, "notifications": [push]}) if method == "GET" else (204, None)))
    page.goto(gateway.url + "#chat")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    connection.answer("conversations", {"conversations": [listed()], "next": None})
    connection.answer("push_settings", RULES)
    told = connection.answer("register_device", {"deviceId": "page", "devices": 1})["data"]
    expect(page.locator("#phone-state")).to_contain_text("Registered")
    return page, connection, told, asked


def test_the_phone_is_registered_and_what_is_read_leaves_it(registered):
    page, connection, told, asked = registered
    assert (told["deviceId"], len(told["token"])) == ("page", 64)
    # Who opens the app has seen the notifications; messages stay until they are read.
    assert connection.answer("mark_read", {"unread": 0})["data"] == {"ids": [f"{BASE_MS}-0"]}
    connection.send("conversation:updated", listed(unread=0), topic="user:guest-a", offset=1)
    expect(page.locator("#chat-list .unread")).to_have_count(0)
    path = f"/demo/phone/{told['token']}"

    def told_phone():
        # The page's requests are seen while the test asks the page for something.
        page.evaluate("0")
        return [body for method, where, body, _ in asked if (method, where) == ("POST", path + "/read")]

    eventually(lambda: len(told_phone()) == 3, 10, "three words to the phone")
    # The browser may bring them in another order; the phone takes the badge of the greatest.
    orders = [body.pop("order") for body in told_phone()]
    assert orders == sorted(set(orders))
    assert told_phone()[0] == {"ids": [], "badge": 1}
    assert {"ids": [f"n:{BASE_MS}-0"]} in told_phone() and {"ids": [f"c:{CHAT}"], "badge": 0} in told_phone()


def test_what_is_pushed_is_chosen_and_the_phone_is_taken_off(registered):
    page, connection, told, _ = registered
    page.locator("#phone-messages").select_option("off")
    page.get_by_label("Quiet from").fill("22:00")
    page.get_by_role("button", name="Save").click()
    wanted = {"types": {"message": "off"}, "quietMode": "hold", "quietFrom": "22:00", "quietTo": ""}
    refusal = ("bad_request", "quietFrom and quietTo are given together")
    assert connection.answer("set_preferences", refusal)["data"] == wanted
    expect(page.locator("#phone-problem")).to_have_text(refusal[1])
    page.get_by_label("Quiet until").fill("07:00")
    page.get_by_role("button", name="Save").click()
    told_rules = {"types": {"message": "off"}, "quietFrom": "22:00", "quietTo": "07:00"}
    connection.answer("set_preferences", RULES | told_rules)
    expect(page.locator("#phone-saved")).to_have_text("Saved.")
    expect(page.locator("#phone-problem")).to_be_hidden()
    # Another device of the guest changes it, too.
    connection.send("preferences:changed", RULES | {"types": {"message": "urgent"}}, topic="user:guest-a", offset=1)
    expect(page.locator("#phone-messages")).to_have_value("urgent")
    page.get_by_role("button", name="Take the phone off").click()
    assert connection.answer("remove_device", {"deviceId": "page", "removed": True})["data"] == {"deviceId": "page"}
    page.get_by_role("button", name="Register the phone").click()
    assert connection.answer("register_device", {"deviceId": "page", "devices": 1})["data"]["token"] == told["token"]
    expect(page.get_by_role("button", name="Take the phone off")).to_be_visible()
