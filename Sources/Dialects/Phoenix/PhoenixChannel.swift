import Core

/// One channel of a connection: its granted join and its pending one.
struct PhoenixChannel {
    /// The options that the client set for the channel.
    struct Options: Equatable {
        /// The client receives its own broadcasts (`config.broadcast.self`).
        var wantsOwn = false
        /// The client receives a reply to each of its broadcasts (`config.broadcast.ack`).
        var wantsAcknowledgements = false
        /// The client receives presence (`config.presence.enabled`).
        var wantsPresence = false
        /// A `system` message reports that broadcasts are delivered from now on (`config.broadcast.replication_ready`).
        var wantsReadiness = false
        /// The key under which the client is listed (`config.presence.key`); `nil` for a unique one.
        var presenceKey: [UInt8]?
    }

    /// A join that was granted.
    struct Joined {
        let joinRef: [UInt8]
        let options: Options
    }

    /// A join that waits for its answer.
    struct Pending {
        let joinRef: [UInt8]
        let ref: [UInt8]
        let options: Options
        /// The position from which it resumes, or at which its replay ends.
        var since: Position?
        let replay: ReplayRequest?
        /// The events that were read for ``replay``, until the join is answered; one read of a log bounds them.
        var replayed: [ChannelMessage] = []
        let changes: [UInt8]
        let asksForChanges: Bool

        /// The request to make once the token of the join was accepted.
        func request(of topic: Topic) -> SubscribeRequest {
            SubscribeRequest(topic: topic, since: since, presence: options.wantsPresence, replay: replay)
        }

        func isAsked(by answer: PhoenixAnswer) -> Bool { joinRef == answer.joinRef && ref == answer.ref }
    }

    var joined: Joined?
    var pending: Pending?
    /// Whether the gateway has reported the end of the channel, and not yet its reason.
    var isLost = false

    /// The newest join's reference, and its options.
    var joinRef: [UInt8] { pending?.joinRef ?? joined?.joinRef ?? [] }
    var options: Options { pending?.options ?? joined?.options ?? Options() }
}
