import Commands
import HTTPCodec
import Rights

/// The facts about a request that are found from its head, before the body is read.
///
/// It is an object, so that a request counts one reference for all of them. Thread: the shard's.
final class JudgedHead {
    /// The path's parts between slashes, decoded; empty for `/`.
    let segments: [String]
    /// The matching route among the gateway's own.
    let match: GatewayRoutes.Match
    /// Its place among the counters of answers.
    let place: Int
    let caller: Caller
    /// The client's address and security.
    let origin: ClientAddress

    init(segments: [String], match: GatewayRoutes.Match, place: Int, caller: Caller, origin: ClientAddress) {
        self.segments = segments
        self.match = match
        self.place = place
        self.caller = caller
        self.origin = origin
    }
}
