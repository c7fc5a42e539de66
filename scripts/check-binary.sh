#!/usr/bin/env bash
# Checks what the release binary carries and needs: the Swift runtime inside, no Foundation, and outside only the
# C library and libssl, libcrypto, libhiredis, libz; the courier also needs libcurl, and no other binary may.
#
# usage: scripts/check-binary.sh [BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."

readonly binary=${1:-.build/release/switchboard}
# Everything a plain C++ program needs anyway, then the four we chose.
readonly plain='ld-linux-.*|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+'
own='libssl|libcrypto|libhiredis|libz'
[ "${binary##*/}" != switchboard-courier ] || own+='|libcurl'
readonly allowed="^($plain|$own)\.so(\..*)?\$"

fail() {
    printf 'check-binary: %s\n' "$*" >&2
    exit 1
}

[ -x "$binary" ] || fail "$binary is missing; run 'make build' first"

needed=$(readelf --dynamic --wide "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ] || fail "$binary names no shared library at all; is it a dynamic executable?"
unexpected=$(grep -Ev "$allowed" <<<"$needed" || true)
[ -z "$unexpected" ] || fail "unexpected shared libraries: $(tr '\n' ' ' <<<"$unexpected")"

# A program must not load libraries from the folder that it happens to lie in.
places=$(readelf --dynamic --wide "$binary" | grep -E '\((RPATH|RUNPATH)\)' || true)
[ -z "$places" ] || fail "libraries are looked for at other places than the system's: $places"

absent=$(ldd "$binary" | grep 'not found' || true)
[ -z "$absent" ] || fail "not found here: $absent"

# Swift symbols carry their module's name with its length. A stripped binary would pass unseen, so it is refused.
symbols=$(nm "$binary" 2>/dev/null || true)
grep -q ' _\?main$' <<<"$symbols" || fail "$binary has no symbol table, so it cannot be checked for Foundation"
foundation=$(grep -cE '\$s(10Foundation|20FoundationEssentials|21_FoundationICU|25FoundationInternationalization)' \
    <<<"$symbols" || true)
[ "$foundation" -eq 0 ] || fail "$foundation symbols of Foundation are linked in"

printf 'check-binary: %s, %s bytes, needs %s\n' "$binary" "$(stat --format=%s "$binary")" \
    "$(sort <<<"$needed" | tr '\n' ' ')"
