/// The behaviour of a scenario's clients, in their own process; one object for all clients of a process.
///
/// Thread: main. Every hook has a default, which does nothing or acts as a subscriber of one topic.
protocol ClientBehaviour: AnyObject {
    /// The topic to which the client of that number, among all of the run, subscribes.
    func topic(_ number: Int) -> String
    /// The token of the client of that number; `nil` for an anonymous one.
    func token(_ number: Int) -> String?
    /// The first step of a client whose WebSocket is open.
    func upgraded(_ client: LoadClient) -> Target.Step
    /// The next step after a message before the client is live.
    func answered(_ client: LoadClient, _ text: Span<UInt8>) -> Target.Step
    /// The client is live.
    func isLive(_ client: LoadClient)
    /// A live client received a message; `nowUs` is when its bytes were read.
    func received(_ client: LoadClient, _ text: Span<UInt8>, nowUs: Int)
    /// The client's connection has ended, or could not be made.
    ///
    /// True when it has to connect again at once (``LoadClient/connect()`` does it later).
    func ended(_ client: LoadClient) -> Bool
    /// A load begins.
    func begins(_ plan: LoadPlan)
    /// Takes a text of the scenario.
    func told(_ text: String)
    /// Called every 10 ms.
    func tick(_ nowUs: Int)
    /// Whether no request still waits for an answer.
    var isDone: Bool { get }
}

/// All behaviours, by name; a new scenario adds its own here.
enum BehaviourKind: String, Codable {
    /// Subscribe to one topic and count.
    case listen
    /// Vote on a shop's tracks.
    case vote
    /// Change bookings and receive the queue's updates.
    case queue
    /// Subscribe to one topic, lose the connection, reconnect.
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

/// A subscriber of one topic that counts messages.
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
