"""Bugs put into a good transcript: each must be caught. A mutation changes the transcript and nothing else.

Each picks a place where the bug breaks a promise: an event dropped just before a gap that covers it breaks none.
"""

import random

from transcripts import Transcript


def _pick(rng: random.Random, candidates: list):
    assert candidates, "this transcript has no place for this bug"
    return rng.choice(candidates)


def _pairs(run: Transcript) -> list:
    """Two events of one client on one topic with nothing of them in between."""
    found = []
    for index in run.events():
        later = run.following(index)
        if later is not None and run.subscribers[later][1] == "E":
            found.append((index, later))
    return found


def drop(run, rng):
    """One delivery is lost."""
    del run.subscribers[_pick(rng, _pairs(run))[0]]


def duplicate(run, rng):
    """One delivery comes twice."""
    index = _pick(rng, run.events())
    run.subscribers.insert(index + 1, list(run.subscribers[index]))


def swap(run, rng):
    """Two deliveries come in the other order."""
    first, second = _pick(rng, _pairs(run))
    lines = run.subscribers
    lines[first], lines[second] = lines[second], lines[first]


def _backfills(run, least):
    """Answers `recovered` with their backfilled events, all of which came, and something after them or the end."""
    found = []
    for index, fields in enumerate(run.subscribers):
        if fields[1] != "S" or fields[6] != 1 or fields[5] - fields[8] < least:
            continue
        events, later = [], run.following(index)
        while later is not None and run.subscribers[later][1] == "E" and run.subscribers[later][4] <= fields[5]:
            events.append(later)
            later = run.following(later)
        whole = len(events) == fields[5] - fields[8]
        if whole and (later is None or run.subscribers[later][1] == "E"):
            found.append(events)
    return found


def skip_backfill(run, rng):
    """A client comes back, is told `recovered`, and gets only what is new."""
    for index in sorted(_pick(rng, _backfills(run, 1)), reverse=True):
        del run.subscribers[index]


def recovered_with_hole(run, rng):
    """`recovered`, and the first of the missed events is missing."""
    del run.subscribers[_pick(rng, _backfills(run, 2))[0]]


def stale_epoch(run, rng):
    """A position of an old epoch is resumed as if it were good."""
    stale = [fields for fields in run.subscribers if fields[1] == "S" and fields[6] == 0 and fields[7] not in
             ("-", fields[4])]
    _pick(rng, stale)[6] = 1


def offset_reused(run, rng):
    """After a rollback another message gets an offset that was given already."""
    ack = _pick(rng, [entry for entry in run.publisher if "ack" in entry])
    run.publisher.append({"t": ack["t"] + 1, "try": "reused", "topic": ack["topic"], "crc": "deadbeef"})
    run.publisher.append(dict(ack, ack="reused", t=ack["t"] + 2))


def payload_changed(run, rng):
    """One subscriber gets other bytes."""
    fields = run.subscribers[_pick(rng, run.events())]
    event, identity, crc = fields[5].split(" ")
    fields[5] = f"{event} {identity} {int(crc, 16) ^ 1:08x}"


def payload_changed_for_all(run, rng):
    """Every subscriber and the log have other bytes than were published."""
    message = run.subscribers[_pick(rng, run.events())][5]
    event, identity, crc = message.split(" ")
    changed = f"{event} {identity} {int(crc, 16) ^ 1:08x}"
    for fields in run.subscribers:
        if fields[1] == "E" and fields[5] == message:
            fields[5] = changed
    for final in run.facts["topics"].values():
        final["log"] = [[offset, changed if held == message else held] for offset, held in final["log"]]


def other_topic(run, rng):
    """A message of one topic comes on another."""
    fields = run.subscribers[_pick(rng, run.events())]
    other = _pick(rng, [entry for entry in run.publisher if "try" in entry and entry["topic"] != fields[3]])
    fields[5] = f"e {other['try']} {other['crc']}"


def never_published(run, rng):
    """An event that nobody sent."""
    run.subscribers[_pick(rng, run.events())][5] = "e nobody 12345678"


def before_its_time(run, rng):
    """An event comes before it was published."""
    index = _pick(rng, run.events())
    identity = run.subscribers[index][5].split(" ")[1]
    for entry in run.publisher:
        if entry.get("try") == identity:
            entry["t"] = run.subscribers[-1][0]


def ack_lost(run, rng):
    """The oldest entry of the window is missing from the log, though it was acked."""
    acked = {(entry["topic"], entry["epoch"], entry["offset"]) for entry in run.publisher if "ack" in entry}
    finals = [final for topic, final in run.facts["topics"].items()
              if (topic, final["epoch"], final["log"][0][0]) in acked]
    del _pick(rng, finals or [])["log"][0]


