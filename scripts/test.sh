#!/usr/bin/env bash
# Runs every test: builds what is tested, then the unit tests and the clients' tests side by side.
#
# usage: scripts/test.sh [--shipped] [PYTEST_OPTION...]
#   --shipped  runs the clients' tests alone, against the release build, statically linked as it is shipped
#
# The optimiser takes four fifths of a build's time, so the tests run what it has not touched. `make check` and the CI
# run them on the release build as well, with those that need it (`shipped`): they count what the optimiser leaves.
#
# One build makes the programs and the unit tests: the modules of one are mostly a chain, and the others fill the cores.
# The clients' tests mostly wait (several processes run them: WORKERS, by default three for each core). The unit tests
# run on what they leave of the processor. The output is that of the build, of the unit tests and of the clients' tests,
# in this order; the last lines are the two runners' own.
#
# A few clients' tests that failed beside the others are run once more, alone, and told by name: a busy host finds
# races, of tests and of what they test, and one look at the log tells them apart from what is broken.
# Tests that count or measure (`alone`) come last, when nothing else runs.
# exit: 0 when both passed
set -euo pipefail
cd "$(dirname "$0")/.."

readonly workers=${WORKERS:-$((3 * $(nproc)))}
readonly logs=.build/test-logs
# More failures than this are no race.
readonly again_max=5
shipped=
if [ "${1:-}" = --shipped ]; then
    shipped=1
    shift
fi
readonly shipped
# Modules are compiled as a whole, by two threads, read once, and without what a debugger needs: a third cheaper. The
# index has the tests, by which SwiftPM finds them, and not the modules of the toolchain.
readonly test_build=(
    --scratch-path .build/unit -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2
    -Xswiftc -no-emit-module-separately-wmo -Xswiftc -index-ignore-system-modules -debug-info-format none)
# Compilers allocate much and soon end: large pages, and no memory given back, spare them a fourteenth of their time.
# Another C library than glibc does not read this.
readonly compilers_memory=glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=60000:glibc.malloc.top_pad=67108864:\
glibc.malloc.trim_threshold=4294967296:glibc.malloc.mmap_threshold=4294967296
readonly folders=(Scripts EndToEnd Chaos Conformance Browser)
mkdir -p "$logs"
# Compiled test files are kept, also where the environment would keep none.
unset PYTHONDONTWRITEBYTECODE

# Ends what still runs when this script is interrupted or a build fails.
pids=()
end() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
}
trap end EXIT

{
    scripts/venv.sh
    # Each worker reads every test file: one process compiles them before, which costs the others a third.
    .venv/bin/python -m pytest --collect-only --quiet "${folders[@]/#/Tests/}" >/dev/null
} >"$logs/environments.log" 2>&1 &
environments=$!
pids+=("$environments")

if [ -n "$shipped" ]; then
    build=(scripts/release-build.sh)
    binaries=$PWD/.build/release
    marked="not thorough"
else
    build=(swift build --build-tests "${test_build[@]}")
    binaries=$PWD/.build/unit/debug
    marked="not thorough and not shipped"
fi
GLIBC_TUNABLES=$compilers_memory "${build[@]}"

unit_tests() {
    scripts/walls.py .build/unit/debug/index/store --self-test &&
        nice scripts/unit-tests.sh --skip-build "${test_build[@]}"
}
unit=
if [ -z "$shipped" ]; then
    unit_tests >"$logs/unit.log" 2>&1 &
    unit=$!
    pids+=("$unit")
fi

wait "$environments" || {
    cat "$logs/environments.log" >&2
    exit 1
}

# clients_tests MARKS OPTION...: runs the clients' tests that also have these marks.
clients_tests() {
    SWITCHBOARD_BIN=$binaries/switchboard SWITCHBOARD_BENCH=$binaries/switchboard-bench \
        .venv/bin/python -m pytest -ra -m "$marked and $1" "${@:2}"
}
clients_tests "not alone" --durations=25 --numprocesses "$workers" --dist loadgroup --no-loadscope-reorder \
    --cache-clear "$@" "${folders[@]/#/Tests/}" >"$logs/clients.log" 2>&1 &
clients=$!
pids+=("$clients")

# Shows a log from its beginning until its writer has ended; the status is the writer's.
show() {
    tail --lines=+1 --follow --pid="$1" "$2" &
    pids+=($!)
    local status=0
    wait "$1" || status=$?
    wait "${pids[-1]}" || true
    return "$status"
}

unit_status=0
[ -z "$unit" ] || show "$unit" "$logs/unit.log" || unit_status=$?
clients_status=0
show "$clients" "$logs/clients.log" || clients_status=$?

# 1: some failed; anything else is no matter of single tests.
if [ "$clients_status" = 1 ]; then
    # Behind a name may stand the group of tests that one process runs (`@`).
    mapfile -t failed < <(sed -nE 's/^ *"(.*)": true,?$/\1/p' Tests/.pytest_cache/v/cache/lastfailed |
        sed -E 's/@(Browser\/[0-9]+|[a-z_]+\.py)$//')
    count=${#failed[@]}
    if [ "$count" -ge 1 ] && [ "$count" -le "$again_max" ]; then
        printf 'test: %s failed beside others; once more, alone:\n' "$count"
        clients_status=0
        clients_tests "not alone" --verbose "${failed[@]/#/Tests/}" || clients_status=$?
    fi
fi

alone_status=0
clients_tests alone "$@" "${folders[@]/#/Tests/}" || alone_status=$?
# 5: none was chosen. That is a mistake where neither has one.
if [ "$clients_status" = 5 ]; then
    clients_status=$alone_status
elif [ "$alone_status" = 5 ]; then
    alone_status=0
fi

[ "$unit_status" = 0 ] || printf 'test: the unit tests failed, see above or %s\n' "$logs/unit.log" >&2
[ "$clients_status" = 0 ] || printf "test: the clients' tests failed, see above or %s\n" "$logs/clients.log" >&2
[ "$unit_status" = 0 ] && [ "$clients_status" = 0 ] && [ "$alone_status" = 0 ]
