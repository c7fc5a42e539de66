#!/usr/bin/env bash
# The gateway, the floor and the peers side by side: the same load, one after the other, in one run.
#
# usage: bench/peers.sh [--peers "floor switchboard ..."] [--rates "20 100x2000 ..."] [--steps "idle fanout unicast"]
#                       [--seconds N] [--connections N] [--idle N] [--stolen-max PERCENT] [--tries N] [--out DIR]
#                       [--unicast-rate N] [--rounds N] [--judge "NAME MOST [WORDS]"]
#                       [--against BINARY]
#
# A rate may have a size: 100x2000 is 100 publishes a second of 2,000 bytes. A name may have a variant, as
# switchboard/phoenix-v1 (bench/peers/switchboard.sh lists them) and floor/redis. Unicast has 5,000 publishes a second
# in all; --unicast-rate takes less where these nearly fill the core that Redis and the load share.
#
# With --rounds N everything is measured N times, in turn, and every other round in the other order (idle only in the
# first); bench/ratios.py then prints medians, and with --judge it fails when the CPU of another target per delivery is
# more than MOST times that of NAME, with WORDS only in loads that have them in their title. --against BINARY judges two
# builds of the gateway so: the floors, the other build and this one, 5 rounds of fanout at 100/s and unicast, at most
# 1.03.
#
# Writes DIR/peers.json and DIR/report.html (DIR: bench/results) and prints the table; what was there becomes
# peers-before.json, for `switchboard-bench compare`. SERVER_CPUS (0) and LOAD_CPUS (1) are as in bench/peers/common.sh;
# the tool runs on LOAD_CPUS, too. Ends 1 when a target did not begin, the tool ended without a result, or a run does
# not count; losses are results, and in the report.
#
# A step is repeated, up to --tries (3) times in all, when
# - more than --stolen-max (5) percent of the CPU time asked for was not given, in a virtual machine whose host is busy.
#   The last try counts, and tells it. The rule looks at the host alone, never at the result;
# - a client could not connect or subscribe, or a publish was refused: the load was another one then. When that happens
#   in the last try, too, the run is a failed one, and its figures are in no median and no ratio.
#
# All targets take a step before any takes the next, so that a machine that slows down is no one's advantage. A target
# is started anew for each step: none inherits what the step before left in its memory, and none that waits for its
# turn has timers on the core that is measured.
set -euo pipefail
cd "$(dirname "$0")/.."

names='floor floor/redis switchboard nchan ws socketio' rates='20 100 400 1600' steps='idle fanout unicast'
seconds=20 connections=1000 idle=10000 out=bench/results unicast_rate=5000 stolen_max=5 tries=3 rounds=1 judge=()
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || set -- --help
    case "$1" in
    --peers) names=$2 ;;
    --rates) rates=$2 ;;
    --steps) steps=$2 ;;
    --seconds) seconds=$2 ;;
    --connections) connections=$2 ;;
    --idle) idle=$2 ;;
    --unicast-rate) unicast_rate=$2 ;;
    --stolen-max) stolen_max=$2 ;;
    --tries) tries=$2 ;;
    --rounds) rounds=$2 ;;
    --judge) read -r -a judge <<<"$2" ;;
    --against)
        BENCH_AGAINST=$(readlink -f "$2")
        export BENCH_AGAINST
        names='floor floor/redis switchboard/against switchboard'
        rates=100 steps='fanout unicast' rounds=5 judge=(against 1.03)
        ;;
    --out) out=$2 ;;
    *)
        sed -n '2,18s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
    shift 2
done
load_cpus=${LOAD_CPUS:-1}
tool=${BENCH_TOOL:-$PWD/.build/release/switchboard-bench}
processes=$(taskset --cpu-list "$load_cpus" nproc)
# Besides what is measured: opening 10,000 connections of the slowest peer takes most of it.
readonly grace_seconds=120 begin_seconds=120 end_seconds=20

ulimit -n "$(ulimit -Hn)"
mkdir -p "$out"
out=$(cd "$out" && pwd)
[ ! -e "$out/peers.json" ] || mv "$out/peers.json" "$out/peers-before.json"
state=$(mktemp -d)
target_pid='' failures=0 refused=0
end_target() {
    [ -n "$target_pid" ] || return 0
    kill "$target_pid" 2>/dev/null || true
    # It ends its processes by force itself; only a broken script is left to this.
    local deadline=$((SECONDS + end_seconds))
    while kill -0 "$target_pid" 2>/dev/null; do
        if [ "$SECONDS" -ge "$deadline" ]; then kill -KILL "$target_pid" 2>/dev/null || true; fi
        sleep 0.1
    done
    wait "$target_pid" 2>/dev/null || true
    target_pid=''
}
trap 'end_target; rm -rf "$state"' EXIT
trap 'exit 130' INT TERM

