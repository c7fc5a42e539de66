#!/usr/bin/env bash
# Writes the guide of the Swift library, with every public symbol, as a folder of HTML. A warning is a failure.
#
# usage: scripts/client-docs.sh FOLDER
#
# FOLDER gets these: `guide` (the pages), `symbols` (the symbol graph) and `modules` (the library as Apple's systems
# see it, for programs whose types are to be checked).
set -euo pipefail
out=$(realpath --canonicalize-missing "${1:?usage: scripts/client-docs.sh FOLDER}")
cd "$(dirname "$0")/.."
readonly flags=(-swift-version 6 -enable-upcoming-feature InternalImportsByDefault)
mkdir -p "$out/symbols" "$out/modules"

# The parts for Apple's systems are documented, too: with a stand-in for SwiftUI.
swiftc -emit-module -parse-as-library "${flags[@]}" -module-name SwiftUI -o "$out/modules/SwiftUI.swiftmodule" \
    Tests/ClientStubs/SwiftUI.swift
mapfile -t sources < <(find Sources/SwitchboardClient -name '*.swift' | sort)
swiftc -emit-module "${flags[@]}" -enable-upcoming-feature MemberImportVisibility -warnings-as-errors \
    -D SWITCHBOARD_TYPES -I "$out/modules" -module-name SwitchboardClient \
    -o "$out/modules/SwitchboardClient.swiftmodule" \
    -emit-symbol-graph -emit-symbol-graph-dir "$out/symbols" "${sources[@]}"
docc convert Sources/SwitchboardClient/SwitchboardClient.docc --additional-symbol-graph-dir "$out/symbols" \
    --output-path "$out/guide" --warnings-as-errors --fallback-bundle-identifier switchboard.client
