import Core

/// One channel of a connection: what is joined, and what waits to be.
struct PhoenixChannel {
    /// What the client wants of it.
    struct Options: Equatable {
        /// Its own broadcasts come back to it (`config.broadcast.self`).
        var wantsOwn = false
        /// Its broadcasts are answered (`config.broadcast.ack`).
        var wantsAcknowledgements = false
        /// It is told who is here (`config.presence.enabled`).
        var wantsPresence = false
        /// It is told by a `system` message that broadcasts come from now on (`config.broadcast.replication_ready`).
        var wantsReadiness = false
        /// Under which name it is listed (`config.presence.key`); `nil` for one of its own.
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
        /// Where it resumes, or where its replay ends.
        var since: Position?
        let replay: ReplayRequest?
        /// What was read for ``replay``, until the join is answered; one read of a log bounds it.
        var replayed: [ChannelMessage] = []
        let changes: [UInt8]
        let asksForChanges: Bool

        /// What is asked for when the token of the join was taken.
        func request(of topic: Topic) -> SubscribeRequest {
            SubscribeRequest(topic: topic, since: since, presence: options.wantsPresence, replay: replay)
        }

        func isAsked(by answer: PhoenixAnswer) -> Bool { joinRef == answer.joinRef && ref == answer.ref }
    }

    var joined: Joined?
    var pending: Pending?
    /// Whether the gateway has said that it ends, and has yet to say why.
    var isLost = false

    /// The newest join's reference and wishes.
    var joinRef: [UInt8] { pending?.joinRef ?? joined?.joinRef ?? [] }
    var options: Options { pending?.options ?? joined?.options ?? Options() }
}
