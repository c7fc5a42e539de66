#!/usr/bin/env bash
# Builds the fuzz targets with AddressSanitizer and runs each for a time, as many at once as there are cores.
#
# usage: scripts/fuzz.sh [SECONDS_EACH [TARGET...]]
#
# The corpus grows in .build/fuzz/corpus/TARGET; inputs kept in the repository, Tests/Fuzz/TARGET/corpus, are read too.
# A crasher is written to .build/fuzz/crashes and the command that reproduces it is printed: make it a unit test.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || {
    printf 'fuzz: SECONDS must be a positive whole number, not %q\n' "$seconds" >&2
    exit 2
}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(
    FuzzHTTP FuzzWebSocket FuzzNative FuzzEngineIO FuzzSocketIO FuzzPhoenix
    FuzzChannel FuzzJWT FuzzTopic FuzzScriptHeader FuzzEmitter
)

readonly scratch=.build/fuzz
readonly memory_mb=512
readonly input_seconds=10

export SWITCHBOARD_FUZZ=1
# Traps stay in release builds, so this is the code that ships, plus coverage and AddressSanitizer in every room:
# instrumenting only the targets themselves would leave the fuzzer blind to the parsers.
build() {
    clang -c -O1 -D"ENTRY=${1}_main" -o "$scratch/$1-main.o" scripts/fuzz-main.c
    swift build --configuration release --scratch-path "$scratch" --product "$1" \
        -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library -Xcc -fsanitize=address \
        -Xlinker "$PWD/$scratch/$1-main.o"
}

mkdir -p "$scratch/corpus" "$scratch/crashes" "$scratch/logs"
for target in "${targets[@]}"; do
    build "$target"
done
binaries=$(swift build --configuration release --scratch-path "$scratch" --show-bin-path)

statistic() { sed -n "s/^stat::$2: *//p" "$scratch/logs/$1.log" | tail -n 1; }
table=()
row() { table+=("$(printf '%-14s %12s %10s %9s %8s  %s' "$@")"); }
row target executions per-second features corpus result

# Runs one target; its log and its result are files.
fuzz() {
    local target=$1 result=clean
    local directories=("$scratch/corpus/$target")
    mkdir -p "${directories[0]}"
    [ ! -d "Tests/Fuzz/$target/corpus" ] || directories+=("Tests/Fuzz/$target/corpus")
    printf 'fuzz: %s for %s s\n' "$target" "$seconds"
    "$binaries/$target" -max_total_time="$seconds" -rss_limit_mb="$memory_mb" -timeout="$input_seconds" \
        -print_final_stats=1 -artifact_prefix="$scratch/crashes/$target-" "${directories[@]}" \
        >"$scratch/logs/$target.log" 2>&1 || result=CRASHED
    printf '%s\n' "$result" >"$scratch/logs/$target.result"
}

# The messages that scripts write, and those with words that they refuse (Tests/Scripts/test_event_format.py).
mkdir -p "$scratch/corpus/FuzzChannel"
python3 - Tests/Fixtures/vectors/event_format.json "$scratch/corpus/FuzzChannel" <<'END'
import json, pathlib, sys
forms = json.loads(pathlib.Path(sys.argv[1]).read_text())
messages = [*(each["message"] for each in forms["written"]), *forms["refused"], *forms["reset"]]
for number, message in enumerate(messages):
    pathlib.Path(sys.argv[2], f"form-{number}").write_bytes(message.encode())
END

rm -f "$scratch"/logs/*.result
at_once=$(nproc)
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
    fuzz "$target" &
done
wait

failed=()
for target in "${targets[@]}"; do
    result=$(cat "$scratch/logs/$target.result" 2>/dev/null || echo NO RESULT)
    [ "$result" = clean ] || failed+=("$target")
    features=$(grep -oE 'ft: [0-9]+' "$scratch/logs/$target.log" | tail -n 1 | cut -d ' ' -f 2 || true)
    row "$target" "$(statistic "$target" number_of_executed_units)" "$(statistic "$target" average_exec_per_sec)" \
        "${features:--}" "$(find "$scratch/corpus/$target" -type f | wc -l)" "$result"
done
for target in ${failed[@]+"${failed[@]}"}; do
    tail -n 40 "$scratch/logs/$target.log" >&2
    printf 'fuzz: reproduce with: %s %s\n' "$binaries/$target" \
        "$(ls -t "$scratch/crashes/$target-"* 2>/dev/null | head -n 1)" >&2
done
printf '\n'
printf '%s\n' "${table[@]}"
[ ${#failed[@]} -eq 0 ] || exit 1
