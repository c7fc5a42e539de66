import HTTPCodec
import Operations

/// The verdict on a backend's head, which counts as long as the backend repeats the head and the keys are the same.
///
/// It is an object, so that a connection without one has room for a reference only.
final class StandingVerdict {
    let admitted: RequestGate.Admitted
    /// The form of refusals on the request's path.
    let rewriter: ErrorRewriter?
    /// The fields of the answer for pages of other origins.
    let crossOrigin: [HTTPResponse.Field]
    private let keysVersion: Int

    init(
        _ admitted: RequestGate.Admitted, _ rewriter: ErrorRewriter?, _ crossOrigin: [HTTPResponse.Field],
        keysVersion: Int
    ) {
        self.admitted = admitted
        self.rewriter = rewriter
        self.crossOrigin = crossOrigin
        self.keysVersion = keysVersion
    }

    /// Whether it counts for a head under the present keys.
    func covers(_ head: HTTPRequestHead, _ gate: CallerGate) -> Bool {
        head.repeats(admitted.request.head) && keysVersion == gate.keysVersion
    }
}
