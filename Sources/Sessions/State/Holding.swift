import Core
import Dialects

/// A topic that the client has asked for and has not given up.
struct Holding {
    private(set) var topic: Topic
    /// Subscribe requests that wait for their answer: at most one at each step.
    ///
    /// Nothing is allocated for a topic that has none.
    var wishes: [Wish] = []
    /// Whether the session is a member of the topic.
    var isLive = false
    /// Whether the client has received `subscribed`, and nothing to the contrary since.
    var isAcknowledged = false
    /// Whether the session is listed as present there, or asks to be.
    var isTracked = false

    init(_ topic: Topic) {
        self.topic = topic
    }

    /// Takes the request that waits at a step.
    mutating func take(_ step: Wish.Step) -> Wish? {
        guard let index = wishes.firstIndex(where: { $0.step == step }) else { return nil }
        let wish = wishes.remove(at: index)
        // Most subscriptions never have another request: the storage would stay as long as they do.
        if wishes.isEmpty { wishes = [] }
        return wish
    }

    /// The session is a member of the topic; `shared` is the name that all its members keep.
    mutating func goesLive(_ shared: Topic) {
        topic = shared
        (isLive, isAcknowledged) = (true, true)
    }

    /// Whether a request waits at a step.
    func waits(_ step: Wish.Step) -> Bool {
        wishes.contains { $0.step == step }
    }
}

/// A subscribe request on its way.
struct Wish {
    /// The answer that the request waits for.
    enum Step: Equatable {
        /// Whether the user is a member of the topic.
        case membership
        /// Events requested by time; the number is that of their read.
        case replay(Int)
        /// The joins of the topics that the own topic follows.
        case followings
        /// The join of the topic itself.
        case topic
    }

    var since: Position?
    var replay: ReplayRequest?
    let ref: Reference?
    var step: Step
    /// Whether the client wants to receive presence.
    var presence = false
}
