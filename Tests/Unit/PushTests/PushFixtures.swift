import Core
import Testing

@testable import Push

/// A device and facts as Redis would give them.
enum Fixture {
    static let nowMs = 1_795_205_000_000

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static func device(_ id: String, token: Character = "a", zone: String? = nil, at: Int = 1_000) throws -> PushDevice
    {
        let zone = zone.map { #","z":"\#($0)""# } ?? ""
        let text = #"{"k":"\#(String(repeating: token, count: 64))","p":"ios","e":"production","r":\#(at)\#(zone)}"#
        return try #require(PushDevice(id: bytes(id), stored: bytes(text)))
    }

    static func content(
        _ id: String = "\(nowMs)-0", type: String = "booking", title: String = "Ready", body: String = "Come in",
        data: String = "{}"
    ) throws -> PushContent {
        let fields = ["type", type, "title", title, "body", body, "data", data, "timestamp", "x"].map { bytes($0) }
        return try #require(PushContent(notification: bytes(id), fields: fields))
    }

    static func facts(_ devices: PushDevice..., change: (inout PushFacts) throws -> Void = { _ in }) throws -> PushFacts
    {
        var facts = PushFacts(
            content: try content(), isUnread: true, seenMs: nil, badge: 3, devices: devices, rules: PushRules(),
            past: PushPast())
        try change(&facts)
        return facts
    }

    static func rules(_ text: String) -> PushRules { PushRules(stored: bytes(text)) }
}
