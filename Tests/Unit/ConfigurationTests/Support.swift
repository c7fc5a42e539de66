import Configuration
import TestSupport

/// Reads a command line with an environment and, when given, a config file called `c.json`.
func read(_ arguments: String, env: [String: String] = [:], file: String? = nil) -> CommandLineResult {
    var words = arguments.split(separator: " ").map { String($0) }
    if file != nil { words += ["--config", "c.json"] }
    return Configuration.CommandLine.parse(arguments: words, environment: env, packs: StandardTables.packs) { path in
        path == "c.json" ? file.map { Array($0.utf8) } : nil
    }
}

/// The problems, as printed; empty for anything else.
func problems(_ result: CommandLineResult) -> [String] {
    guard case .problems(let list) = result else { return [] }
    return list.map(\.description)
}

/// The gateway's settings; `nil` for anything else.
func gateway(_ result: CommandLineResult) -> GatewaySettings? {
    switch result {
    case .run(.gateway(let settings)), .run(.check(let settings)): settings
    default: nil
    }
}

/// The least that a gateway needs.
let plain = "gateway --listen-plain 127.0.0.1:0"
