import Core

/// The kind of a setting's value: its notation, its check, and its word in help.
public enum ValueKind: Sendable, Equatable {
    /// Printable text.
    case text
    /// A path of a file.
    case file
    /// A path of a directory.
    case directory
    /// The path of a file with a key, behind the key's id and an equals sign when the key has an id.
    case keyFile
    /// `NAME=user|service|anonymous`.
    case roleMapping
    /// `HOST:PORT`.
    case hostPort
    /// The URL of Redis; only its scheme is checked here.
    case redisURL
    /// The URL of a gateway: scheme, host and port.
    case gatewayURL
    /// The prefix of Redis keys.
    case keyPrefix
    /// A whole number within a range.
    case integer(ClosedRange<Int>)
    /// A span of time.
    case duration
    /// `true` or `false`; a flag without a value means true.
    case boolean
    /// One word of a list.
    case choice([String])
    /// A range of addresses.
    case addressRange
    /// The origin of a web page.
    case origin
    /// `/` and one word, as in a URL.
    case webPath
    /// A topic, or `namespace:*`.
    case topicPattern
    /// An idempotency key.
    case messageID
    /// `epoch:offset`.
    case position
    /// `name=value` of `Limits.table`.
    case limit
    /// Names of packs, separated by commas.
    case packs
    /// The object of namespace policies; config file only.
    case namespaces
    /// The object of rules of WebSockets by path; config file only.
    case sockets
    /// The object of outside services; config file only.
    case services
    /// The object of receivers of events; config file only.
    case webhooks
    /// The URL of an outside server.
    case outsideURL
    /// The address of a service that receives secrets: `https`, or `http` on this machine.
    case serviceURL
    /// Words of letters, digits and `-` between dots.
    case bundleID
    /// Letters and digits, at most this many.
    case letters(Int)

    /// The word for the value in help and documentation; empty when a flag takes none.
    public var placeholder: String {
        switch self {
        case .text: "TEXT"
        case .letters, .bundleID: "ID"
        case .file: "FILE"
        case .keyFile: "[KID=]FILE"
        case .roleMapping: "NAME=ROLE"
        case .directory: "DIR"
        case .hostPort: "HOST:PORT"
        case .redisURL, .gatewayURL, .outsideURL, .serviceURL: "URL"
        case .keyPrefix: "PREFIX"
        case .integer: "N"
        case .duration: "TIME"
        case .boolean: ""
        case .choice(let words): words.joined(separator: "|")
        case .addressRange: "CIDR"
        case .origin: "ORIGIN"
        case .webPath: "/NAME"
        case .topicPattern: "PATTERN"
        case .messageID: "ID"
        case .position: "EPOCH:OFFSET"
        case .limit: "NAME=VALUE"
        case .packs: "NAMES"
        case .namespaces, .sockets, .services, .webhooks: "OBJECT"
        }
    }

    /// The most bytes of one value.
    static let bytesMax = 4_096

