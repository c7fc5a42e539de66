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
