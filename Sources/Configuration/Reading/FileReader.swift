import Core

/// Reads the config file: one JSON object whose keys are the names of settings.
///
/// A key of a gateway, a worker, a courier or the command itself is accepted; a key that belongs to other commands only
/// is an error.
struct FileReader {
    /// The given settings, in the file's order.
    private(set) var given: [GivenSetting] = []
    /// The packs that are served.
    private(set) var packs: [String] = []
    /// The policies of namespaces: the file's, merged over those of the packs.
    private(set) var namespaces: [String: NamespacePolicy] = [:]
    /// The namespaces that the file changed.
    private(set) var namespacesChanged: Set<String> = []
    /// The rules of WebSockets by path: the file's, merged over those of the packs.
    private(set) var sockets: [String: SocketRules] = [:]
    /// The paths that the file changed.
    private(set) var socketsChanged: Set<String> = []
    /// The Socket.IO namespaces of sockets: the packs' ones, then the file's, none twice.
    private(set) var socketIONamespaces: [String] = []
    /// The services that a courier asks, and the receivers of its webhooks.
    private(set) var services: [ServiceSettings] = []
    private(set) var webhooks: [WebhookSettings] = []
    /// The problems.
    private(set) var problems: [SettingProblem] = []

    private let path: String
    private let command: CommandName
    /// The values that are read once the packs are known.
    private var policies: (namespaces: JSON.Value?, sockets: JSON.Value?) = (nil, nil)
    private var packSources: [String: SettingSource] = [:]

    /// The most bytes of a config file.
    static let bytesMax = 1_048_576
    private static let jsonLimits = JSON.Limits(depthMax: 8, elementsMax: 50_000)

    /// Reads nothing, because no file was named.
    init(command: CommandName) {
        self.command = command
        self.path = ""
    }

    /// Reads a file's bytes; `nil` means that the file could not be read.
    init(command: CommandName, path: String, bytes: [UInt8]?) {
        self.command = command
        self.path = path
        read(bytes)
    }

    private mutating func read(_ bytes: [UInt8]?) {
        guard let bytes else { return problem("", "cannot be read") }
        guard bytes.count <= FileReader.bytesMax else {
            return problem("", "larger than \(FileReader.bytesMax) bytes")
        }
        do {
            let document = try JSON(parsing: bytes, limits: FileReader.jsonLimits)
            read(document.root)
        } catch {
            let line = JSON.faultLine(in: bytes, limits: FileReader.jsonLimits)
            problem("", error.rawValue + " at line \(line)")
        }
    }

    /// Takes the packs' policies, and merges the file's namespaces and sockets over them; returns the problems.
    mutating func readPolicies(over packs: PackReader) -> [SettingProblem] {
        (self.packs, namespaces, sockets, packSources) = (packs.names, packs.namespaces, packs.sockets, packs.sources)
        socketIONamespaces = packs.socketIONamespaces
        var problems = packs.problems
        if let value = policies.namespaces {
            let reader = NamespaceReader(
                path: path, key: "namespaces", value: value, over: namespaces, unserved: packs.unserved)
            namespaces = reader.policies
            namespacesChanged = reader.changed
            problems += reader.problems
        }
        if let value = policies.sockets {
            let reader = SocketReader(path: path, key: "sockets", value: value, over: sockets)
            sockets = reader.rules
            socketsChanged = reader.changed
            for name in reader.socketIO where !socketIONamespaces.contains(name) { socketIONamespaces.append(name) }
            problems += reader.problems
            problems += SocketReader.strangers(
                socketsChanged, sockets, namespaces, unserved: packs.unserved, path: path)
        }
        return problems
    }

    /// The last source of a namespace's policy or of a path's rules.
    func sourceOfPolicy(_ key: String, isChanged: Bool) -> SettingSource {
        isChanged ? source(key) : packSources[key] ?? .defaults
    }

    /// The place of a key in this file.
    func source(_ key: String) -> SettingSource { .file(path: path, key: key) }

    private mutating func problem(_ key: String, _ message: String) {
        problems.append(SettingProblem(source: .file(path: path, key: key), message: message))
    }

