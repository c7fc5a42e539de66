"""The scripts of services outside at their limits: questions, calls, and what was given up."""

from weight_cases import case


@case
def expire_calls(site):
    keys = ["#calls:x", "#calls-dead:x", "#courier:x"]
    site.db.xgroup_create(keys[0], "couriers", "0", mkstream=True)
    fields = {"i": "0" * 32, "r": "x" * 8_192, "c": "found", "a": "x" * 8_192}

    def run(n):
        # What was given up is there again: as much as one run takes.
        site.fill(lambda pipe, i: pipe.xadd(keys[0], fields, id=f"{n + 1}-{i + 1}"), 26)
        return site.scripts.call("expire_calls", keys, [1_000, 1_000])
    return run


@case
def dead_letters(site):
    fields = {"id": "1-1", "reason": "status 500", "i": "0" * 32, "r": "x" * 2_000, "c": "found", "a": "{}"}
    site.fill(lambda pipe, n: pipe.xadd("#calls-dead:x", fields, id=f"1-{n + 1}"), 1_000)
    return lambda n: site.scripts.call("dead_letters", ["#calls-dead:x"], ["-", "+", 100, 262_144])


@case
def retry_call(site):
    keys = ["#calls-dead:x", "#calls:x"]
    fields = {"id": "1-1", "reason": "status 500", "i": "0" * 32, "r": "x" * 8_192, "c": "found", "a": "x" * 8_192}

    def run(n):
        site.db.delete(keys[1])
        site.db.xadd(keys[0], fields, id=f"{n + 1}-1")
        return site.scripts.call("retry_call", keys, [f"{n + 1}-1", 4_000])
    return run


@case
def retry_webhook(site):
    topic = "order:7"
    keys = [f"{topic}#hook#x", f"{topic}#hook-lease#x", f"{topic}#meta", f"{topic}#log"]
    site.db.hset(keys[2], mapping={"epoch": "e", "offset": 1_000})
    site.fill(lambda pipe, n: pipe.xadd(keys[3], {"e": "a", "d": "{}"}, id=f"{n + 1}-0"), 1_000)

    def run(n):
        site.db.set(keys[0], "e 1000")
        return site.scripts.call("retry_webhook", keys, ["e", 500])
    return run


@case
def ask(site):
    """A large answer is kept, which costs more than to leave a question."""
    keys = ["#answers:x", "#asks:x", "#courier:x"]
    site.scripts.call("keep_answer", [keys[0], "#answers-due:x"], ["d", "{" + " " * 65_534 + "}", 3_600, 500])
    return lambda n: site.scripts.call("ask", keys, ["d", "{}", 1_024, 5_000])


@case
def keep_answer(site):
    keys, text = ["#answers:x", "#answers-due:x"], "{" + " " * 65_534 + "}"
    for number in range(500):
        site.scripts.call("keep_answer", keys, [f"{number}", text, 3_600, 500])
    return lambda n: site.scripts.call("keep_answer", keys, [f"more-{n}", text, 3_600, 500])


@case
def outbox_put(site):
    keys, calls = ["#outbox", "#outbox:payers", "#outbox"], []
    for number in range(100):
        calls += [f"erase_{number}", '{"userId":"' + "u" * 128 + '"}']

    def run(_):
        site.db.delete("#outbox")
        site.db.xadd("#outbox", {"p": "", "c": "x", "a": "{}"})
        return site.scripts.call("outbox_put", keys, ["250000 10000 user:ann", *calls])
    return run


@case
def outbox_done(site):
    """As many as the worker deletes at once, each of another payer."""
    keys, fields = ["#outbox", "#outbox:payers"], {"p": "user:ann", "c": "list_conversation", "a": "x" * 500}

    def run(n):
        words = []
        for index in range(200):
            words += [f"{n + 1}-{index + 1}", f"user:{index}"]
        site.fill(lambda pipe, i: pipe.xadd(keys[0], fields, id=f"{n + 1}-{i + 1}"), 201)
        site.db.hset(keys[1], mapping={f"user:{index}": 5 for index in range(200)})
        return site.scripts.call("outbox_done", keys, words)
    return run


@case
def outbox_figures(site):
    keys = [f"#outbox:{n}{end}" for n in range(16) for end in ("", ":next")]
    for key in keys:
        site.db.xadd(key, {"p": "user:ann", "c": "list_conversation", "a": "x" * 500})
    return lambda _: site.scripts.call("outbox_figures", keys, [])
