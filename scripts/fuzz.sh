#!/usr/bin/env bash
# Builds the fuzz targets with AddressSanitizer and runs each for a time, stopping at the first crash.
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
[ ${#targets[@]} -gt 0 ] || targets=(FuzzHTTP FuzzWebSocket FuzzNative FuzzChannel FuzzJWT FuzzTopic FuzzScriptHeader)

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

failed=
for target in "${targets[@]}"; do
    corpus=$scratch/corpus/$target
    mkdir -p "$corpus"
    directories=("$corpus")
    [ ! -d "Tests/Fuzz/$target/corpus" ] || directories+=("Tests/Fuzz/$target/corpus")
    printf 'fuzz: %s for %s s\n' "$target" "$seconds"
    if "$binaries/$target" -max_total_time="$seconds" -rss_limit_mb="$memory_mb" -timeout="$input_seconds" \
        -print_final_stats=1 -artifact_prefix="$scratch/crashes/$target-" "${directories[@]}" \
        >"$scratch/logs/$target.log" 2>&1; then
        result=clean
    else
        result=CRASHED
        failed=$target
    fi
    features=$(grep -oE 'ft: [0-9]+' "$scratch/logs/$target.log" | tail -n 1 | cut -d ' ' -f 2 || true)
    row "$target" "$(statistic "$target" number_of_executed_units)" "$(statistic "$target" average_exec_per_sec)" \
        "${features:--}" "$(find "$corpus" -type f | wc -l)" "$result"
    [ -z "$failed" ] || break
done

if [ -n "$failed" ]; then
    tail -n 40 "$scratch/logs/$failed.log" >&2
    printf 'fuzz: reproduce with: %s %s\n' "$binaries/$failed" \
        "$(ls -t "$scratch/crashes/$failed-"* 2>/dev/null | head -n 1)" >&2
fi
printf '\n'
printf '%s\n' "${table[@]}"
[ -z "$failed" ] || exit 1
