import Core

/// The order of other nodes' messages: older and repeated messages are rejected; pure.
///
/// Anyone who may subscribe in Redis could repeat a node's message. A sender numbers its messages and Redis keeps their
/// order, so only a number above the last one is new. Bounded: the sender that was silent longest is forgotten first.
struct RelayOrder {
    private struct Last {
        var number: UInt64
        var use: Int
    }

    private let sendersMax: Int
    private var last: [ShardAddress: Last] = [:]
    private var uses = 0

    init(sendersMax: Int) {
        self.sendersMax = max(1, sendersMax)
    }

    /// Number of senders kept.
    var count: Int { last.count }

    /// Whether a message is newer than all before it of its sender; it then becomes the last one.
    mutating func take(_ number: UInt64, from sender: ShardAddress) -> Bool {
        if let known = last[sender], number <= known.number { return false }
        uses += 1
        if last[sender] == nil, last.count >= sendersMax, let oldest = last.min(by: { $0.value.use < $1.value.use }) {
            last[oldest.key] = nil
        }
        last[sender] = Last(number: number, use: uses)
        return true
    }
}
