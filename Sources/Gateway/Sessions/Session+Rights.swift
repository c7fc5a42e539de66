import Configuration
import Core
import Dialects
import Rights

extension Session {
    /// The topics that the client itself has joined or is joining.
    var topicsHeld: [Topic] { memberships.map(\.feed.topic) }

    /// Ends the session: what its caller showed is refused from now on.
    func end(_ failure: TokenFailure) {
        guard !isOver else { return }
        shard.log(.info, "session ended", [("reason", failure.rawValue)])
        send(.error(failure.refusal, topic: nil), ref: nil)
        close(.unauthorized)
    }
}