say() { printf 'peers: %s\n' "$*" >&2; }

# begin NAME: starts a target; its flags for the tool are in the array `flags`.
begin() {
    local directory deadline=$((SECONDS + begin_seconds))
    directory=$(mktemp -d "$state/${1%%/*}.XXXX")
    # What stands behind the slash, if anything.
    BENCH_VARIANT=$(cut -s -d / -f 2- <<<"$1") bench/peers/"${1%%/*}".sh "$directory" >"$directory/log" 2>&1 &
    target_pid=$!
    until [ -s "$directory/target" ]; do
        if ! kill -0 "$target_pid" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
            tail -20 "$directory/log" >&2
            return 1
        fi
        sleep 0.1
    done
    read -r -a flags <"$directory/target"
}

results() { [ ! -e "$out/peers.json" ] || wc -c <"$out/peers.json"; }

# measure NAME SCENARIO FLAGS...: one target, one step.
measure() {
    local name=$1 scenario=$2 before status try why flags=() stolen_max=$stolen_max refusals=discard
    shift 2
    before=$(results)
    for try in $(seq "$tries"); do
        say "$scenario $* of $name"
        begin "$name" || { why='the target did not begin' && end_target && break; }
        [ "$try" -lt "$tries" ] || { stolen_max=100 refusals=keep; }
        status=0
        timeout --kill-after=10 $((seconds + grace_seconds)) taskset --cpu-list "$load_cpus" "$tool" "$scenario" \
            "${flags[@]}" --processes "$processes" --seconds "$seconds" --json "$out/peers.json" \
            --stolen-max "$stolen_max" --refusals "$refusals" "$@" || status=$?
        end_target
        why="the tool ended with $status and left no result"
        # 2: no client was let in, or the publisher was not; 3: the run was not kept.
        case $status in 2 | 3) ;; *) break ;; esac
    done
    if [ "$(results)" = "$before" ]; then
        fail_step "$name" "$scenario" "$why" "$@"
    elif [ "$status" -eq 4 ]; then
        refused=$((refused + 1))
        say "$name: clients or publishes were refused: this run does not count"
    fi
}

# fail_step NAME SCENARIO WHY FLAGS...: kept until the end, when there is a report to add it to.
fail_step() {
    failures=$((failures + 1))
    say "$1: $3"
    printf '%s\0' "$@" >"$state/failure.$failures"
}

# take STEP NAMES...: one step of all targets.
take() {
    local step=$1 rate name size
    shift
    case $step in
    idle) for name; do measure "$name" idle --connections "$idle"; done ;;
    fanout)
        for rate in $rates; do
            size=()
            case $rate in *x*) size=(--bytes "${rate#*x}") ;; esac
            for name; do measure "$name" fanout --connections "$connections" --rate "${rate%x*}" "${size[@]}"; done
        done
        ;;
    unicast)
        for name; do measure "$name" unicast --connections "$connections" --topics 1000 --rate "$unicast_rate"; done
        ;;
    *) say "there is no step $step" && exit 2 ;;
    esac
}

read -r -a order <<<"$names"
backwards=()
for name in "${order[@]}"; do backwards=("$name" "${backwards[@]}"); done
for round in $(seq "$rounds"); do
    [ "$rounds" -eq 1 ] || say "round $round of $rounds"
    for step in $steps; do
        if [ "$step" = idle ] && [ "$round" -gt 1 ]; then continue; fi
        if [ $((round % 2)) -eq 1 ]; then take "$step" "${order[@]}"; else take "$step" "${backwards[@]}"; fi
    done
done

[ -e "$out/peers.json" ] || { say 'no target left a result' && exit 1; }
for number in $(seq "$failures"); do
    xargs --null bench/peers/record-failure.py "$out/peers.json" <"$state/failure.$number"
done
"$tool" report "$out/peers.json" --html "$out/report.html"
if [ "$rounds" -gt 1 ]; then
    shards=$(taskset --cpu-list "${SERVER_CPUS:-0}" nproc)
    bench/ratios.py "$out/peers.json" "$shards" "${judge[@]}" || failures=$((failures + 1))
fi
[ "$failures" -eq 0 ] && [ "$refused" -eq 0 ]
