#!/usr/bin/env bash
# Builds the Swift example of docs/clients.md as an app's author does, in a package of its own, and lets it live
# through the end of its gateway. Checks the types of what only Apple's systems build.
#
# usage: scripts/client-package.sh        (SWITCHBOARD_BIN names the gateway; by default the release build)
set -euo pipefail
cd "$(dirname "$0")/.."
readonly clone=$PWD
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT

# The name of a package that is depended on by its path is that of its folder.
cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let name = "$(basename "$clone")"
let package = Package(
    name: "app", platforms: [.macOS(.v13)], dependencies: [.package(path: "$clone")],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "SwitchboardClient", package: name),
                .product(name: "SwitchboardClientLinux", package: name, condition: .when(platforms: [.linux])),
            ])
    ])
MANIFEST
mkdir -p "$package/Sources/App"
awk '/^```swift$/ { getline; inside = /^\/\/ SwitchboardClient$/ } /^```$/ { inside = 0 } inside' docs/clients.md \
    >"$package/Sources/App/main.swift"

# The parts for Apple systems: their types are checked against the Foundation of Linux, and a stand-in for SwiftUI.
readonly checks=(-swift-version 6 -enable-upcoming-feature InternalImportsByDefault)
swiftc -emit-module -parse-as-library -module-name SwiftUI -o "$package/SwiftUI.swiftmodule" \
    Tests/ClientStubs/SwiftUI.swift
mapfile -t sources < <(find Sources/SwitchboardClient -name '*.swift')
swiftc -typecheck -warnings-as-errors "${checks[@]}" -D SWITCHBOARD_TYPES -I "$package" -module-name SwitchboardClient \
    "${sources[@]}"

swift build --package-path "$package"
swift build --package-path Examples/Chat --scratch-path "$package/chat"
.venv/bin/python Tests/ChaosTests/client_app.py "$package/.build/debug/App"
