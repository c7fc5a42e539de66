#!/usr/bin/env bash
# Builds the Swift examples of docs/clients.md and README.md as an app's author does, in a package of its own. The first
# one lives through the end of its gateway, the second one listens to `switchboard dev`. So does the content of
# Examples/Shop, without its views. Checks the types of what only Apple's systems build.
#
# usage: scripts/client-package.sh [--git]    (SWITCHBOARD_BIN names the gateway; by default the release build)
#   --git  depends on the last commit, by the URL of a repository and a version; otherwise on this folder by its path
set -euo pipefail
cd "$(dirname "$0")/.."
readonly clone=$PWD
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT

# The name of a package that is depended on is that of its folder or repository.
name=$(basename "$clone") source="path: \"$clone\""
if [ "${1:-}" = --git ]; then
    name=switchboard source="url: \"file://$package/switchboard.git\", from: \"1.0.0\""
    git clone --quiet --bare "$clone" "$package/switchboard.git"
    git -C "$package/switchboard.git" -c user.name=app -c user.email=app@localhost tag 1.0.0 HEAD
fi
cat >"$package/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let products: [Target.Dependency] = [
    .product(name: "SwitchboardClient", package: "$name"),
    .product(name: "SwitchboardClientLinux", package: "$name", condition: .when(platforms: [.linux])),
]
let package = Package(
    name: "app", platforms: [.macOS(.v14)], dependencies: [.package($source)],
    targets: [
        .executableTarget(name: "App", dependencies: products),
        .executableTarget(name: "Readme", dependencies: products),
        .executableTarget(name: "Room", dependencies: products),
    ])
MANIFEST
mkdir -p "$package/Sources"/{App,Readme,Room}
cp Examples/Shop/Sources/Shop/Room.swift Tests/ClientStubs/RoomProgram.swift "$package/Sources/Room"
# What a reader finds at the place of `make run` is elsewhere here.
awk '/^```swift$/ { inside = 1; next } /^```$/ { inside = 0 } inside' README.md |
    sed -e 's|"wss://127.0.0.1:8443/ws"|CommandLine.arguments[1]|' \
        -e 's|".switchboard/cert.pem"|CommandLine.arguments[2]|' >"$package/Sources/Readme/main.swift"
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
.venv/bin/python Tests/Chaos/client_app.py "$package/.build/debug"/{App,Readme,Room}
