import Synchronization

/// The time of a test: it stands still until the test moves it.
///
/// Thread: any.
final class PlayedTime: Sendable {
    private let ms = Atomic<Int>(0)

    /// Now, milliseconds since 1970.
    var nowMs: Int { ms.load(ordering: .relaxed) }

    /// Sets the time.
    func set(_ nowMs: Int) { ms.store(nowMs, ordering: .relaxed) }
}
