import Core

/// The settings in effect with their sources; it holds no secret.
public struct SettingsReport: Sendable, Equatable, CustomStringConvertible {
    /// One setting in effect.
    public struct Line: Sendable, Equatable {
        /// The name; limits and namespaces are `limits.NAME` and `namespaces.NAME`.
        public let name: String
        /// The value, masked where it may hold a secret; empty when there is none.
        public let value: String
        /// The source of the value.
        public let source: SettingSource
    }

    /// All settings of the command in table order, then changed limits, then namespaces by name.
    public private(set) var lines: [Line] = []

    /// A report without settings.
    public init() {}

    /// Three columns, each setting on a line that ends in a line feed.
    public var description: String {
        let nameWidth = lines.map(\.name.count).max() ?? 0
        let valueWidth = min(48, lines.map(\.value.count).max() ?? 0)
        var text = ""
        for line in lines {
            text += SettingsReport.padded(line.name, nameWidth) + "  " + SettingsReport.padded(line.value, valueWidth)
            text += "  (" + line.source.printable + ")\n"
        }
        return text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension SettingsReport {
    /// Lists the settings in effect for the values' command.
    init(_ values: SettingValues, _ file: FileReader) {
        for setting in Setting.of(values.command) where !SettingsReport.isListed(setting.kind) {
            lines.append(SettingsReport.line(setting, values))
        }
        for entry in Limits.table {
            guard let source = values.limitSources[entry.name] else { continue }
            lines.append(
                Line(name: "limits." + entry.name, value: "\(values.limits[keyPath: entry.path])", source: source))
        }
        let unchanged = Limits.table.count - values.limitSources.count
        lines.append(Line(name: "limits", value: "\(unchanged) at their defaults", source: .defaults))
        for (key, names) in [("services", file.services.map(\.name)), ("webhooks", file.webhooks.map(\.name))] {
            for name in names { lines.append(Line(name: key + "." + name, value: "", source: file.source(key))) }
        }
        // Not every command uses topics.
        guard Setting.of(values.command).contains(where: { $0.kind == .namespaces }) else { return }
        let names = Set(file.namespaces.keys).union(file.namespacesChanged).sorted()
        for name in names {
            let changed = file.namespacesChanged.contains(name)
            let key = "namespaces." + name
            lines.append(
                Line(
                    name: key, value: file.namespaces[name].map(SettingsReport.text) ?? "removed",
                    source: file.sourceOfPolicy(key, isChanged: changed)))
        }
        for path in Set(file.sockets.keys).union(file.socketsChanged).sorted() {
            let key = "sockets." + path
            let source = file.sourceOfPolicy(key, isChanged: file.socketsChanged.contains(path))
            guard source != .defaults else { continue }
            let text = file.sockets[path].map(SettingsReport.text) ?? "closed"
            lines.append(Line(name: key, value: text, source: source))
        }
    }

    /// Whether a setting is listed by its members instead of as one line.
    private static func isListed(_ kind: ValueKind) -> Bool {
        [.limit, .namespaces, .sockets, .services, .webhooks].contains(kind)
    }

    private static func text(_ rules: SocketRules) -> String {
        var words: [String] = []
        if !rules.join.isEmpty { words.append("join=" + rules.join.map(\.description).joined(separator: ",")) }
        let aliases = rules.alias.map { $0.key + ":" + $0.value }.sorted()
        if !aliases.isEmpty { words.append("alias=" + aliases.joined(separator: ",")) }
        if !rules.fill.isEmpty { words.append("fill=" + rules.fill.joined(separator: ",")) }
        if rules.foldsPath { words.append("fold=lower") }
        let firsts = rules.first.map { "\($0.key):\($0.value)" }.sorted()
        if !firsts.isEmpty { words.append("first=" + firsts.joined(separator: ",")) }
        return words.isEmpty ? "plain" : words.joined(separator: " ")
    }

    private static func line(_ setting: Setting, _ values: SettingValues) -> Line {
        if setting.name == "drain-seconds" {
            let milliseconds = values.limits.drainMs
            let whole = milliseconds % 1_000 == 0
            let source = values.limitSources["drainMs"] ?? .defaults
            return Line(
                name: setting.name, value: whole ? "\(milliseconds / 1_000)" : "\(milliseconds) ms", source: source)
        }
        if setting.name == "trace-bytes-max" {
            return Line(
                name: setting.name, value: "\(values.limits.traceBytesMax)",
                source: values.limitSources["traceBytesMax"] ?? .defaults)
        }
        guard values.has(setting.name) else {
            return Line(name: setting.name, value: setting.defaultText, source: .defaults)
        }
        let texts = values.texts(setting.name).map { setting.secret ? SettingURL.masked($0) : $0 }
        return Line(
            name: setting.name, value: texts.map { SettingsReport.printable($0, setting.kind) }.joined(separator: ", "),
            source: values.source(setting.name))
    }

    private static func printable(_ text: String, _ kind: ValueKind) -> String {
        [.file, .directory, .keyFile].contains(kind) ? PrintableText.path(text) : PrintableText.clean(text)
    }

    private static func text(_ policy: NamespacePolicy) -> String {
        "subscribe=\(policy.subscribe.rawValue) publish=\(policy.publish.rawValue) "
            + "log=\(policy.logEventsMax)/\(policy.logSeconds)s"
            + (policy.logBytesMax.map { "/\($0)B" } ?? "") + " slow=\(policy.slow.rawValue)"
            + (policy.follows ? " follows" : "") + (policy.presence ? " presence" : "")
            + (policy.flatten ? " flatten" : "")
    }
}
