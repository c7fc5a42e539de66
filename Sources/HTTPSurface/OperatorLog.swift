import Commands
import Configuration
import Core
import HTTPCodec
import Operations
import Rights
import Service

/// Logs the actions of operators: the key, the action, its subject and its outcome.
///
/// On the listener of operations each request that may change something is one. On the others, where backends publish
/// and call commands, only those are that nobody but an operator or a moderator sends. Thread: the shard's.
struct OperatorLog {
    let context: HTTPContext

    /// The members of a query and of a body that name the subject of an action.
    private static let subjects = ["service", "id", "topic", "event", "user", "userId", "tokenId"]
    private static let jsonLimits = JSON.Limits(depthMax: 32, elementsMax: 10_000)

    /// Wraps the answer of a request that is an action, so that the log has a line once it is known.
    func noting(_ request: HTTPRequest, onOperations: Bool, _ respond: @escaping Respond) -> Respond {
        guard isAction(request, onOperations: onOperations) else { return respond }
        let fields = fields(request)
        return { [log = context.log] response in
            log.write(.info, "an operator acted", fields + [("status", "\(response.status)")])
            respond(response)
        }
    }

    private func isAction(_ request: HTTPRequest, onOperations: Bool) -> Bool {
        if request.head.method == .get || request.head.method == .head { return false }
        guard case .route(let route) = request.match else { return onOperations && request.caller.isService }
        switch route.name {
        case .revoke, .dropDeadLetters, .retryDeadLetters, .openTap, .endTap: return true
        default: return onOperations
        }
    }

    /// Bodies are read once more for it: an operator acts seldom.
    private func fields(_ request: HTTPRequest) -> [(String, String)] {
        var fields = ClientLog.fields(request.caller, at: request.origin.address)
        fields.append(("method", request.head.method.rawValue))
        fields.append(("path", ClientLog.text(request.head.path)))
        let body = try? JSON(parsing: request.body, limits: OperatorLog.jsonLimits)
        for name in OperatorLog.subjects {
            if case .one(let value) = request.head.queryItem(name) {
                fields.append((name, ClientLog.text(value)))
            } else if let value = body?.root[name]?.stringBytes {
                fields.append((name, ClientLog.text(value)))
            }
        }
        return fields
    }
}
