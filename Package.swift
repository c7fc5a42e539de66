// swift-tools-version: 6.2
//
// One target per room; dependencies point down only (docs/decisions.md, D1). Nothing is fetched: the package
// builds with the toolchain and Debian's libssl-dev, libhiredis-dev, zlib1g-dev and libcurl4-openssl-dev.
import PackageDescription

/// The name of the package for SwiftPM: that of its folder, in lower case.
let folderName = Context.packageDirectory.split(separator: "/").last?.lowercased() ?? ""

/// A release build does not tell in which folder it was made: two builds of a commit are alike (docs/decisions.md, D142).
///
/// Generated files lie in a folder that has the package's name, which is that of its folder. The first prefix that fits
/// counts; some paths are below the folder of the build when they are compared. Breadcrumbs would name the cache of the
/// C modules, and its names depend on the folder. The digest of each object, by which the compiler spares work, covers
/// the object's path; so it is left out.
let placeless: SwiftSetting = .unsafeFlags(
    [
        "-file-prefix-map", "\(Context.packageDirectory)/.build/plugins/outputs/\(folderName)=generated",
        "-file-prefix-map", "\(Context.packageDirectory)=switchboard",
        "-file-prefix-map", ".build/plugins/outputs/\(folderName)=generated",
        "-Xfrontend", "-no-clang-module-breadcrumbs",
        "-Xfrontend", "-disable-incremental-llvm-codegen",
    ], .when(configuration: .release))

/// Settings of every Swift target: complete concurrency checking, visible `unsafe`, no warning tolerated.
let strict: [SwiftSetting] = [
    placeless,
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Rooms that a message passes: their functions are specialised and inlined in the rooms above.
///
/// For all rooms it would make the release build two thirds dearer, and nothing faster.
let inlined: [SwiftSetting] = [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// Rooms whose state changes only by pure structs that call nobody.
///
/// A release build does not check at run time that no two accesses to it overlap. The tests run a build that does
/// (docs/decisions.md, D133).
let leaves: [SwiftSetting] = [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// Settings of what apps depend on: no `unsafeFlags`, and no warning of a later compiler ends an app's build.
let published: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict + more)
}

/// Rooms that each start of a process goes through, 250 scripts long: a debug build would take a second for it.
let atEachStart: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name + "Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/Unit/" + name + "Tests",
        swiftSettings: strict)
}

/// A folder whose files are part of the program, beside one Swift file of the target's name.
func embedded(_ name: String, in folder: String, exclude: [String] = []) -> Target {
    .target(
        name: name, path: folder, exclude: exclude, sources: [name + ".swift"],
        swiftSettings: [.swiftLanguageMode(.v6), placeless], plugins: ["EmbedFiles"])
}

/// libFuzzer targets, one per parser; built by `make fuzz` only, since they have no `main` of their own.
let fuzzers: [Target] =
    Context.environment["SWITCHBOARD_FUZZ"] == nil
    ? []
    : [
        ("FuzzHTTP", ["HTTPCodec", "Core"]), ("FuzzWebSocket", ["Compression", "WebSocketCodec", "Core"]),
        ("FuzzNative", ["Dialects", "Core"]), ("FuzzEngineIO", ["Dialects", "Core"]),
        ("FuzzSocketIO", ["Dialects", "Core"]), ("FuzzChannel", ["Core"]), ("FuzzJWT", ["Rights", "Core"]),
        ("FuzzTopic", ["Core"]), ("FuzzScriptHeader", ["Commands", "Core"]), ("FuzzPhoenix", ["Dialects", "Core"]),
        ("FuzzEmitter", ["Dialects", "Core"]),
    ].map { (name: String, dependencies: [Target.Dependency]) in
        .executableTarget(
            name: name, dependencies: dependencies, path: "Tests/Fuzz/" + name, exclude: ["corpus"],
            swiftSettings: strict + [
                .unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"])
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])])
    }

