import Core
import RedisLink

/// A call that a courier has claimed (docs/courier.md, "Calls"); its bytes come from Redis.
struct ServiceCall {
    /// The id of its entry.
    let entry: [UInt8]
    /// The request; `nil` when it is no object.
    let request: JSON.Value?
    private let arguments: JSON.Value?

    private static let limits = JSON.Limits(depthMax: 64, elementsMax: 20_000)

    /// Reads an entry of a stream; `nil` when it is malformed.
    init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 2, let entry = parts[0].bytes else { return nil }
        self.entry = entry
        let fields = parts[1].elements ?? []
        var found: [[UInt8]: [UInt8]] = [:]
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            if let name = fields[index].bytes, let value = fields[index + 1].bytes { found[name] = value }
        }
        request = ServiceCall.object(found[Array("r".utf8)])
        arguments = ServiceCall.object(found[Array("a".utf8)])
    }

    private static func object(_ text: [UInt8]?) -> JSON.Value? {
        guard let text, let root = try? JSON(parsing: text, limits: limits).root, root.kind == .object else {
            return nil
        }
        return root
    }

    /// The arguments of the answering command: those of the call, with the courier's `outcome` and `answer`.
    func arguments(answer: [UInt8]?) -> [UInt8] {
        var text: [UInt8] = Array("{".utf8)
        for member in arguments.map({ Array($0.members) }) ?? [] where !["outcome", "answer"].contains(member.name) {
            text.append(jsonString: member.nameBytes)
            text.append(UInt8(ascii: ":"))
            text.append(contentsOf: member.raw)
            text.append(UInt8(ascii: ","))
        }
        text.append(text: answer == nil ? "\"outcome\":\"failed\"}" : "\"outcome\":\"ok\",\"answer\":")
        guard let answer else { return text }
        return text + answer + [UInt8(ascii: "}")]
    }
}
