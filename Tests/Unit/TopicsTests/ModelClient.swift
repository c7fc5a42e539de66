import Connections
import Core
import Dialects

@testable import Topics

/// A client of the model: it knows where it stands and what may come next.
final class ModelClient: TopicClient {
    let number: Int
    private unowned let world: TopicWorld
    private(set) var membership: (feed: LocalTopic<ModelClient>, place: Int?)?
    /// The last event seen, or told to be missed.
    private(set) var stand: Position?
    private var since: Position?
    private var held: Delivery?

    init(number: Int, world: TopicWorld) {
        self.number = number
        self.world = world
    }

    func asks(_ since: Position?) {
        self.since = since
    }

    func forget() {
        membership = nil
        held = nil
    }

    func joins(_ feed: LocalTopic<ModelClient>) { membership = (feed, nil) }

    func joined(_ feed: LocalTopic<ModelClient>, place: Int, _ answer: JoinAnswer) { membership = (feed, place) }

    func moved(to place: Int, in feed: LocalTopic<ModelClient>) {
        if membership?.feed === feed { membership?.place = place }
    }

    func refused(_ refusal: Refusal, topic: Topic, ref: Reference?) {
        world.note("client \(number) refused")
        forget()
    }

    func send(_ message: ServerMessage, ref: Reference?) {
        switch message {
        case .subscribed(_, let position, let recovered, _):
            world.note("client \(number) subscribed \(TopicWorld.epoch(of: position)):\(position.offset) \(recovered)")
            if recovered && since == nil { world.violated("client \(number) recovered what it never had") }
            stand = recovered ? since : position
        case .gap(_, let position, _):
            world.note("client \(number) gap \(position.map { "\(TopicWorld.epoch(of: $0)):\($0.offset)" } ?? "")")
            guard let position, !world.strikes(.gapIsSwallowed) else { return }
            if let stand {
                let (old, new) = (TopicWorld.epoch(of: stand), TopicWorld.epoch(of: position))
                if new < old || (new == old && position.offset < stand.offset) {
                    world.violated(
                        "client \(number) is sent back from \(old):\(stand.offset) to \(new):\(position.offset)")
                }
            }
            stand = position
        default:
            world.violated("client \(number) was told something else")
        }
    }

    func deliver(_ delivery: Delivery, isBacklog: Bool) {
        delivery.counts.countUndeliverable()
        if world.strikes(.orderIsWrong), held == nil {
            held = delivery
            return
        }
        see(delivery)
        if world.strikes(.eventIsDoubled) { see(delivery) }
        if let late = held {
            held = nil
            see(late)
        }
    }

    private func see(_ delivery: Delivery) {
        guard let position = delivery.message.position else { return }
        let epoch = TopicWorld.epoch(of: position)
        if TopicWorld.isForeign(position) { world.violated("client \(number) sees what nobody has written") }
        world.note("client \(number) sees \(epoch):\(position.offset)")
        guard let stand, stand.epoch == position.epoch, stand.offset + 1 == position.offset else {
            let at = stand.map { "\(TopicWorld.epoch(of: $0)):\($0.offset)" } ?? "nowhere"
            return world.violated("client \(number) at \(at) sees \(epoch):\(position.offset)")
        }
        self.stand = position
    }
}