let package = Package(
    name: "switchboard",
    // The client's. Without them Xcode builds it for the oldest systems, which have no `async`.
    platforms: [.iOS(.v16), .macOS(.v13), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "switchboard", targets: ["switchboard"]),
        .executable(name: "switchboard-courier", targets: ["switchboard-courier"]),
        .library(name: "SwitchboardClient", targets: ["SwitchboardClient"]),
        .library(name: "SwitchboardClientLinux", targets: ["SwitchboardClientLinux"]),
    ],
    targets: [
        // C headers and inline shims only.
        .target(name: "CLinux"),
        // OpenSSL's macros pass on the name of the file that calls them: the folder in which the release was built.
        .target(
            name: "COpenSSL", cSettings: [.define("OPENSSL_NO_FILENAMES")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CHiredis", linkerSettings: [.linkedLibrary("hiredis")]),

        // Pure: bytes in, values out. No sockets, clocks, threads or C.
        room("Core", [], atEachStart + inlined),
        room("HTTPCodec", ["Core"], inlined),
        room("WebSocketCodec", ["Core"], inlined),
        room("Dialects", ["Core"], inlined),
        room("Configuration", ["Core"]),
        room("Push", ["Core"]),
        room("Traces", ["Core"], inlined),

        // The machine.
        room("Compression", ["Core", "WebSocketCodec", "CZlib"], inlined),
        room("Reactors", ["CLinux"], inlined + leaves),
        room("Connections", ["Core", "Reactors", "CLinux", "COpenSSL"], inlined + leaves),
        room("Rights", ["Core", "COpenSSL"], inlined),
        room("RedisLink", ["Core", "Reactors", "Connections", "CHiredis"], inlined),
        room("Service", ["Core", "Reactors", "Connections", "HTTPCodec", "RedisLink", "Configuration"]),

        room(
            "Commands",
            ["APIDescription", "Core", "HTTPCodec", "Reactors", "RedisLink", "Rights", "Scripts", "Service"],
            atEachStart),

        // The product: the gateway's rooms from the bottom to the top, the worker, the commands.
        room(
            "Operations",
            [
                "Commands", "Configuration", "Core", "HTTPCodec", "Reactors", "RedisLink", "Rights", "Service",
                "Connections",
            ], inlined),
        room(
            "Topics",
            [
                "Commands", "Compression", "Core", "Dialects", "Operations", "Reactors", "Rights", "Connections",
                "Traces", "WebSocketCodec",
            ], inlined),
        room(
            "EventLogs",
            [
                "Commands", "Core", "Dialects", "Operations", "Reactors", "RedisLink", "Rights", "Service", "Topics",
            ], inlined),
        room(
            "Calls",
            [
                "Commands", "Configuration", "Core", "EventLogs", "Operations", "Reactors", "RedisLink", "Rights",
                "Service",
            ]),
        room(
            "Presence",
            [
                "Connections", "Core", "Dialects", "EventLogs", "Operations", "Reactors", "RedisLink", "Rights",
                "Topics",
            ]),
        room(
            "Sessions",
            [
                "Commands", "Core", "Dialects", "Operations", "Reactors", "Rights", "Service", "Topics", "Connections",
                "Traces",
            ], inlined),
        room(
            "Transports",
            [
                "Configuration", "Core", "Dialects", "HTTPCodec", "Operations", "Reactors", "RedisLink", "Rights",
                "Service", "Sessions", "Topics", "Connections", "WebSocketCodec",
            ], inlined),
        room(
            "Fleet",
            [
                "Configuration", "Connections", "Core", "Operations", "Reactors", "RedisLink", "Rights", "Service",
                "Sessions", "Topics", "Traces", "Transports",
            ]),
        room(
            "Bus", ["Configuration", "Core", "Operations", "Reactors", "RedisLink", "Service", "Connections"], inlined),
        room(
            "Bridge",
            [
                "Commands", "Configuration", "Connections", "Core", "Dialects", "EventLogs", "Operations", "Reactors",
                "RedisLink", "Rights", "Service",
            ]),
        room(
            "HTTPSurface",
            [
                "Calls", "Commands", "Configuration", "Core", "Dialects", "EventLogs", "Fleet", "HTTPCodec",
                "Operations", "Reactors", "RedisLink", "Rights", "Service", "Topics", "Connections", "Traces",
                "Transports", "WebPages", "WebSocketCodec",
            ]),
        room(
            "Gateway",
            [
                "Bridge", "Bus", "Calls", "CLinux", "Commands", "Configuration", "Core", "Dialects", "EventLogs",
                "Fleet",
                "HTTPCodec", "HTTPSurface", "Operations", "Presence", "Reactors", "RedisLink", "Rights", "Service",
                "Sessions", "Topics", "Connections", "Traces", "Transports", "WebPages",
            ]),
        // The terminal of operators, which asks all gateways.
        room(
            "Top",
            [
                "Calls", "CLinux", "Configuration", "Connections", "Core", "Fleet", "Operations", "Reactors",
                "RedisLink", "Rights", "Service", "Transports",
            ]),
        // The shop of `switchboard dev`.
        room(
            "Demo",
            [
                "Calls", "Commands", "Configuration", "Core", "Dialects", "EventLogs", "Gateway", "HTTPCodec",
                "HTTPSurface", "Operations", "Reactors", "RedisLink", "Rights", "Service", "Connections", "WebPages",
                "WebSocketCodec",
            ]),
        room(
            "Worker",
            [
                "Commands", "Configuration", "Core", "HTTPCodec", "Reactors", "RedisLink", "Rights", "Service",
                "Connections",
            ]),
        // The tests of packs: `switchboard test`.
        room("PackTests", ["Commands", "Configuration", "Core", "Rights", "Worker"]),
        .executableTarget(
            name: "switchboard",
            dependencies: [
                "Bridge", "CLinux", "Commands", "Configuration", "Core", "Demo", "Gateway", "HTTPCodec", "Operations",
                "PackTests", "Reactors", "RedisLink", "Rights", "Service", "Connections", "Top", "WebSocketCodec",
                "Worker",
            ],
            swiftSettings: strict),

        // Calls outside, by libcurl: gateways and workers stay without it (docs/decisions.md, D82).
        room(
            "Courier",
            [
                "CCurl", "Configuration", "Core", "HTTPCodec", "Push", "Reactors", "RedisLink", "Rights", "Service",
                "Connections",
            ]),
        .executableTarget(
            name: "switchboard-courier",
            dependencies: ["Courier", "Configuration", "Core", "Service"], swiftSettings: strict),

        .executableTarget(
            name: "switchboard-bench",
            dependencies: [
                "Compression", "Core", "Reactors", "Connections", "RedisLink", "Rights", "Service", "WebSocketCodec",
                "CLinux", "COpenSSL", "ReportPage",
            ],
            path: "bench/Sources",
            // The tool takes millions of messages a second on one core; checking every access costs it 4 %.
            swiftSettings: strict + [
                .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
            ]),

        // The apps' library: nothing but Foundation beneath it (docs/archive/decisions.md, D77). Linux needs sockets of
        // our own.
        .target(name: "SwitchboardClient", swiftSettings: published),
        .target(
            name: "SwitchboardClientLinux", dependencies: ["SwitchboardClient", "COpenSSL"], swiftSettings: published),

        // Embedded files: the plugin takes what lies in the folder, and no list has to be kept. One folder of lua/ is one
        // pack.
        embedded("APIDescription", in: "api"),
        embedded("Scripts", in: "lua", exclude: ["README.md"]),
        embedded("WebPages", in: "web"),
        embedded("ReportPage", in: "bench/report"),
        .plugin(name: "EmbedFiles", capability: .buildTool()),

        .target(
            name: "TestSupport", dependencies: ["Configuration", "Core", "Scripts"], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("Core", ["Core"]),
        tests("HTTPCodec", ["HTTPCodec", "Core"]),
        tests("WebSocketCodec", ["WebSocketCodec", "Core"]),
        tests("Compression", ["Compression", "WebSocketCodec", "Core"]),
        tests("Dialects", ["Dialects", "Core"]),
        tests("Configuration", ["Configuration", "Core"]),
        tests("Push", ["Push", "Core"]),
        tests("Traces", ["Traces", "Core"]),
        tests("Reactors", ["Reactors", "CLinux"]),
        tests("Connections", ["Connections", "Reactors", "Core", "CLinux", "COpenSSL"]),
        tests("Rights", ["Rights", "Core", "COpenSSL"]),
        tests("RedisLink", ["RedisLink", "Reactors", "Core"]),
        tests(
            "Commands",
            ["APIDescription", "Commands", "Core", "HTTPCodec", "RedisLink", "Rights", "Scripts", "Service"]),
        tests("Worker", ["Worker", "Commands", "Core", "RedisLink", "Scripts"]),
        tests("Courier", ["Courier", "Configuration", "Core", "Push", "Reactors", "RedisLink", "Rights", "Service"]),
        tests("SwitchboardClient", ["SwitchboardClient", "SwitchboardClientLinux"]),
        tests("Bench", ["switchboard-bench", "Core"]),
        tests("Service", ["Service", "Core", "Reactors", "RedisLink"]),
        tests(
            "Operations",
            ["Operations", "Commands", "Configuration", "Core", "HTTPCodec", "Reactors", "RedisLink", "Service"]),
        tests(
            "Topics",
            [
                "Topics", "Commands", "Core", "Dialects", "Operations", "Reactors", "Rights", "Connections", "Traces",
            ]),
        tests("EventLogs", ["EventLogs", "Commands", "Core", "RedisLink", "Rights", "Topics"]),
        tests("Calls", ["Calls", "Core", "RedisLink"]),
        tests("Presence", ["Presence", "Core"]),
        tests(
            "Sessions",
            [
                "Sessions", "Commands", "Core", "Dialects", "Operations", "Reactors", "Rights", "Service", "Topics",
                "Connections", "Traces",
            ]),
        tests("Transports", ["Transports", "Core", "Dialects", "Reactors", "Rights", "Topics", "Connections"]),
        tests("Fleet", ["Fleet", "Core", "Operations", "Rights"]),
        tests("Top", ["Top", "Core"]),
        tests("Bus", ["Bus", "Core", "Operations", "RedisLink"]),
        tests("Bridge", ["Bridge", "Core"]),
        tests("HTTPSurface", ["HTTPSurface", "Core", "EventLogs", "HTTPCodec"]),
        tests("Gateway", ["Gateway", "Commands", "Configuration", "Core", "EventLogs", "Rights", "Scripts"]),
        tests("Demo", ["Demo", "Core", "HTTPCodec", "Rights"]),
        tests("PackTests", ["PackTests", "Commands", "Core"]),
        tests("Check", ["switchboard", "Configuration", "Core", "RedisLink"]),
    ] + fuzzers
)
