#!/usr/bin/env bash
# Builds the release of the last commit twice, in two folders of different names, and compares the sums.
#
# usage: scripts/reproducible.sh [--against SHA256SUMS] [DIR]
#   --against  builds once, and compares with the sums of a release that somebody else made of this commit
#   DIR        where it builds; default .build/reproducible. It is removed when the sums agree
#
# Each build takes minutes. The bill of materials names the packages of this machine, so both builds need the same ones.
# exit: 0 when every file is the same
set -euo pipefail
cd "$(dirname "$0")/.."
sums=
if [ "${1:-}" = --against ]; then
    sums=$(readlink -f "${2:?}")
    shift 2
fi
readonly place=${1:-$PWD/.build/reproducible} sums
rm -rf "$place"
mkdir -p "$place"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# build FOLDER: makes the release below the place.
build() {
    local log=$place/${1//\//-}.log
    mkdir -p "$place/$1"
    git archive HEAD | tar --extract --directory "$place/$1"
    make --directory "$place/$1" --no-print-directory release >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        printf 'reproducible: the build in %s failed\n' "$place/$1" >&2
        exit 1
    }
}

build the/other-one
if [ -z "$sums" ]; then build one; fi
if ! diff "${sums:-$place/one/.build/dist/SHA256SUMS}" "$place/the/other-one/.build/dist/SHA256SUMS"; then
    printf 'reproducible: the two releases differ; what was built lies in %s\n' "$place" >&2
    exit 1
fi
cat "$place/the/other-one/.build/dist/SHA256SUMS"
printf 'reproducible: two builds of %s, one sum for each file\n' "$(git rev-parse --short HEAD)"
rm -rf "$place"
