import Core

/// Reads the `SWITCHBOARD_*` variables; values of repeatable settings are separated by commas.
///
/// Every such variable must be a setting of some command, so that a mistyped name never leaves a default in effect.
/// Settings of other commands are ignored, since several commands often share an environment.
struct EnvironmentReader {
    /// The given settings, in the order of their names.
    private(set) var given: [GivenSetting] = []
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    init(command: CommandName, environment: [String: String]) {
        let ours = environment.keys.filter { $0.hasPrefix(Setting.environmentPrefix) }.sorted()
        for name in ours {
            guard let value = environment[name], !EnvironmentReader.isServiceLink(name, value) else { continue }
            read(name, value, command)
        }
    }

    private mutating func read(_ name: String, _ value: String, _ command: CommandName) {
        let source = SettingSource.environment(name)
        guard let setting = Setting.all.first(where: { $0.environmentName == name }) else {
            let names = Setting.all.filter { $0.places.contains(.environment) }.map(\.environmentName)
            problems.append(
                SettingProblem(source: source, message: "unknown variable" + EnvironmentReader.hint(names, to: name)))
            return
        }
        guard setting.places.contains(.environment) else {
            let place = setting.places.contains(.flag) ? "with " + setting.flag : "in the config file"
            problems.append(SettingProblem(source: source, message: "not a variable; set it " + place))
            return
        }
        guard setting.commands.contains(command) else { return }
        let texts = setting.repeatable ? EnvironmentReader.list(value) : [value]
        given.append(GivenSetting(setting: setting, texts: texts, source: source))
    }

    /// Compares names without the common prefix, which would make every name look similar.
    private static func hint(_ names: [String], to name: String) -> String {
        let count = Setting.environmentPrefix.count
        let bare = names.map { String($0.dropFirst(count)) }
        return NearestName.hint(bare, to: String(name.dropFirst(count)), prefix: Setting.environmentPrefix)
    }

    /// The parts between commas without the spaces around them.
    private static func list(_ value: String) -> [String] {
        value.split(separator: ",", omittingEmptySubsequences: false).map { part in
            var part = part.drop { $0 == " " }
            while part.last == " " { part.removeLast() }
            return String(part)
        }
    }

    /// Whether Kubernetes set the variable.
    ///
    /// It describes a service named `switchboard...` to every container of its namespace (`SWITCHBOARD_SERVICE_HOST`,
    /// `SWITCHBOARD_PORT=tcp://...`, `SWITCHBOARD_PORT_8443_TCP_ADDR`).
    private static func isServiceLink(_ name: String, _ value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") || name.contains("_SERVICE_PORT_") {
            return true
        }
        let protocols = ["tcp", "udp", "sctp"]
        if name.hasSuffix("_PORT") { return protocols.contains { value.hasPrefix($0 + "://") } }
        let words = name.split(separator: "_")
        return words.indices.dropLast(2).contains { index in
            words[index] == "PORT" && words[index + 1].utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
                && protocols.contains(words[index + 2].lowercased())
        }
    }
}
