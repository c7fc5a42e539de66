/// The position of a client in one topic.
struct CrowdPlace {
    enum State {
        /// Not requested, or refused.
        case open
        case asked
        case subscribed
    }

    /// The number of the topic.
    let topic: Int
    /// The epoch of the position; `nil` before the first answer.
    private(set) var epoch: [UInt8]?
    private(set) var offset = 0
    /// State of the subscription on this connection.
    var state = State.open
    /// The position in the last subscribe on this connection; `nil` without one.
    private(set) var asked: (epoch: [UInt8], offset: Int)?

    init(topic: Int) {
        self.topic = topic
    }

    /// Notes that a subscribe with the current position is sent.
    mutating func ask() {
        state = .asked
        asked = epoch.map { ($0, offset) }
    }

    /// Takes the answer; a recovery is followed by the missed events, so the position stays.
    mutating func subscribed(epoch: [UInt8], offset: Int, recovered: Bool) {
        state = .subscribed
        if !recovered || self.epoch != epoch { move(epoch: epoch, offset: offset) }
    }

    /// Takes an event's offset; a repeated event does not move the position back.
    mutating func came(_ offset: Int) {
        self.offset = max(self.offset, offset)
    }

    /// Takes the position of a gap.
    mutating func move(epoch: [UInt8], offset: Int) {
        self.epoch = epoch
        self.offset = offset
    }
}