    private mutating func read(_ root: JSON.Value) {
        guard root.kind == .object else { return problem("", "expected an object with settings") }
        for member in root.members {
            guard let setting = setting(of: member.name) else { continue }
            switch setting.kind {
            case .limit: limits(member, setting)
            case .namespaces: policies.namespaces = member
            case .sockets: policies.sockets = member
            case .services, .webhooks: outside(member, setting.kind)
            default: value(member, setting)
            }
        }
    }

    private mutating func outside(_ value: JSON.Value, _ kind: ValueKind) {
        var reader = OutsideReader(path: path)
        if kind == .services { reader.readServices(value) } else { reader.readWebhooks(value) }
        services += reader.services
        webhooks += reader.webhooks
        problems += reader.problems
    }

    /// The setting of a key that this command accepts in a file; `nil` for a key that it does not, which may be a
    /// problem.
    private mutating func setting(of key: String) -> Setting? {
        let candidates = Setting.all.filter { $0.places.contains(.file) }
        guard let setting = candidates.first(where: { $0.fileKey == key }) else {
            if let other = Setting.named(key), other.kind != .limit {
                problem(key, "not a key of the config file; set it with " + other.flag)
            } else {
                problem(key, "unknown key" + NearestName.hint(candidates.map(\.fileKey), to: key))
            }
            return nil
        }
        if setting.commands.contains(command) { return setting }
        if setting.commands.allSatisfy({ ![.gateway, .worker, .courier].contains($0) }) {
            let owners = setting.commands.map(\.rawValue).joined(separator: ", ")
            problem(key, "not a setting of \(command.rawValue); it belongs to \(owners)")
        }
        return nil
    }

    private mutating func limits(_ value: JSON.Value, _ setting: Setting) {
        guard value.kind == .object else {
            return problem(setting.fileKey, "expected an object of limits, e.g. {\"connectionsMax\": 50000}")
        }
        for member in value.members {
            let name = member.name
            let key = setting.fileKey + "." + name
            guard Limits.table.contains(where: { $0.name == name }) else {
                problem(key, "unknown limit" + NearestName.hint(LimitAssignment.names, to: name))
                continue
            }
            guard let number = member.int else {
                problem(key, "expected a whole number; got " + FileReader.nameOfKind(member))
                continue
            }
            let source = SettingSource.file(path: path, key: key)
            given.append(GivenSetting(setting: setting, texts: ["\(name)=\(number)"], source: source))
        }
    }

    private mutating func value(_ value: JSON.Value, _ setting: Setting) {
        var texts: [String] = []
        if setting.repeatable {
            guard value.kind == .array || value.kind == .string else {
                return problem(setting.fileKey, "expected an array of strings; got " + FileReader.nameOfKind(value))
            }
            // A lone string is one value: a setting that took one value before may take several now.
            for member in value.kind == .array ? Array(value.members) : [value] {
                guard let text = member.string else {
                    problem(setting.fileKey, "expected strings in the array; got " + FileReader.nameOfKind(member))
                    continue
                }
                texts.append(text)
            }
            if texts.isEmpty { return }
        } else {
            guard let text = FileReader.text(value, setting.kind) else {
                let expected = FileReader.expected(setting.kind)
                return problem(setting.fileKey, "expected " + expected + "; got " + FileReader.nameOfKind(value))
            }
            texts = [text]
        }
        let source = SettingSource.file(path: path, key: setting.fileKey)
        given.append(GivenSetting(setting: setting, texts: texts, source: source))
    }

    private static func text(_ value: JSON.Value, _ kind: ValueKind) -> String? {
        switch kind {
        case .integer: value.int.map { "\($0)" }
        case .boolean: value.bool.map { $0 ? "true" : "false" }
        default: value.string
        }
    }

    private static func expected(_ kind: ValueKind) -> String {
        switch kind {
        case .integer: "a whole number"
        case .boolean: "true or false"
        default: "a string"
        }
    }

    /// The kind of a value, for messages; never the value itself.
    static func nameOfKind(_ value: JSON.Value) -> String {
        switch value.kind {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: value.int == nil ? "a number with a fraction, an exponent, or out of range" : "a number"
        case .yes, .no: "a boolean"
        case .null: "null"
        }
    }
}