    /// Throws the expectation unless the text is a value of this kind.
    func check(_ text: String) throws(ValueFault) {
        if text.isEmpty { throw ValueFault(expected: "a value; leave the setting out to use its default") }
        if text.utf8.count > ValueKind.bytesMax { throw ValueFault(expected: "at most \(ValueKind.bytesMax) bytes") }
        if PrintableText.hasControl(text) { throw ValueFault(expected: "a value without control characters") }
        switch self {
        case .text, .file, .directory, .packs, .namespaces, .sockets, .services, .webhooks: return
        case .outsideURL: _ = try SettingURL.checkBase(text, schemes: ["http"])
        case .serviceURL: _ = try OutsideURL.checked(text)
        case .bundleID:
            let good = text.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == 0x2d || $0 == 0x2e }
            guard good, text.utf8.count <= 155 else {
                throw ValueFault(expected: "a bundle id such as com.example.app")
            }
        case .letters(let most):
            guard text.utf8.count <= most, text.utf8.allSatisfy({ ASCII.isLetter($0) || ASCII.isDigit($0) }) else {
                throw ValueFault(expected: "1 to \(most) letters and digits")
            }
        case .keyFile: _ = try KeyFile(parsing: text)
        case .roleMapping: _ = try RoleMapping(parsing: text)
        case .hostPort: _ = try HostPort(parsing: text)
        case .redisURL:
            let schemes =
                ["redis", "rediss", "unix"] + ["sentinel", "cluster"].flatMap { ["redis+\($0)", "rediss+\($0)"] }
            try SettingURL.check(text, schemes: schemes)
        case .gatewayURL: try SettingURL.checkBase(text, schemes: ["https", "http"])
        case .integer(let range): _ = try ValueKind.integer(text, in: range)
        case .duration: _ = try DurationText.seconds(parsing: text)
        case .boolean: try ValueKind.word(text, of: ["true", "false"])
        case .choice(let words): try ValueKind.word(text, of: words)
        case .addressRange: try AddressRange.check(text)
        case .origin: try Origin.check(text)
        case .limit: _ = try LimitAssignment(parsing: text)
        case .keyPrefix, .topicPattern, .messageID, .position, .webPath: try checkIdentifier(text)
        }
    }

    private func checkIdentifier(_ text: String) throws(ValueFault) {
        let bytes = Array(text.utf8)
        switch self {
        case .keyPrefix:
            let good = bytes.allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || [0x2d, 0x2e, 0x3a, 0x5f].contains($0)
            }
            guard good && bytes.count <= 64 else { throw ValueFault(expected: "1 to 64 of A-Z a-z 0-9 . _ : -") }
        case .topicPattern:
            guard Topic(bytes) != nil || ValueKind.isNamespacePattern(bytes) else {
                throw ValueFault(expected: "a topic such as order:7, or all of a namespace such as order:*")
            }
        case .messageID:
            guard MessageID(bytes) != nil else {
                throw ValueFault(
                    expected: "1 to \(MessageID.bytesMax) of A-Z a-z 0-9 . _ ~ : -, and more than a lone -")
            }
        case .webPath:
            let good = bytes.dropFirst().allSatisfy {
                ASCII.isLetter($0) || ASCII.isDigit($0) || [0x2d, 0x2e, 0x5f].contains($0)
            }
            guard good && bytes.first == UInt8(ascii: "/") && (2...33).contains(bytes.count) else {
                throw ValueFault(expected: "a slash and 1 to 32 of A-Z a-z 0-9 . _ -")
            }
        case .position:
            guard Position(bytes) != nil else {
                throw ValueFault(expected: "EPOCH:OFFSET as `tail` prints it, e.g. k3x9:17")
            }
        default: return
        }
    }

    private static func isNamespacePattern(_ bytes: [UInt8]) -> Bool {
        bytes.suffix(2) == Array(":*".utf8)[...] && Topic.isNamespace(bytes.dropLast(2))
    }

    /// Reads a whole number within a range.
    static func integer(_ text: String, in range: ClosedRange<Int>) throws(ValueFault) -> Int {
        guard let value = ASCII.signedDecimal(Array(text.utf8)), range.contains(value) else {
            throw ValueFault(expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Checks that a text is one of the words.
    static func word(_ text: String, of words: [String]) throws(ValueFault) {
        if words.contains(text) { return }
        throw ValueFault(expected: "one of " + words.joined(separator: ", "))
    }
}

/// One `name=value` of the limits.
struct LimitAssignment {
    /// The limit.
    let entry: LimitEntry
    /// Its new value, within the entry's range.
    let value: Int

    init(parsing text: String) throws(ValueFault) {
        guard let equals = text.firstIndex(of: "=") else {
            throw ValueFault(expected: "NAME=VALUE, e.g. connectionsMax=50000")
        }
        let name = String(text[..<equals])
        guard let entry = Limits.table.first(where: { $0.name == name }) else {
            throw ValueFault(expected: "the name of a limit" + NearestName.hint(LimitAssignment.names, to: name))
        }
        guard let value = ASCII.decimal(Array(text[text.index(after: equals)...].utf8)), entry.range.contains(value)
        else {
            throw ValueFault(
                expected: "\(name) as a whole number from \(entry.range.lowerBound) to \(entry.range.upperBound)")
        }
        self.entry = entry
        self.value = value
    }

    /// The names of all limits.
    static let names = Limits.table.map(\.name)
}
