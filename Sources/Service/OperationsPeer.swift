public import Connections
public import Core
public import HTTPCodec
public import Reactors

/// A connection to an ``OperationsListener``: it answers one request, then closes.
///
/// Thread: the reactor's.
public final class OperationsPeer: ConnectionHandler {
    private let reactor: Reactor
    private let limits: Limits
    private let methods: [HTTPMethod]
    private let bodyBytesMax: Int
    private let answer: (_ head: HTTPRequestHead, _ body: [UInt8]) -> HTTPResponse
    private var connection: Connection?
    private var parser: HTTPRequestParser
    private var head: HTTPRequestHead?

    /// Makes a connection's handler; `answer` returns the answer to a request without a body.
    public convenience init(
        reactor: Reactor, limits: Limits, answer: @escaping (_ head: HTTPRequestHead) -> HTTPResponse
    ) {
        self.init(reactor: reactor, limits: limits, methods: [.get, .head], bodyBytesMax: 0) { head, _ in answer(head) }
    }

    /// Makes a connection's handler; `answer` returns the answer to a request with one of the methods.
    ///
    /// The body has at most `bodyBytesMax` bytes.
    public init(
        reactor: Reactor, limits: Limits, methods: [HTTPMethod], bodyBytesMax: Int,
        answer: @escaping (_ head: HTTPRequestHead, _ body: [UInt8]) -> HTTPResponse
    ) {
        self.reactor = reactor
        self.methods = methods
        self.bodyBytesMax = bodyBytesMax
        self.limits = limits
        self.answer = answer
        parser = HTTPRequestParser(limits: HTTPLimits(limits))
    }

    /// Sets the deadline of the request when the connection opens.
    public func opened(_ connection: Connection) {
        self.connection = connection
        connection.setDeadline(at: reactor.nowMs + limits.requestHeadMs)
    }

    /// Parses received bytes, and answers a complete request.
    public func received(_ bytes: Span<UInt8>) {
        var position = 0
        while let connection, connection.isOpen, let event = parser.next(bytes, at: &position) {
            switch event {
            case .head(let head):
                self.head = head
                guard methods.contains(head.method) else {
                    return finish(.methodNotAllowed(methods, keepAlive: false))
                }
                if let failure = parser.limitBody(to: bodyBytesMax) { return finish(.refusal(failure)) }
            case .body(let body):
                return finish(
                    head.map { answer($0, body) }
                        ?? .refusal(Refusal(.notFound, "there is no such path"), keepAlive: false))
            case .failed(let failure):
                return finish(.refusal(failure))
            }
        }
    }

    /// Answers and closes the connection: clients ask only once in several seconds.
    private func finish(_ response: HTTPResponse) {
        var response = response
        response.keepAlive = false
        response.set(.cacheControl, .noStore)
        let isGood = (200..<300).contains(response.status)
        connection?.close(isGood ? .httpDone : .httpRefused, last: response.encoded(for: head?.method))
    }

    /// Answers that the request did not arrive in time.
    public func deadlineReached() {
        finish(.refusal(.requestTimeout("the request did not arrive in time")))
    }

    /// Releases the connection after its end.
    public func ended(_ reason: CloseReason) {
        connection = nil
    }
}
