"""What must hold at the end of a run, from the facts that the world collected.

`facts` is a JSON object; every member may be absent, and what is absent is not checked:

    durable       no committed data may be lost in this run (AOF always, or Redis was left alone)
    epoch_kept    no epoch may change in this run
    log_max       events a log keeps
    topics        {topic: {"epoch", "offset", "log": [[offset, "event id crc"], ...], "expired": bool}}
    absent        subscribers that need not be live at the end (names)
    votes         [{"what", "tally", "voters"}]: tally as the gateway tells, voters as counted by who cast them
    boards        [{"what", "stored", "model"}]
    outbox        entries that still wait, and how many are dead
    floods        [{"topic", "told", "events", "durable", "offset", "log"}]: numbers that were told on a topic
    channels      {"actual": [...], "desired": [...]}, with everybody live; channels_after: when all have left
    gateways      [{"name", "before": {"fds", "rss", "queued"}, "after": {...}}]
    audits        [{"node", "topic", "epoch", "offset", "balanced", "ledger"}]
"""

FDS_SLACK = 2
RSS_FACTOR = 1.5
RSS_SLACK = 64 << 20


def check_history(facts: dict, names, report) -> None:
    """I1: what was acked is in the log or was evicted by the window; I2 and I4 for what the log holds."""
    topics = facts.get("topics", {})
    log_max = facts.get("log_max", 1000)
    for topic, final in sorted(topics.items()):
        held = {}
        last = None
        for offset, message in final["log"]:
            where = f"log of {topic}: {offset} {message}"
            if last is not None and offset != last + 1:
                report.violation("I2", f"the log of {topic} goes from {last} to {offset}", where)
            last = offset
            held[offset] = message
            names.name(topic, final["epoch"], offset, message, 0, where)
        if last is not None and last != final["offset"]:
            report.violation("I2", f"the log of {topic} ends at {last}, its position is {final['offset']}")
        final["held"] = held
    for topic, epoch, offset, identity, _, where in names.acks:
        final = topics.get(topic)
        if final is None or final["epoch"] != epoch:
            continue
        if offset > final["offset"]:
            report.violation("I1", f"{identity} was acked at {topic} {offset}; the topic ends at {final['offset']}",
                             where)
        elif offset > final["offset"] - log_max and offset not in final["held"] and not final.get("expired"):
            report.violation("I1", f"{identity} was acked at {topic} {offset} and is not in the log", where)


def check_tails(facts: dict, names, subscribers, report) -> None:
    """Who is live at the end has everything up to the end, or was told."""
    topics = facts.get("topics", {})
    last_acks = {}
    for topic, epoch, offset, *_ in names.acks:
        if offset > last_acks.get((topic, epoch), 0):
            last_acks[topic, epoch] = offset
    absent = set(facts.get("absent", ()))
    for one in subscribers:
        for (client, topic), place in sorted(one.places.items()):
            if client in absent:
                continue
            if not place.live:
                report.violation("I3", f"client {client} is not subscribed to {topic} at the end", place.line)
                continue
            report.counts["live at the end"] += 1
            final = topics.get(topic)
            if final is not None and final["epoch"] != place.epoch:
                report.violation("I3", f"lost tail: client {client} is at {topic} {place.epoch} {place.offset}, "
                                 f"the topic at {final['epoch']} {final['offset']}", place.line)
                continue
            wanted = max(last_acks.get((topic, place.epoch), 0), place.promised, final["offset"] if final else 0)
            if place.offset < wanted:
                report.violation("I3", f"lost tail: client {client} is at {topic} {place.epoch} {place.offset}, "
                                 f"the topic at {wanted}", place.line)


def check_epochs(facts: dict, names, report) -> None:
    """Counts epochs; where they must be kept, a second one is a violation."""
    by_topic = {}
    for topic, epoch in names.tables:
        by_topic.setdefault(topic, set()).add(epoch)
    report.counts["epochs"] = sum(map(len, by_topic.values()))
    report.counts["topics"] = len(by_topic)
    if facts.get("epoch_kept"):
        for topic, epochs in sorted(by_topic.items()):
            if len(epochs) > 1:
                report.violation("I1", f"{topic} has {len(epochs)} epochs in a run that must keep one")


def check_votes(facts: dict, report) -> None:
    """I8: tallies are what the distinct voters said; boards are the model's."""
    for vote in facts.get("votes", ()):
        cast = {}
        for choice in vote["voters"].values():
            cast[choice] = cast.get(choice, 0) + 1
        tally = {choice: count for choice, count in vote["tally"].items() if count}
        if tally != cast:
            report.violation("I8", f"{vote['what']}: told {tally}, cast {cast}")
        report.counts["voters"] += len(vote["voters"])
    for board in facts.get("boards", ()):
        if board["stored"] != board["model"]:
            report.violation("I8", f"{board['what']}: stored {board['stored']}, expected {board['model']}")


def check_outbox(facts: dict, report) -> None:
    """I8: what was put into the outbox is done, once and in order; a step without an answer may be missing."""
    for what, count in facts.get("outbox", {}).items():
        if count:
            report.violation("I8", f"outbox: {count} entries {what}")
    for flood in facts.get("floods", ()):
        log, events = flood["log"], flood["events"]
        where = f"flood on {flood['topic']}: {flood['offset']} of {events} events, {log[:3]}...{log[-3:]}"
        if log != sorted(set(log)):
            report.violation("I8", f"{where}: doubled or out of order")
        elif flood["durable"] and flood["offset"] not in ((events,) if flood["told"] else (0, events)):
            report.violation("I8", f"{where}: not all of them")
        report.counts["flooded"] += len(log)


def check_channels(facts: dict, report) -> None:
    """I9: Redis knows exactly the subscriptions that are wanted."""
    for when in ("channels", "channels_after"):
        channels = facts.get(when, {"actual": (), "desired": ()})
        actual, desired = set(channels["actual"]), set(channels["desired"])
        for what, left in (("subscribed and not wanted", actual - desired), ("not subscribed", desired - actual)):
            if left:
                report.violation("I9", f"{when}: {what}: {sorted(left)[:5]} ({len(left)})")


def check_resources(facts: dict, report) -> None:
    """I10: descriptors, memory and queues are back where they began."""
    for gateway in facts.get("gateways", ()):
        name, before, after = gateway["name"], gateway["before"], gateway["after"]
        if after["fds"] > before["fds"] + FDS_SLACK:
            report.violation("I10", f"{name}: {before['fds']} descriptors before, {after['fds']} after")
        if after["rss"] > before["rss"] * RSS_FACTOR + RSS_SLACK:
            report.violation("I10", f"{name}: {before['rss'] >> 20} MiB before, {after['rss'] >> 20} MiB after")
        if after.get("queued", 0) > 0:
            report.violation("I10", f"{name}: {after['queued']} bytes are still queued")


def check_ledgers(facts: dict, report) -> None:
    """The gateways' own books: what was handed to connections is written, conflated, dropped or waiting."""
    for audit in facts.get("audits", ()):
        ledger = audit.get("ledger", {})
        report.counts["audits"] += 1
        if not audit["balanced"]:
            report.violation("ledger", f"{audit['node']} {audit['topic']}: out of balance by itself: {ledger}")
            continue
        parts = ("written", "conflated", "droppedSlow", "droppedGone", "waiting")
        if "handed" in ledger and all(part in ledger for part in parts):
            if ledger["handed"] != sum(ledger[part] for part in parts):
                report.violation("ledger", f"{audit['node']} {audit['topic']}: {ledger}")
