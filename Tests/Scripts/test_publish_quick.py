"""The common case of publish.lua (quick.lua), compared with the whole script."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import NOW_MS, Keys, Scripts


@pytest.mark.parametrize("id", ["-", "op-2"])
def test_an_event_without_a_log_is_a_common_case(scripts, db, id):
    """What the whole script would do for it is counted: it stores the position twice."""
    scripts.publish(log_max=0)
    scripts.publish(log_max=0, id="op-1")
    db.config_resetstat()
    scripts.publish(log_max=0, id=id)
    calls = {name: one["calls"] for name, one in db.info("commandstats").items()}
    expected = {"cmdstat_hmget", "cmdstat_hset", "cmdstat_expire", "cmdstat_publish"}
    expected |= {"cmdstat_get", "cmdstat_set"} if id != "-" else set()
    own = {"cmdstat_config|resetstat", "cmdstat_info", "cmdstat_evalsha"}
    assert {name: 1 for name in expected} == {name: calls[name] for name in calls if name not in own}


@pytest.mark.parametrize("usual", [{}, {"log_max": 0}], ids=["a log", "no log"])
def test_the_common_case_does_what_the_whole_script_does(db, rng, usual):
    """Random histories, hostile words among them, on two topics: one script has the common case before it. Some calls
    publish several events."""
    pair = [(Scripts(db), "shop:42"), (Scripts(db, quick=False), "shop:43")]
    links = [db.pubsub(ignore_subscribe_messages=True) for _ in pair]
    for link, (_, topic) in zip(links, pair, strict=True):
        link.subscribe(topic)
        link.get_message(timeout=5)
    now_ms, known = NOW_MS, None
    odd = {
        "event": ["a b", "", "a\nb", "x" * 64, "x" * 65, "a/b:c.d-e_f", b"a\x00"],
        "data": ["", "{", "}", "[]", " {}", "{}\n", "{\n}", "x{}"],
        "id": ["", " ", "a b c", "a ", " a", "- n-1", "op n-1", "op n.1", "op " + "n" * 32, "op " + "n" * 33, "a\n{x",
               "a\nb", "b", "x" * 128, "x" * 129, "-", "a#b"],
        "epoch": ["-", "a b", "x" * 33], "run": ["second", "", "a b", "r" * 40 + "+"],
        "log_max": [0, 1, 10, 100, 999_999, 1_000_000, 1_000_001, -1, "1e3", "05", "9:400b", "200:9000b", "9b"],
        "log_ttl_s": [1, 7, 299, 300, 400, 86_400, 0, "x"], "meta_ttl_s": [299, 300, 315_360_000, 315_360_001],
        "seen_ttl_s": [1, 0, 99_999_999, 999_999_999], "print": ["", "xyz", "a" * 64, "a" * 65],
    }
    taken = 0
    for number in range(1_500):
        now_ms += rng.choice([0, 1, 1_000, 20_000, 400_000, -30_000])
        arguments = usual | {"now_ms": now_ms, "epoch": f"e{number}"}
        arguments["id"] = rng.choice(["-", f"op-{rng.randrange(40)}"])
        for name in rng.sample(sorted(odd), rng.choice([0, 0, 1, 1, 2])):
            arguments[name] = rng.choice(odd[name])
        if known and rng.random() < 0.3:
            arguments["top"] = rng.choice([known, (known[0], known[1] + 1), (known[0], max(0, known[1] - 1)), ("o", 5)])
        if rng.random() < 0.05:
            facet = rng.choice(["log", "meta"])
            for _, topic in pair:
                db.delete(getattr(Keys(topic), facet))
        if rng.random() < 0.05:
            field, text = rng.choice([("offset", "3"), ("offset", "05"), ("epoch", "a b"), ("run", "x"),
                                      ("until", "x")])
            for _, topic in pair:
                db.hset(Keys(topic).meta, field, text)
        events = []
        if rng.random() < 0.4:
            del arguments["id"]
            events = [["queue:update", '{"n":1}', rng.choice(["-", f"op-{rng.randrange(40)}"])]
                      for _ in range(rng.randrange(2, 6))]
            for place, name in enumerate(("event", "data", "print")):
                if name in arguments:
                    word = arguments.pop(name)
                    rng.choice(events)[place] = rng.choice(odd["id"]) if name == "print" else word
        answers = []
        for scripts, topic in pair:
            try:
                if events:
                    answers.append(scripts.publish_several(events, topic, **arguments))
                else:
                    answers.append(scripts.publish(topic, **arguments))
            except redis.ResponseError as error:
                answers.append(str(error))
        assert answers[0] == answers[1], arguments
        for answer in answers[0] if events else answers[:1]:
            if isinstance(answer, tuple) and answer[2] < 2:
                known = answer[:2]
                taken += 1
        one, other = (Keys(topic) for _, topic in pair)
        assert db.hgetall(one.meta) == db.hgetall(other.meta) and db.xrange(one.log) == db.xrange(other.log), arguments
        for facet in ("log", "meta"):
            assert abs(db.ttl(getattr(one, facet)) - db.ttl(getattr(other, facet))) <= 1, arguments
    assert taken > 300
    names = {name.replace(b"shop:43", b"shop:42") for name in db.keys("shop:43*")}
    assert names == set(db.keys("shop:42*"))
    heard = []
    for link in links:
        link.ping()
        heard.append([])
        while (message := link.parse_response(block=True))[0] != b"pong":
            heard[-1].append(message[2])
        link.close()
    assert heard[0] == heard[1] and len(heard[0]) > 300
