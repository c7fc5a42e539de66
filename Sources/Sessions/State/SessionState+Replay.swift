import Core
import Dialects

/// Replays, which are requests for events by time.
///
/// The events are read first, and the session joins the topic behind them. No event is then sent twice or missed.
extension SessionState {
    /// Reads the events for a request that was allowed and charged.
    mutating func readReplay(_ wanted: ReplayRequest, _ wish: Wish, _ topic: Topic) {
        guard let index = index(of: topic) else { return }
        replayNumber &+= 1
        var waiting = wish
        waiting.replay = nil
        waiting.step = .replay(replayNumber)
        holdings[index].wishes.append(waiting)
        actions.append(.readReplay(topic, wanted, number: replayNumber))
    }

    /// Takes the result of the read; it is ignored when a later request has replaced this one.
    mutating func replayed(_ topic: Topic, _ number: Int, _ result: Result<Replay, Refusal>) {
        guard let index = index(of: topic), var wish = holdings[index].take(.replay(number)) else { return }
        switch result {
        case .failure(let refusal): refused(wish, topic, refusal)
        case .success(let replay):
            if let position = replay.position {
                send(.replayed(topic: topic, events: replay.events, position: position), ref: wish.ref)
            }
            wish.since = replay.position
            wish.step = .topic
            enter(wish, topic)
        }
    }
}

extension Wish {
    /// The pending form of a subscribe request.
    init(_ request: SubscribeRequest, ref: Reference?, step: Step) {
        self.init(
            since: request.since, replay: request.replay, ref: ref, step: step, presence: request.presence)
    }
}
