import Core

/// The JSON of a push, cut to size.
public enum PushPayload {
    /// The most bytes that APNs accepts.
    public static let bytesMax = 4_096

    /// The text of a push.
    ///
    /// When it would be too long, the `data` are left out first, then the body is cut. `"cut":true` marks that, and the
    /// app requests the whole.
    public static func text(_ content: PushContent, badge: Int, silently: Bool) -> [UInt8] {
        let body = Array(String(decoding: content.body, as: UTF8.self).utf8)
        let whole = write(content, body: body, badge, silently, isCut: false)
        guard whole.count > bytesMax else { return whole }
        var lean = content
        lean.members.removeAll { $0.name.description == "data" }
        let withoutData = write(lean, body: body, badge, silently, isCut: true)
        guard withoutData.count > bytesMax else { return withoutData }
        // The longest beginning that fits: a longer body never makes a shorter text.
        var (low, high) = (0, body.count)
        while low < high {
            let middle = (low + high + 1) / 2
            let fits = write(lean, body: ending(body, middle), badge, silently, isCut: true).count <= bytesMax
            if fits { low = middle } else { high = middle - 1 }
        }
        return write(lean, body: ending(body, low), badge, silently, isCut: true)
    }

    /// The first `count` bytes of a text and an ellipsis, fewer where that would cut a character.
    private static func ending(_ text: [UInt8], _ count: Int) -> [UInt8] {
        var end = count
        while end > 0 && end < text.count && text[end] & 0xc0 == 0x80 { end -= 1 }
        return Array(text[..<end]) + Array("…".utf8)
    }

    private static func write(
        _ content: PushContent, body: [UInt8], _ badge: Int, _ silently: Bool, isCut: Bool
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.append(text: "{\"aps\":{\"alert\":{")
        if let title = content.title { text.append(member: "title", json: PushContent.string(title)) }
        text.append(member: "body", json: PushContent.string(body))
        let words = content.words
        if let key = words.titleKey {
            text.append(member: "title-loc-key", json: PushContent.string(key))
            if let places = words.places { text.append(member: "title-loc-args", json: places) }
        }
        if let key = words.bodyKey {
            text.append(member: "loc-key", json: PushContent.string(key))
            if let places = words.places { text.append(member: "loc-args", json: places) }
        }
        text.append(UInt8(ascii: "}"))
        text.append(member: "badge", number: max(badge, 0))
        text.append(member: "thread-id", json: PushContent.string(content.thread))
        if content.isMutable { text.append(text: ",\"mutable-content\":1") }
        if silently {
            text.append(text: ",\"interruption-level\":\"passive\"")
        } else {
            text.append(text: ",\"sound\":\"default\"")
        }
        text.append(text: "}")
        for member in content.members { text.append(member: member.name, json: member.json) }
        if isCut { text.append(text: ",\"cut\":true") }
        text.append(text: "}")
        return text
    }
}
