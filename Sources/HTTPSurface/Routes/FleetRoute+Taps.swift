import Core
import Fleet
import HTTPCodec
import Operations
import Rights

/// `POST`, `GET` and `DELETE /v1/sessions/{id}/tap`: the messages of one session, for a bounded time.
///
/// The node of the session records them and logs beginning and end.
extension FleetRoute {
    /// Begins, reads or ends a tap, on whichever node the session is.
    func tap(_ kind: FleetQuestion.Kind, _ request: HTTPRequest, _ respond: @escaping Respond) {
        do throws(Refusal) {
            let id = Array(request.segments[2].utf8)
            var question = try FleetQuestion(
                kind, ofSession: id, query: try items(request), key: keyName(request.caller))
            question.limit = FleetQuestion.limits.upperBound
            guard isKnown(question.node) else { throw FleetRoute.noSession }
            fleet.ask(question) { result in
                switch result {
                case .failure(let refusal): respond(.refusal(refusal, keepAlive: true))
                case .success(let result):
                    guard let state = result.answer.rows.first else {
                        return respond(.refusal(FleetRoute.missing(result, kind), keepAlive: true))
                    }
                    let body = FleetRoute.body(state, result.answer.rows.dropFirst())
                    respond(.json(status: 200, body: body, keepAlive: true))
                }
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    /// The state of the tap, and the messages in the order in which they passed.
    private static func body(_ state: FleetRow, _ messages: ArraySlice<FleetRow>) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "{")]
        body.append(member: "tap", json: state.content)
        body.append(member: "frames")
        body.append(arrayOf: messages.reversed()) { $0 += $1.content }
        return body + [UInt8(ascii: "}")]
    }

    private static func missing(_ result: FleetResult, _ kind: FleetQuestion.Kind) -> Refusal {
        if result.reasons.contains(where: { $0.word == "busy" }) {
            return Refusal(.unavailable, "too many taps or questions are open there", retryAfterMs: 1_000)
        }
        guard kind != .tap, result.unanswered.isEmpty else { return missing(result) }
        return Refusal(.notFound, "your key has no tap of this session; begin one by POST")
    }
}
