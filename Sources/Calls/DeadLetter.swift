public import Core
import RedisLink

/// A delivery that was given up: a call of an outside service, or an event for a receiver of webhooks.
///
/// Its fields come from Redis, and anyone who writes there may have made them.
public struct DeadLetter: Sendable {
    /// The service or receiver whose letters are selected.
    ///
    /// Names are those of services and receivers: they cannot name another key.
    public enum Box: Equatable, Sendable {
        /// Calls of an outside service.
        case service(String)
        /// Events for a receiver of webhooks.
        case receiver(String)

        /// Parses a name: that of a service, or `webhooks:` and that of a receiver; `nil` for another.
        public init?(_ name: [UInt8]) {
            let beginning = Array("webhooks:".utf8)
            let isReceiver = name.starts(with: beginning)
            let rest = isReceiver ? name.dropFirst(beginning.count) : name[...]
            guard Topic.isNamespace(rest) else { return nil }
            let text = String(decoding: rest, as: UTF8.self)
            self = isReceiver ? .receiver(text) : .service(text)
        }

        /// The stream of the letters.
        func key(_ keys: Keys) -> [UInt8] {
            switch self {
            case .service(let name): keys.callsDead(of: name)
            case .receiver(let name): keys.webhookDead(name)
            }
        }
    }

    /// The id of the entry: milliseconds since 1970, a dash and a number.
    let id: [UInt8]
    private let fields: [[UInt8]: [UInt8]]

    /// Parses an entry; `nil` when it is malformed.
    init?(id: RESPValue, fields: RESPValue) {
        guard let id = id.bytes, DeadLetter.isID(id), let words = fields.elements else { return nil }
        self.id = id
        var found: [[UInt8]: [UInt8]] = [:]
        for index in stride(from: 0, to: words.count - 1, by: 2) {
            if let name = words[index].bytes, let value = words[index + 1].bytes { found[name] = value }
        }
        self.fields = found
    }

    /// Whether a text is the id of an entry: two numbers of at most 15 digits.
    public static func isID(_ text: [UInt8]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { (1...15).contains($0.count) && $0.allSatisfy(ASCII.isDigit) }
    }

    /// The event of a log that a receiver did not accept; `nil` for a hole, and for a malformed letter.
    var event: (topic: Topic, epoch: [UInt8], offset: Int)? {
        guard let topic = Topic(field("topic")) else { return nil }
        let parts = field("id").split(separator: UInt8(ascii: ":"))
        guard parts.count >= 2, let offset = parts.last.flatMap({ ASCII.decimal($0) }), offset > 0 else { return nil }
        return (topic, Array(parts[parts.count - 2]), offset)
    }

    private func field(_ name: StaticString) -> [UInt8] { fields[Array("\(name)".utf8)] ?? [] }

    /// The letter as JSON.
    public func json(_ box: Box, _ limits: JSON.Limits) -> [UInt8] {
        var text = [UInt8(ascii: "{")]
        text.append(member: "id", string: id)
        let atMs = id.split(separator: UInt8(ascii: "-")).first.flatMap { ASCII.decimal($0) } ?? 0
        text.append(member: "timestamp", string: Timestamp.text(wallMs: min(atMs, Timestamp.range.upperBound)))
        let members: [(name: StaticString, field: StaticString, isJSON: Bool)]
        switch box {
        case .service:
            members = [
                ("reason", "reason", false), ("callId", "i", false), ("command", "c", false),
                ("request", "r", true), ("arguments", "a", true),
            ]
        case .receiver:
            members = [
                ("reason", "reason", false), ("webhookId", "id", false), ("topic", "topic", false),
                ("event", "e", false), ("data", "d", true),
            ]
        }
        for member in members {
            text.append(member: member.name, json: value(of: member.field, member.isJSON ? limits : nil))
        }
        return text + [UInt8(ascii: "}")]
    }

    /// A field as JSON: itself where an object is expected and it is one, its text otherwise, `null` when it is
    /// missing.
    private func value(of name: StaticString, _ limits: JSON.Limits?) -> [UInt8] {
        guard let bytes = fields[Array("\(name)".utf8)] else { return Array("null".utf8) }
        if let limits, let json = try? JSON(parsing: bytes, limits: limits), json.root.kind == .object { return bytes }
        var text: [UInt8] = []
        text.append(jsonString: String(decoding: bytes, as: UTF8.self))
        return text
    }
}
