import Core

/// A JSON text under construction; members keep their order.
enum JSONNode {
    case object([(name: String, value: JSONNode)])
    case array([JSONNode])
    case text(String)
    case int(Int)
    case bool(Bool)
    /// JSON text that is inserted unchanged.
    case raw([UInt8])

    /// The text.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(jsonString: member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .text(let text): bytes.append(jsonString: text)
        case .int(let value): bytes.append(decimal: value)
        case .bool(let value): bytes.append(text: value ? "true" : "false")
        case .raw(let text): bytes += text
        }
    }

    /// The member of an object; `nil` for other nodes and other names.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// An object with another member; any other node unchanged.
    func with(_ name: String, _ value: JSONNode?) -> JSONNode {
        guard case .object(let members) = self, let value else { return self }
        return .object(members + [(name, value)])
    }
}

extension JSONNode: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    init(dictionaryLiteral members: (String, JSONNode)...) { self = .object(members.map { ($0, $1) }) }
    init(arrayLiteral values: JSONNode...) { self = .array(values) }
    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral value: Int) { self = .int(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
}
