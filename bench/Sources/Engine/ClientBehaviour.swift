/// What the clients of a scenario do, in their own process; one object for all clients of a process.
///
/// Thread: main. Every hook has a default that does nothing, or what a subscriber of one topic does.
protocol ClientBehaviour: AnyObject {
    /// The topic that the client of that number, among all of the run, subscribes to.
    func topic(_ number: Int) -> String
    /// The token of the client of that number; `nil` for an anonymous one.
    func token(_ number: Int) -> String?
    /// What a client does when its WebSocket is open.
    func upgraded(_ client: LoadClient) -> Target.Step
    /// What it does with a message on the way to being live.
    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step
    /// The client is live.
    func isLive(_ client: LoadClient)
    /// A live client got a message; `nowUs` is when its bytes were read.
    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int)
    /// The client's connection is over, or could not be made.
    ///
    /// True when it is to connect again at once (``LoadClient/connect()`` does it later).
    func ended(_ client: LoadClient) -> Bool
    /// A load begins.
    func begins(_ plan: LoadPlan)
    /// The scenario says something.
    func told(_ text: String)
    /// Comes every 10 ms.
    func tick(_ nowUs: Int)
    /// Whether nothing that was begun still waits for an answer.
    var isDone: Bool { get }
}

/// The behaviours there are, by name; what a new scenario adds its own to.
enum BehaviourKind: String, Codable {
    /// Subscribe to one topic and count.
    case listen
    /// Vote on a shop's tracks.
    case vote
    /// Change bookings and hear of the queue.
    case queue
    /// Subscribe to one topic, be cut, come back.
    case herd
    /// Subscribe to one topic; some stop reading for a time.
    case slow

    func make(_ crew: ClientCrew) throws(BenchFailure) -> any ClientBehaviour {
        switch self {
        case .listen: try ListenBehaviour(crew)
        case .vote: try VoteBehaviour(crew)
        case .queue: try QueueBehaviour(crew)
        case .herd: HerdBehaviour(crew)
        case .slow: SlowBehaviour(crew)
        }
    }
}

/// A subscriber of one topic that counts what comes.
final class ListenBehaviour: ClientBehaviour {
    private let crew: ClientCrew
    /// Only users may publish.
    private let tokens: UserTokens?

    init(_ crew: ClientCrew) throws(BenchFailure) {
        self.crew = crew
        tokens = crew.options.publish == .clients ? try UserTokens(secretFile: crew.options.secretFile) : nil
    }

    func token(_ number: Int) -> String? { tokens?.token(number) }

    func topic(_ number: Int) -> String { crew.options.topicName(number % crew.options.topics) }

    func upgraded(_ client: LoadClient) -> Target.Step {
        crew.options.target.upgraded(topic: topic(client.number), client.dialect)
    }

    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step {
        crew.options.target.answered(text, topic: topic(client.number), client.dialect)
    }

    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int) {
        crew.count(client, text, nowUs: nowUs)
    }
}

extension ClientBehaviour {
    func token(_ number: Int) -> String? { nil }
    func isLive(_ client: LoadClient) {}
    func ended(_ client: LoadClient) -> Bool { false }
    func begins(_ plan: LoadPlan) {}
    func told(_ text: String) {}
    func tick(_ nowUs: Int) {}
    var isDone: Bool { true }
}
