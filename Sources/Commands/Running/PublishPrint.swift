import Core
import Rights

/// A digest that shows whether a publish with a known id is a retry: 32 hexadecimal digits of name and data.
///
/// White space and the order of members do not count, since a client that writes the same values again may write them
/// in another order. Everything else counts as it is written.
enum PublishPrint {
    static func text(_ event: EventName, _ data: [UInt8]) -> [UInt8] {
        var text = event.bytes + [UInt8(ascii: " ")]
        // Callers have checked the data within narrower limits; data that is no JSON counts byte by byte.
        if let json = try? JSON(parsing: data, limits: JSON.Limits(depthMax: 256, elementsMax: 1_000_000)) {
            append(json.root, to: &text)
        } else {
            text += data
        }
        return Array(Hexadecimal.text(Digest.sha256(text)).prefix(32))
    }

    private static func append(_ value: JSON.Value, to text: inout [UInt8]) {
        switch value.kind {
        case .object:
            text.append(UInt8(ascii: "{"))
            let members = value.members.map { (name: $0.nameBytes, value: $0) }
            for (name, value) in members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                // The length separates a name from the text behind it, whatever bytes it has.
                text.append(decimal: name.count)
                text.append(UInt8(ascii: ":"))
                text += name
                append(value, to: &text)
                text.append(UInt8(ascii: ","))
            }
            text.append(UInt8(ascii: "}"))
        case .array:
            text.append(UInt8(ascii: "["))
            for element in value.members {
                append(element, to: &text)
                text.append(UInt8(ascii: ","))
            }
            text.append(UInt8(ascii: "]"))
        case .string, .number, .yes, .no, .null:
            text += value.raw
        }
    }
}
