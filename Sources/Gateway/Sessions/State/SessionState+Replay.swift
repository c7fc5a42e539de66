import Core
import Dialects

/// Events by the clock: they are read before the topic is joined behind them, so that nothing comes twice and nothing is
/// missed in between.
extension SessionState {
    /// Reads them for a request that has passed and is paid.
    mutating func readReplay(_ wanted: ReplayRequest, _ wish: Wish, _ topic: Topic) {
        guard let index = index(of: topic) else { return }
        replayNumber &+= 1
        var waiting = wish
        waiting.replay = nil
        waiting.step = .replay(replayNumber)
        holdings[index].wishes.append(waiting)
        actions.append(.readReplay(topic, wanted, number: replayNumber))
    }

    /// They were read, or could not be; a request that another word took the place of is gone.
    mutating func replayed(_ topic: Topic, _ number: Int, _ result: Result<Replay, Refusal>) {
        guard let index = index(of: topic), var wish = holdings[index].take(.replay(number)) else { return }
        switch result {
        case .failure(let refusal): refused(wish, topic, refusal)
        case .success(let replay):
            if let position = replay.position {
                actions.append(.tellReplay(topic, replay.events, position, wish.ref))
            }
            wish.since = replay.position
            wish.step = .topic
            enter(wish, topic)
        }
    }
}

extension Wish {
    /// What a request wishes of its topic.
    init(_ request: SubscribeRequest, ref: Reference?, step: Step) {
        self.init(
            since: request.since, replay: request.replay, ref: ref, step: step, presence: request.presence)
    }
}
