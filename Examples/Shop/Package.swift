// swift-tools-version: 6.0
import PackageDescription

// A package that is depended on by its path has the name of its folder: here, of the clone.
let name = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "switchboard"

// For Apple's systems. In Xcode, put both files of Sources/Shop into an app of your own, which adds the package.
let package = Package(
    name: "Shop", platforms: [.iOS(.v17), .macOS(.v14)], dependencies: [.package(path: "../..")],
    targets: [
        .executableTarget(name: "Shop", dependencies: [.product(name: "SwitchboardClient", package: name)])
    ])