def ack_rolled_back(run, rng):
    """The topic ends before its last ack; nobody was told."""
    topic = rng.choice(sorted(run.facts["topics"]))
    final = run.facts["topics"][topic]
    offset, message = final["log"].pop()
    final["offset"] = offset - 1
    run.subscribers = [fields for fields in run.subscribers
                       if not (fields[1] == "E" and fields[3] == topic and fields[5] == message)]


def late_gap(run, rng):
    """A gap is told after the event that follows it."""
    found = []
    for index, fields in enumerate(run.subscribers):
        if fields[1] == "G":
            later = run.following(index)
            if later is not None and run.subscribers[later][1] == "E":
                found.append((index, later))
    first, second = _pick(rng, found)
    lines = run.subscribers
    lines[first], lines[second] = lines[second], lines[first]


def silent_reset(run, rng):
    """A new epoch begins, and one subscriber is not told."""
    found = [index for index, fields in enumerate(run.subscribers) if fields[1] == "G" and fields[6] == "reset"
             and (later := run.following(index)) is not None and run.subscribers[later][1] == "E"]
    del run.subscribers[_pick(rng, found)]


def other_order(run, rng):
    """Two subscribers see two messages in a different order, each with offsets in order."""
    first, second = _pick(rng, _pairs(run))
    one, two = run.subscribers[first], run.subscribers[second]
    one[5], two[5] = two[5], one[5]


def stored_twice(run, rng):
    """A publish without an answer is stored again by its retry."""
    topic = rng.choice(sorted(run.facts["topics"]))
    final = run.facts["topics"][topic]
    message = _pick(rng, [held for _, held in final["log"]])
    identity, crc = message.split(" ")[1:]
    now = max(fields[0] for fields in run.subscribers)
    run.publisher.append({"t": now, "try": identity, "topic": topic, "crc": crc})
    final["offset"] += 1
    final["log"].append([final["offset"], message])
    for client in sorted({fields[2] for fields in run.subscribers if fields[1] == "S" and fields[3] == topic}):
        run.subscribers.append([now + 1, "E", client, topic, final["offset"], message])


def lost_tail(run, rng):
    """The last event never comes to one subscriber."""
    last = [index for index in run.events() if run.following(index) is None]
    del run.subscribers[_pick(rng, last)]


def never_back(run, rng):
    """A subscriber does not get back."""
    client = rng.choice(sorted({fields[2] for fields in run.subscribers}))
    run.subscribers.append([run.subscribers[-1][0] + 1, "D", client, 1006])


def unsubscribed_event(run, rng):
    """An event comes after the connection has ended."""
    gone = [index for index, fields in enumerate(run.subscribers) if fields[1] == "D"]
    index = _pick(rng, gone)
    client = run.subscribers[index][2]
    earlier = [fields for fields in run.subscribers[:index] if fields[1] == "E" and fields[2] == client]
    fields = list(_pick(rng, earlier)) if earlier else [0, "E", client, "load:t0", 1, "e p0-0 00000000"]
    run.subscribers.insert(index + 1, fields)


def channel_leaked(run, rng):
    """A subscription in Redis that nobody wants."""
    run.facts["channels"]["actual"].append("load:gone")


def channel_missing(run, rng):
    """A subscription in Redis that is wanted is not there."""
    run.facts["channels"]["actual"].pop(rng.randrange(len(run.facts["channels"]["actual"])))


def descriptors_leaked(run, rng):
    """A gateway keeps descriptors of connections that are gone."""
    run.facts["gateways"][0]["after"]["fds"] += 7


def memory_leaked(run, rng):
    """A gateway keeps memory."""
    run.facts["gateways"][0]["after"]["rss"] += 200 << 20


def ledger_unbalanced(run, rng):
    """A delivery is in no column of the ledger."""
    _pick(rng, run.facts["audits"])["ledger"]["written"] -= 1


def vote_twice(run, rng):
    """A vote is counted twice."""
    run.facts["votes"][0]["tally"][rng.choice(("up", "down"))] += 1


def outbox_stuck(run, rng):
    """An entry of the outbox is never done."""
    run.facts["outbox"]["wait"] += 1


def flood_swapped(run, rng):
    """Two entries of a payer change places."""
    log = run.facts["floods"][0]["log"]
    log[3], log[4] = log[4], log[3]


def flood_lost(run, rng):
    """An entry of a flood is lost."""
    run.facts["floods"][0]["offset"] -= 1


def board_wrong(run, rng):
    """A score is added twice."""
    run.facts["boards"][0]["stored"]["u1"] += 5


ALL = [drop, duplicate, swap, skip_backfill, recovered_with_hole, stale_epoch, offset_reused, payload_changed,
       payload_changed_for_all, other_topic, never_published, before_its_time, ack_lost, ack_rolled_back, late_gap,
       silent_reset, other_order, stored_twice, lost_tail, never_back, unsubscribed_event, channel_leaked,
       channel_missing, descriptors_leaked, memory_leaked, ledger_unbalanced, vote_twice, board_wrong,
       outbox_stuck, flood_swapped, flood_lost]
