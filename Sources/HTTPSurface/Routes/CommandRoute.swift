import Calls
public import Commands
public import Core
public import HTTPCodec
import Operations
import Reactors
import Rights

/// `POST /v1/commands/<name>` and the scripts' own routes: commands over HTTP.
///
/// Arguments come from the path, from the query of a GET, and from the body of all else. Thread: the shard's.
public struct CommandRoute {
    let context: HTTPContext
    let commands: CommandService

    /// Answers `POST /v1/commands/<name>`.
    func answer(_ request: HTTPRequest, name: String, _ respond: @escaping Respond) {
        perform(request, respond) { commands, arguments, caller, completion in
            commands.perform(name, arguments, caller: caller, completion)
        }
    }

    /// The command of a name; `nil` when there is none.
    func command(_ name: String) -> CommandDescriptor? { context.library.catalogue.command(named: name) }

    /// A script's own route and its command; `nil` when there is none, or none for the method.
    func route(_ method: HTTPMethod, _ segments: [String]) -> Router.Called? {
        let match = context.library.catalogue.route(method: method, segments: segments)
        guard case .command(let command, let route, _) = match else { return nil }
        return (command, route)
    }

    /// Answers a request to a script's own route; false when there is none.
    func answers(_ request: HTTPRequest, _ respond: @escaping Respond) -> Bool {
        switch context.library.catalogue.route(method: request.head.method, segments: request.segments) {
        case .none:
            return false
        case .methodNotAllowed(let methods):
            respond(.methodNotAllowed(methods, keepAlive: true))
        case .command(let command, let route, let path):
            let own = context.library.routeErrors.owner(of: request.segments)
            let isCached = request.head.method == .get && own?.answersAreCached == true
            let answer = isCached ? CommandRoute.validated(request.head, respond) : respond
            perform(request, status: route.status, answer) { commands, arguments, caller, completion in
                var arguments = arguments
                arguments.path = path
                arguments.ignoresUnknown = own?.ignoresUnknown ?? false
                commands.perform(command, arguments, caller: caller, completion)
            }
        }
        return true
    }

    private func perform(
        _ request: HTTPRequest, status: Int = 200, _ respond: @escaping Respond,
        _ call: (CommandService, CommandService.Request, Caller, @escaping CommandService.Completion) -> Void
    ) {
        do throws(Refusal) {
            var arguments = try arguments(request)
            arguments.payer = context.rates.payer(request.caller, at: request.origin.address)
            call(commands, arguments, request.caller) { result in
                respond(CommandRoute.response(result, status: status))
            }
        } catch {
            respond(.refusal(error, keepAlive: true))
        }
    }

    private func arguments(_ request: HTTPRequest) throws(Refusal) -> CommandService.Request {
        var arguments = CommandService.Request()
        arguments.operation = try CommandRoute.operation(request.head)
        guard let items = request.head.queryItems else {
            throw Refusal(.badRequest, "the query has a malformed escape")
        }
        if request.head.method == .get || request.head.method == .head {
            guard request.body.isEmpty else { throw Refusal(.badRequest, "a GET takes no body; use the query") }
            arguments.query = items.map {
                TextArgument(name: String(decoding: $0.name, as: UTF8.self), value: $0.value)
            }
            return arguments
        }
        guard items.isEmpty else { throw Refusal(.badRequest, "arguments belong into the body, not into the query") }
        guard !request.body.isEmpty else { return arguments }
        do {
            let json = try JSON(parsing: request.body, limits: context.limits.json)
            guard json.root.kind == .object else { throw Refusal(.badRequest, "the body must be a JSON object") }
            arguments.body = json.root
            return arguments
        } catch let refusal as Refusal {
            throw refusal
        } catch let problem as JSON.Problem {
            throw Refusal(.badRequest, "the body is \(problem.rawValue)")
        } catch {
            throw Refusal(.badRequest, "the body cannot be read")
        }
    }

    /// The operation that the header `Idempotency-Key` names, as a member `id` does; the member has precedence.
    private static func operation(_ head: HTTPRequestHead) throws(Refusal) -> OperationID? {
        var text: [UInt8]
        switch head.headers.single("idempotency-key") {
        case .absent: return nil
        case .one(let value): text = value
        case .repeated, .malformed: text = []
        }
        // A string of structured fields has quotes (RFC 8941 section 3.3.3).
        let quote = UInt8(ascii: "\"")
        if text.count > 1, text.first == quote, text.last == quote { text = Array(text.dropFirst().dropLast()) }
        guard let id = MessageID(text) else {
            throw Refusal(
                .badRequest,
                "'Idempotency-Key' must be one text of 1 to \(MessageID.bytesMax) of A-Z a-z 0-9 . _ ~ : -")
        }
        return .named(id)
    }

    /// Answers a GET so that its client keeps the answer and asks whether it is still right.
    ///
    /// The answer has an entity tag; 304 says that the client's copy is right (RFC 9110 section 13.1.2).
    private static func validated(_ head: HTTPRequestHead, _ respond: @escaping Respond) -> Respond {
        { response in
            guard response.status == 200 else { return respond(response) }
            let tag = EntityTag(of: response.body)
            var answer = response
            if tag.isKnown(to: head) { answer = HTTPResponse(status: 304, body: [], keepAlive: true) }
            answer.set(.etag, tag.value)
            answer.set(.cacheControl, "private, no-cache")
            answer.set(.vary, "apikey, Authorization")
            respond(answer)
        }
    }

    /// The script's answer, or the error.
    public static func response(_ result: Result<CommandAnswer, Refusal>, status: Int = 200) -> HTTPResponse {
        switch result {
        case .success where status == 204:
            return HTTPResponse(status: status, body: [], keepAlive: true)
        case .success(let answer):
            return .json(status: status, body: answer.json, keepAlive: true)
        case .failure(let refusal):
            var response = HTTPResponse.refusal(refusal, keepAlive: true)
            if refusal.isUnavailable, refusal.retryAfterMs == nil { response.setRetryAfter(seconds: 1) }
            return response
        }
    }
}
