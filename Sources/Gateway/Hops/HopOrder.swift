/// The order of what other nodes say: what was said before, or twice, is not taken; pure.
///
/// Whoever may listen in Redis could say again what a node has said. A sender counts its messages and Redis keeps their
/// order, so only what is newer than the last is new. Bounded: the sender that was silent longest is forgotten first.
struct HopOrder {
    private struct Last {
        var number: UInt64
        var use: Int
    }

    private let sendersMax: Int
    private var last: [HopHome: Last] = [:]
    private var uses = 0

    init(sendersMax: Int) {
        self.sendersMax = max(1, sendersMax)
    }

    /// Senders that are remembered.
    var count: Int { last.count }

    /// Whether a message is newer than what its sender said before; then it counts as said.
    mutating func take(_ number: UInt64, from sender: HopHome) -> Bool {
        if let known = last[sender], number <= known.number { return false }
        uses += 1
        if last[sender] == nil, last.count >= sendersMax, let oldest = last.min(by: { $0.value.use < $1.value.use }) {
            last[oldest.key] = nil
        }
        last[sender] = Last(number: number, use: uses)
        return true
    }
}
