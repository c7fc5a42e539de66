import Core
import Dialects
import HTTPCodec
import Operations
import Rights
import Service
import Topics
import Transports

/// Checks requests that open a session: path, origin, dialect, credentials.
///
/// Thread: the shard's.
struct SessionOpener {
    /// The result of an upgrade.
    enum Opening {
        /// The conformance echo.
        case echo
        /// A new session in a dialect, with that caller.
        case machine(any Dialect, Caller)
        /// Resumes a session that was using long polling.
        case move(PollingTransport)
        /// The same, for a session on that shard.
        case moveElsewhere(Int, session: [UInt8])

        /// The caller that the upgrade's credentials name.
        var caller: Caller? {
            if case .machine(_, let caller) = self { caller } else { nil }
        }

        /// The dialect; `nil` for the echo.
        var dialect: (any Dialect)? {
            if case .machine(let dialect, _) = self { dialect } else { nil }
        }
    }

    /// The refusal of an upgrade or stream, with the status of the response.
    struct RefusedEntry: Error {
        let status: Int
        let refusal: Refusal
        /// Writes the refusal in the form of the path's dialect.
        var written: @Sendable (Refusal, Int) -> HTTPResponse = { .refusal($0, status: $1, keepAlive: false) }

        init(_ refusal: Refusal, status: Int? = nil) {
            self.refusal = refusal
            self.status = status ?? refusal.code.httpStatus
        }

        var response: HTTPResponse { written(refusal, status) }
    }

    private let context: HTTPContext
    private let pages: PageCheck
    private let polling: PollingServer

    init(_ context: HTTPContext, _ polling: PollingServer) {
        self.context = context
        self.polling = polling
        pages = PageCheck(context: context)
    }

    /// Checks an upgrade: path, origin, credentials.
    func openWebSocket(_ head: HTTPRequestHead, _ origin: ClientAddress) -> Result<Opening, RefusedEntry> {
        if head.path.elementsEqual("/echo".utf8) && context.options.servesEcho { return .success(.echo) }
        guard let entry = context.dialects.entry(head, .webSocket) else {
            return .failure(RefusedEntry(Refusal(.notFound, "no WebSocket is opened at this path; use /ws")))
        }
        if context.dialects.entry(head.path, .packets) != nil, let session = EngineRequest.movingSession(head) {
            if let refusal = pages.refusal(head, origin) { return .failure(RefusedEntry(refusal)) }
            if let home = polling.home(session), home != polling.index {
                return .success(.moveElsewhere(home, session: session))
            }
            if polling.relay.home(of: session) != nil {
                // The client continues polling, which is relayed; a WebSocket would cost Redis each frame.
                let text = "the session lives on another node; go on polling"
                return .failure(RefusedEntry(Refusal(.badRequest, text)))
            }
            guard let transport = polling.mover(session) else {
                return .failure(RefusedEntry(Refusal(.badRequest, "\(EngineRequest.Fault.session.message)")))
            }
            return .success(.move(transport))
        }
        return open(entry, head, origin).mapError { refused in
            var refused = refused
            refused.written = entry.refused
            return refused
        }
    }

    /// Checks a request that opens a session: origin, dialect, credentials.
    func open(
        _ entry: DialectRegistry.Entry, _ head: HTTPRequestHead, _ origin: ClientAddress
    ) -> Result<Opening, RefusedEntry> {
        if let refusal = pages.refusal(head, origin) { return .failure(RefusedEntry(refusal)) }
        let dialect: any Dialect
        switch entry.dialect(head) {
        case .failure(let refusal): return .failure(RefusedEntry(refusal))
        case .success(let spoken): dialect = spoken
        }
        let judged = context.gate.authenticator.caller(entry.credentials(head), now: context.clock.wallSeconds)
        switch judged.flatMap(context.gate.unlessRevoked) {
        case .failure(let refusal):
            context.credentialsRefused(refusal, head, origin)
            return .failure(RefusedEntry(refusal))
        case .success(let caller):
            // Clients that show a token for each session are checked there.
            if !entry.authenticatesSessions, case .failure(let refusal) = context.gate.unlessAnonymous(caller) {
                return .failure(RefusedEntry(refusal))
            }
            return .success(.machine(dialect, caller))
        }
    }
}
