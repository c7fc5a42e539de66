import Core

/// What a user wants to be pushed, as `set_preferences.lua` stores it.
public struct PushRules: Sendable, Equatable {
    /// What a user wants of one type.
    public enum Wish: Sendable, Equatable {
        /// As usual.
        case on
        /// Nothing.
        case off
        /// Also in the quiet hours.
        case urgent
    }

    /// By type; what is not there is on.
    public var types: [[UInt8]: Wish] = [:]
    /// When devices stay silent.
    public var quiet: QuietHours?
    /// The zone of the quiet hours; `nil`: that of the device that was registered last.
    public var zone: [UInt8]?

    /// As when nothing was ever set.
    public init() {}

    /// Reads what is stored; what is wrong counts as not set.
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

    /// What the user wants of a type.
    public func wish(_ type: [UInt8]) -> Wish { types[type] ?? .on }
}
