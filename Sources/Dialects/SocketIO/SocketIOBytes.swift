import Core

/// Converts bytes inside JSON, in both directions: a Socket.IO attachment becomes `{"$bytes":"<base64>"}` in an event's
/// data, and such an object becomes an attachment again.
///
/// Data stay JSON everywhere else. So an event is the same in the log and for clients of other protocols, regardless of
/// its publisher.
enum SocketIOBytes {
    /// A piece of a text, and its replacement.
    private struct Edit {
        let range: Range<Int>
        let text: [UInt8]
    }

    /// Depth and size of data that may hold bytes: the data that scripts write have no narrower bounds.
    private static let json = JSON.Limits(depthMax: 64, elementsMax: 400_000)
    private static let name = Array("\"$bytes\"".utf8)

    // MARK: From a client

    /// The text of a packet's arguments with each attachment in its place; `nil` when one is used in two places.
    ///
    /// Each placeholder stands for an existing attachment. An attachment in a thousand places would make the text a
    /// thousand times as long.
    static func filled(_ arguments: JSON.Value, with attachments: [[UInt8]]) -> [UInt8]? {
        var edits: [Edit] = []
        var used = Set<Int>()
        guard fill(arguments, attachments, &used, &edits) else { return nil }
        return edited(arguments.raw, edits)
    }

    private static func fill(
        _ value: JSON.Value, _ attachments: [[UInt8]], _ used: inout Set<Int>, _ edits: inout [Edit]
    ) -> Bool {
        if value["_placeholder"]?.kind == .yes {
            guard let number = value["num"]?.int, attachments.indices.contains(number), used.insert(number).inserted
            else { return false }
            let range = value.raw.startIndex..<value.raw.endIndex
            edits.append(Edit(range: range, text: BytesObject.data(of: attachments[number])))
            return true
        }
        for member in value.members where !fill(member, attachments, &used, &edits) { return false }
        return true
    }

    // MARK: To a client

    /// The text with a placeholder for each object that stands for bytes, and the bytes.
    ///
    /// `nil` for a text without such objects, the usual case. `nil` also for more attachments than a packet may have. A
    /// text with placeholders of its own gives `nil` as well: a client would take them for attachments, and fail.
    static func taken(from text: [UInt8]) -> (text: [UInt8], attachments: [[UInt8]])? {
        guard mayHold(text), let root = try? JSON(parsing: text, limits: json).root else { return nil }
        var edits: [Edit] = []
        var attachments: [[UInt8]] = []
        guard take(root, &attachments, &edits), !attachments.isEmpty else { return nil }
        return (edited(root.raw, edits), attachments)
    }

    private static func take(_ value: JSON.Value, _ attachments: inout [[UInt8]], _ edits: inout [Edit]) -> Bool {
        guard value.kind == .object || value.kind == .array else { return true }
        if let bytes = bytes(of: value) {
            guard attachments.count < SocketIOPacket.attachmentsMax else { return false }
            var text = Array("{\"_placeholder\":true,\"num\":".utf8)
            text.append(decimal: attachments.count)
            text.append(UInt8(ascii: "}"))
            edits.append(Edit(range: value.raw.startIndex..<value.raw.endIndex, text: text))
            attachments.append(bytes)
            return true
        }
        guard value["_placeholder"] == nil else { return false }
        for member in value.members where !take(member, &attachments, &edits) { return false }
        return true
    }

    /// The bytes of an object whose only member is `$bytes`, with standard base64; `nil` for any other.
    private static func bytes(of value: JSON.Value) -> [UInt8]? {
        guard value.kind == .object else { return nil }
        var members = value.members
        guard let only = members.next(), members.next() == nil, only.name == "$bytes", let text = only.stringBytes
        else {
            return nil
        }
        return Base64.decode(text, .standard)
    }

    /// Whether a member may have the name; a cheap test, since each event is tested once and few hold bytes.
    private static func mayHold(_ text: [UInt8]) -> Bool {
        var position = 0
        while let found = text[position...].firstIndex(of: UInt8(ascii: "$")) {
            position = found + 1
            guard found > 0, text[(found - 1)...].starts(with: name) else { continue }
            let rest = text[(found - 1 + name.count)...].drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
            if rest.first == UInt8(ascii: ":") { return true }
        }
        return false
    }

    private static func edited(_ text: ArraySlice<UInt8>, _ edits: [Edit]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(edits.reduce(text.count) { $0 + $1.text.count })
        var position = text.startIndex
        for edit in edits {
            result.append(contentsOf: text[position..<edit.range.lowerBound])
            result.append(contentsOf: edit.text)
            position = edit.range.upperBound
        }
        result.append(contentsOf: text[position...])
        return result
    }
}
