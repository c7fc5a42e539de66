import Core

/// A user's preferences for pushes, as `set_preferences.lua` stores them.
public struct PushRules: Sendable, Equatable {
    /// The preference for one type.
    public enum Wish: Sendable, Equatable {
        /// As usual.
        case on
        /// Nothing.
        case off
        /// Also in the quiet hours.
        case urgent
    }

    /// The preferences by type; an absent type is on.
    public var types: [[UInt8]: Wish] = [:]
    /// The hours in which devices stay silent.
    public var quiet: QuietHours?
    /// The zone of the quiet hours; `nil`: that of the device that was registered last.
    public var zone: [UInt8]?

    /// The preferences of a user who has set none.
    public init() {}

    /// Reads the stored preferences; invalid ones count as not set.
    public init(stored text: [UInt8]?) {
        guard let text, let json = try? JSON(parsing: text, limits: PushLimits.json) else { return }
        let root = json.root
        for member in (root["types"].map { Array($0.members) } ?? []).prefix(PushLimits.typesMax) {
            switch member.string {
            case "off": types[member.nameBytes] = .off
            case "urgent": types[member.nameBytes] = .urgent
            default: break
            }
        }
        if let from = root["from"]?.int, let to = root["to"]?.int {
            quiet = QuietHours(from: from, to: to, mode: root["mode"]?.string == "silent" ? .silent : .hold)
        }
        zone = root["z"]?.stringBytes.flatMap { TimeZone.isName($0) ? $0 : nil }
    }

    /// The preference for a type.
    public func wish(_ type: [UInt8]) -> Wish { types[type] ?? .on }
}
