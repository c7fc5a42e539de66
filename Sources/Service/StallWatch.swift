/// Notices that the whole process did not run for a while.
///
/// A process that was stopped (SIGSTOP), or starved by its machine, cannot notice it meanwhile. It sees the gap between
/// two looks afterwards. Pure: time is a parameter.
public struct StallWatch {
    private var lookedMs: Int?

    /// The shortest stall that counts, milliseconds; a busy machine may cause shorter gaps between two looks.
    public static let shortestMs = 2_000

    /// A watch that has not looked yet.
    public init() {}

    /// Returns the milliseconds for which the process stood still; `nil` when it did not.
    ///
    /// `expectedMs` is the longest time between this look and the one before in a process that runs.
    public mutating func look(nowMs: Int, expectedMs: Int) -> Int? {
        defer { lookedMs = nowMs }
        guard let lookedMs else { return nil }
        let stoodMs = nowMs - lookedMs - expectedMs
        return stoodMs >= StallWatch.shortestMs ? stoodMs : nil
    }
}
