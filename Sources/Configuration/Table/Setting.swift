/// One setting, as flags, environment, config file, help and documentation use it.
public struct Setting: Sendable {
    /// The places in which a setting may be written.
    public struct Places: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a set of its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// `--name`.
        public static let flag = Places(rawValue: 1)
        /// `SWITCHBOARD_NAME`.
        public static let environment = Places(rawValue: 2)
        /// A key of the config file.
        public static let file = Places(rawValue: 4)
        /// All three.
        public static let everywhere: Places = [.flag, .environment, .file]
    }

    /// The name, lower case with hyphens; the flag without its dashes.
    public let name: String
    /// The kind of its values.
    public let kind: ValueKind
    /// Whether several values may be given.
    public let repeatable: Bool
    /// The places in which it may be written.
    public let places: Places
    /// The commands it belongs to.
    public let commands: [CommandName]
    /// The default as help shows it; empty when there is none.
    public let defaultText: String
    /// One sentence for the operator.
    public let help: String
    /// The default in `dev`; `nil` where it is the same.
    public private(set) var devDefault: String?
    /// The sentence for `dev`; `nil` where it is the same.
    public private(set) var devHelp: String?
    /// Whether a value may hold a secret, so that it is masked wherever it is shown.
    public let secret: Bool

    init(
        _ name: String, _ kind: ValueKind, _ commands: [CommandName], default defaultText: String = "",
        repeatable: Bool = false, places: Places = .everywhere, secret: Bool = false, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.commands = commands
        self.defaultText = defaultText
        self.repeatable = repeatable
        self.places = places
        self.secret = secret
        self.help = help
    }

    /// The same setting with another default, or another sentence, in `dev`.
    func inDev(default text: String? = nil, _ help: String? = nil) -> Setting {
        var setting = self
        (setting.devDefault, setting.devHelp) = (text, help)
        return setting
    }

    /// The default of a command as help shows it; empty when there is none.
    func defaultText(of command: CommandName) -> String {
        command == .dev ? devDefault ?? defaultText : defaultText
    }

    /// The sentence of a command.
    func help(of command: CommandName) -> String { command == .dev ? devHelp ?? help : help }

    /// The flag, such as `--redis-prefix`.
    public var flag: String { "--" + name }

    /// The flag with its value as help shows it, such as `--listen HOST:PORT` and `--echo[=true|false]`.
    public var usage: String {
        kind == .boolean ? flag + "[=true|false]" : flag + " " + kind.placeholder
    }

    /// The prefix of all environment variables of the product.
    public static let environmentPrefix = "SWITCHBOARD_"

    /// The environment variable, such as `SWITCHBOARD_REDIS_PREFIX`.
    public var environmentName: String {
        Setting.environmentPrefix + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// The key in the config file: the name, except `limits`, which holds an object of all of them.
    public var fileKey: String { kind == .limit ? "limits" : name }

    /// The setting's row in docs/configuration.md; a test compares.
    public var documentationRow: String {
        let written = String(usage.map { $0 == "|" ? "/" : $0 })
        let shown = places.contains(.flag) ? "`" + written + "`" : "`\"" + fileKey + "\"` (config file only)"
        let many = repeatable ? " Repeatable." : ""
        let only = places == .flag ? " Flag only." : places == [.flag, .environment] ? " Not in the config file." : ""
        let commandList = commands.map(\.rawValue).joined(separator: ", ")
        let general = defaultText.isEmpty ? "" : "`" + defaultText + "`"
        let own = devDefault.map { (general.isEmpty ? "" : "; ") + "in dev `" + $0 + "`" } ?? ""
        let standard = general + own
        return "| " + shown + " | " + standard + " | " + commandList + " | " + help + many + only + " |"
    }
}

/// Settings that help and documentation show under one heading.
public struct SettingSection: Sendable {
    /// The heading.
    public let title: String
    /// The settings, in the order they are shown.
    public let settings: [Setting]
}
