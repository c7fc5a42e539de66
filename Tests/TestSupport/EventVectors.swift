import FoundationEssentials

/// The forms of an event that scripts write and gateways read, from `Tests/Fixtures/vectors/event_format.json`.
///
/// The tests of the scripts compare them with what Redis has after a publish.
public struct EventVectors: Decodable, Sendable {
    /// An event and all that its publish wrote.
    public struct Written: Decodable, Sendable {
        /// The event's epoch, name and data; its id and the session that does not want it back, empty when it has none.
        public let epoch, event, data, id, origin: String
        /// The event's offset.
        public let offset: Int
        /// The arguments of `publish.lua` that are the event's own: name, data and id.
        public let words: [String]
        /// The script's answer.
        public let reply: String
        /// The message on the topic's channel.
        public let message: String
        /// The entry as a read of the log returns it: offset, name, data and id.
        public let read: [String]
    }

    /// Events of every form and bound.
    public let written: [Written]
    /// Messages with words that no script would write.
    public let refused: [String]
    /// The messages of a reset of the topic's epoch.
    public let reset: [String]

    /// Reads the file.
    public static func load() throws -> EventVectors {
        let text = try ProjectFiles.text("Tests/Fixtures/vectors/event_format.json")
        return try JSONDecoder().decode(EventVectors.self, from: Data(text.utf8))
    }
}
