// swift-tools-version: 6.0
import PackageDescription

// A package that is depended on by its path has the name of its folder: here, of the clone.
let name = Context.packageDirectory.split(separator: "/").dropLast(3).last.map(String.init) ?? "switchboard"

let package = Package(
    name: "AppCrowd", platforms: [.macOS(.v15)], dependencies: [.package(path: "../../..")],
    targets: [
        .executableTarget(
            name: "AppCrowd",
            dependencies: [
                .product(name: "SwitchboardClient", package: name),
                .product(name: "SwitchboardClientLinux", package: name),
            ])
    ])
