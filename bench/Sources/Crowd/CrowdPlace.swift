/// Where a client is in one topic.
struct CrowdPlace {
    enum State {
        /// Not asked for, or refused.
        case open
        case asked
        case subscribed
    }

    /// The number of the topic.
    let topic: Int
    /// The epoch of the position; `nil` before the first answer.
    private(set) var epoch: [UInt8]?
    private(set) var offset = 0
    /// How far the subscription on this connection is.
    var state = State.open
    /// What the last subscribe on this connection said; `nil` without a position.
    private(set) var asked: (epoch: [UInt8], offset: Int)?

    init(topic: Int) {
        self.topic = topic
    }

    /// Notes that a subscribe with the position as it is now is sent.
    mutating func ask() {
        state = .asked
        asked = epoch.map { ($0, offset) }
    }

    /// Takes the answer; one that recovers is followed by the events since, so the position stays where it was.
    mutating func subscribed(epoch: [UInt8], offset: Int, recovered: Bool) {
        state = .subscribed
        if !recovered || self.epoch != epoch { move(epoch: epoch, offset: offset) }
    }

    /// Takes an event's offset; what comes twice does not move the position back.
    mutating func came(_ offset: Int) {
        self.offset = max(self.offset, offset)
    }

    /// Takes the position of a gap.
    mutating func move(epoch: [UInt8], offset: Int) {
        self.epoch = epoch
        self.offset = offset
    }
}
