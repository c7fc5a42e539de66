/// Blocks between users, as the headers of the served packs declare them.
extension Catalogue {
    /// Whether users can block each other.
    public var knowsBlocks: Bool { commands.contains { $0.name == "block" } }

    /// Whether an event is sent in place of another while a block holds.
    ///
    /// The text behind the event's `@emits` then begins with "in its place".
    public func standsIn(_ event: String) -> Bool {
        commands.contains { $0.emits.contains { $0.name == event && $0.data.text.hasPrefix("in its place") } }
    }
}
