#!/usr/bin/env bash
# Runs every test: builds what is tested, then the unit tests and the clients' tests side by side.
#
# usage: scripts/test.sh [PYTEST_OPTION...]
#
# The clients' tests mostly wait, so several processes run them (WORKERS, by default three for each core), and what
# they leave of the processor builds and runs the unit tests. The output is that of the builds, of the unit tests and
# of the clients' tests, in this order; the last lines are the two runners' own.
# exit: 0 when both passed
set -euo pipefail
cd "$(dirname "$0")/.."

readonly workers=${WORKERS:-$((3 * $(nproc)))}
readonly logs=.build/test-logs
readonly folders=(LuaTests EndToEndTests ChaosTests ConformanceTests BrowserTests)
mkdir -p "$logs"

# Ends what still runs when this script is interrupted or a build fails.
pids=()
end() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
}
trap end EXIT

{
    scripts/venv.sh
    # Where there is no Python 2.7, the tests that need the suite say so.
    scripts/autobahn.sh >/dev/null || true
} >"$logs/environments.log" 2>&1 &
environments=$!
pids+=("$environments")

swift build --configuration release --static-swift-stdlib

wait "$environments" || {
    cat "$logs/environments.log" >&2
    exit 1
}

.venv/bin/python -m pytest -ra --durations=25 --numprocesses "$workers" --dist loadgroup --no-loadscope-reorder \
    "$@" "${folders[@]/#/Tests/}" >"$logs/clients.log" 2>&1 &
clients=$!
pids+=("$clients")

unit=passed
{ nice swift build --build-tests && nice swift test --skip-build; } 2>&1 | tee "$logs/unit.log" || unit=failed

tail --lines=+1 --follow --pid="$clients" "$logs/clients.log" &
pids+=($!)
clients_status=0
wait "$clients" || clients_status=$?
wait "${pids[-1]}" || true

[ "$unit" = passed ] || printf 'test: the unit tests failed, see above or %s\n' "$logs/unit.log" >&2
[ "$unit" = passed ] && [ "$clients_status" = 0 ]
