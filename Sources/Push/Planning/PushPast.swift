import Core

/// The results of earlier tries to send one item, as `pushes_answered.lua` stores them.
public struct PushPast: Sendable, Equatable {
    /// The number of tries in which not every device could be reached.
    public var tries = 0
    /// Ids of the devices that have received it.
    public var done: Set<[UInt8]> = []

    /// No tries.
    public init() {}

    /// Reads the stored results; a malformed text counts as no tries.
    public init(stored text: [UInt8]?) {
        guard let text, let json = try? JSON(parsing: text, limits: PushLimits.json) else { return }
        tries = min(max(json.root["n"]?.int ?? 0, 0), 1_000)
        done = Set(
            (json.root["d"].map { Array($0.members) } ?? []).prefix(PushLimits.devicesMax).compactMap(\.stringBytes))
    }

    /// The pause before the next try, milliseconds.
    ///
    /// It doubles from 5 s to 10 min, and `jitter` (0 to 1) shortens it by up to half.
    public func pauseMs(jitter: Double) -> Int {
        let longest = min(5_000 << min(tries, 16), 600_000)
        return longest - Int(Double(longest / 2) * min(max(jitter, 0), 1))
    }
}
