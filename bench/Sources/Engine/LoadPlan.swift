/// The times of a load and of its publishes: pure arithmetic that all processes of a run share.
///
/// An item belongs to the measured window by the time at which it was due, never by when it was sent or received.
struct LoadPlan: Codable, Equatable {
    /// When the first publish is due, microseconds of CLOCK_MONOTONIC.
    var startUs: Int
    var warmUpSeconds: Int
    var seconds: Int
    /// Publishes a second in all.
    var rate: Int
    var topics: Int
    /// Number of clients that have to receive the publishes, spread over the topics in turn.
    var members: Int
    /// Sequence numbers of each topic that earlier loads of the run may have used.
    var sequenceBase = 0

    var measureUs: Int { startUs + warmUpSeconds * 1_000_000 }
    var endUs: Int { measureUs + seconds * 1_000_000 }
    /// Publishes of the whole load.
    var count: Int { (warmUpSeconds + seconds) * rate }

    /// When publish number `index`, from 0, is due, microseconds of CLOCK_MONOTONIC.
    func dueUs(_ index: Int) -> Int { startUs + index * 1_000_000 / rate }

    /// The topic of publish number `index`.
    func topic(_ index: Int) -> Int { index % topics }

    /// The sequence number, per topic, of publish number `index`.
    func sequence(_ index: Int) -> Int { sequenceBase + index / topics + 1 }

    /// The ``sequenceBase`` of the next load.
    var nextSequenceBase: Int { sequenceBase + (count + topics - 1) / topics }

    /// Number of clients that have subscribed to a topic.
    func members(ofTopic topic: Int) -> Int { members / topics + (topic < members % topics ? 1 : 0) }

    /// Whether an item due at this time is measured.
    func isMeasured(_ dueUs: Int) -> Bool { dueUs >= measureUs && dueUs < endUs }

    /// The second of the measured window, from 0; negative before it.
    func second(_ nowUs: Int) -> Int {
        nowUs >= measureUs ? (nowUs - measureUs) / 1_000_000 : -1
    }
}
