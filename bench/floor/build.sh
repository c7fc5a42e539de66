#!/usr/bin/env bash
# Compiles the floor into .build/floor, unless it is there and newer than its sources; prints nothing.
set -euo pipefail
cd "$(dirname "$0")"

built=../../.build/floor
mkdir -p ../../.build
# Tests that run beside each other want it at the same time; one builds it.
exec {lock}>"$built.lock"
flock "$lock"
for source in ./*.c ./*.h build.sh; do
    if [ ! -x "$built" ] || [ "$source" -nt "$built" ]; then
        "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -o "$built.new" ./*.c -lssl -lcrypto
        mv "$built.new" "$built"
        break
    fi
done
