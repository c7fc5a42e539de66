"""Each sample of the pages is run by a test, or stands here with the reason why it is only read."""

from pathlib import Path

from Fixtures.samples import pages, samples

HERE, BROWSER = "EndToEnd/test_samples.py", "Browser/test_page_samples.py"
# Samples, or the beginnings of their names, by the file that runs them.
RUN = {
    HERE: [
        "README.md#see-it-work:python", "README.md#see-it-work:text",
        "docs/start.md#1-run-it:json", "docs/start.md#2-receive:sh", "docs/start.md#3-publish:",
        "docs/start.md#4-lose-nothing:sh", "docs/start.md#5-call-a-command:sh",
        "docs/publish.md#the-request:sh", "docs/publish.md#python:", "docs/publish.md#a-batch:",
        "docs/publish.md#node:", "docs/publish.md#php:", "docs/publish.md#straight-into-redis:",
        "docs/build/from-centrifugo.md#", "docs/build/from-pusher.md#",
        "docs/build/from-supabase.md#1-keys-and-tokens:json", "docs/build/from-supabase.md#3-replace-postgres-changes:",
        "docs/build/phone.md#a-gateway-that-the-phone-reaches:sh", "docs/build/web.md#tokens:python",
        "deploy/README.md#install-the-package:json", "docs/clients.md#supabase:json", "docs/limits.md#limits:json",
        "docs/namespaces.md#namespaces-and-sockets:json", "docs/namespaces.md#sockets-by-path:json",
        "docs/run/cluster.md#starting-on-a-cluster:json",
        "docs/run/sentinel.md#setting-it-up:json", "docs/run/sentinel.md#setting-it-up:sh",
        "docs/settings.md#the-config-file:json"],
    BROWSER: [
        "docs/build/react.md#", "docs/build/web.md#the-page:html", "docs/build/web.md#only-listening:",
        "docs/build/web.md#what-was-said-before:", "docs/build/web.md#who-is-here:",
        "docs/build/web.md#show-a-message-at-once:", "docs/clients.md#javascript:javascript",
        "docs/clients.md#plain-json-over-a-websocket:javascript", "docs/clients.md#event-streams:javascript",
        "docs/protocol/event-streams.md#event-streams:js", "clients/js/README.md#the-javascript-client:javascript"],
    "EndToEnd/test_from_socketio.py": [
        "docs/build/from-socketio.md#1-move-the-connections:json",
        "docs/build/from-socketio.md#1-move-the-connections:python", "docs/build/from-socketio.md#3-turn-handlers"],
    "EndToEnd/test_event_stream.py": ["docs/clients.md#event-streams:python"],
    "EndToEnd/test_bridge_python.py": ["docs/emitters.md#backends-in-python:python"],
    "EndToEnd/test_socketio.py": ["docs/clients.md#socketio:python"],
    "EndToEnd/test_phoenix.py": ["docs/clients.md#supabase:python"],
    "EndToEnd/test_types_of_commands.py": ["docs/clients.md#types-of-commands:"],
    "EndToEnd/test_key_rights.py": ["docs/keys.md#api-keys:text"],
    "EndToEnd/test_top.py": ["docs/top.md#all-nodes-in-a-terminal:sh", "docs/top.md#a-user-of-redis-for-it:text"],
    "EndToEnd/test_backups.py": ["docs/operations.md#backing-up-and-restoring-redis:"],
    "EndToEnd/test_call_out.py": ["docs/scripts/body.md#calls-of-services-outside:lua", "docs/courier.md#calls:lua"],
    "EndToEnd/test_operator_scripts.py": ["docs/scripts/tutorial.md#", "docs/scripts/body.md#answers-of-services-"],
    "Browser/test_js_samples.py": ["clients/js/README.md#in-a-page:html", "clients/js/README.md#with-react:"],
    "EndToEnd/test_js_samples.py": ["clients/js/README.md#the-javascript-client:javascript"],
    "EndToEnd/test_dev_scripts.py": ["docs/scripts/testing.md#try-it-by-hand:sh"],
    "EndToEnd/test_pack_tests.py": ["docs/scripts/later.md#", "docs/scripts/testing.md#a-first-test:json"],
    "EndToEnd/test_swift_guide.py": [
        "Sources/SwitchboardClient/SwitchboardClient.docc/", "docs/build/phone.md#the-app:swift"],
    "../scripts/client-package.sh": ["README.md#see-it-work:swift", "docs/clients.md#swift:swift"],
}
# Samples, or the beginnings of their names, that are only read, by the reason.
READ = {
    "a shape, or a drawing, which nothing can run": [
        "ARCHITECTURE.md#the-picture:text", "CONTRIBUTING.md#commits:text", "docs/courier.md#webhooks:",
        "docs/emitters.md#the-bytes:text", "docs/top.md#the-screen:text", "docs/protocol/presence.md#the-messages:json",
        "docs/push.md#what-is-pushed:json", "docs/protocol/event-streams.md#event-streams:text",
        "docs/scripts/testing.md#test-a-pack:text",
        "docs/why-not.md#why-did-a-user-not-get-an-event:json"],
    "lines of a header or a body without the rest": [
        "docs/scripts/body.md#members:text", "docs/scripts/body.md#tokens:text", "docs/scripts/header.md#",
        "docs/scripts/packs.md#", "docs/scripts/types.md#", "lua/README.md#"],
    "a part of a program of the reader's own": [
        "clients/js/README.md#calls:", "docs/clients.md#swift:text", "docs/run/redis.md#what-redis-keeps"],
    "its library comes from a registry, and tests have no network": [
        "docs/build/from-socketio.md#1-move-the-connections:javascript", "docs/clients.md#socketio:javascript",
        "docs/build/from-supabase.md#2-change-the-address:javascript", "docs/clients.md#supabase:javascript",
        "docs/emitters.md#backends-that-emit-through-redis:js", "docs/clients.md#socketio:swift",
        "docs/clients.md#supabase:swift"],
    "its compiler is not on the machine of the tests": [
        "docs/build/kotlin.md#the-client:kotlin", "docs/publish.md#go:go", "docs/build/phone.md#in-the-simulator:",
        "docs/build/phone.md#background-and-network:swift"],
    "it is what `make` or the binary does, which other tests start": [
        "README.md#switchboard:text", "README.md#operate-it:text", "docs/start.md#1-run-it:text",
        "docs/scripts/testing.md#try-it-by-hand:text",
        "docs/build/web.md#the-page:text", "bench/README.md#", "docs/capacity.md#capacity:text",
        "docs/emitters.md#backends-that-emit-through-redis:text"],
    "it is typed as root at a machine of its own; the files that it installs are run by tests": [
        "deploy/README.md#install-the-package:text", "deploy/README.md#systemd:text",
        "deploy/README.md#containers:text", "docs/alerts.md#alerts:text",
        "docs/run/cluster.md#starting-on-a-cluster:text", "docs/run/cluster.md#adding-a-master:text",
        "docs/run/sentinel.md#setting-it-up:text", "docs/run/sentinel.md#moving-the-master:text",
        "docs/upgrade.md#redis-users-of-an-earlier-version:text"],
    "its request, with another address, is made by the tests of its route or its keys": [
        "docs/courier.md#", "docs/dead-letters.md#", "docs/erasure.md#erasing-a-user:sh", "docs/fleet.md#",
        "docs/metrics.md#metrics:text", "docs/push.md#sending:text", "docs/readiness.md#", "docs/rights.md#rights:text",
        "docs/watch.md#a-worker:text", "docs/wire.md#", "docs/why-not.md#why-did-a-user-not-get-an-event:sh"],
}


def test_every_sample_is_run_or_has_a_reason():
    """A new sample gets a row above; a row without a sample goes."""
    names = [one.name for page in pages() for one in samples(page)]
    rows = [row for table in (RUN, READ) for group in table.values() for row in group]
    missing = [name for name in names if not any(name.startswith(row) for row in rows)]
    assert not missing, "neither run nor listed:\n" + "\n".join(missing)
    stale = [row for row in rows if not any(name.startswith(row) for name in names)]
    assert not stale, "there is no such sample:\n" + "\n".join(stale)


def test_each_file_that_runs_samples_reads_their_pages():
    """By the page's name, or by way of a fixture that has it."""
    tests = Path(__file__).resolve().parents[1]
    for name, rows in RUN.items():
        text = (tests / name).read_text()
        for page in {row.partition("#")[0] for row in rows}:
            known = Path(page).name in text or Path(page).stem in text or "operator_scripts" in text
            assert known, f"{name} does not read {page}"


def test_most_samples_are_run():
    """The part that is run may only grow."""
    names = [one.name for page in pages() for one in samples(page)]
    run = [name for name in names if any(name.startswith(row) for group in RUN.values() for row in group)]
    assert len(run) >= 95, len(run)
