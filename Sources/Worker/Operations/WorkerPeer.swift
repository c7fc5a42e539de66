import Core
import HTTPCodec
import Reactors
import Transport

/// A connection to a worker's listener: one request of operations, its answer, the end.
///
/// Thread: the worker's.
final class WorkerPeer: ConnectionHandler {
    private let reactor: Reactor
    private let limits: Limits
    private let answer: (_ path: String) -> HTTPResponse
    private var connection: Connection?
    private var parser: HTTPRequestParser
    private var head: HTTPRequestHead?

    init(reactor: Reactor, limits: Limits, answer: @escaping (_ path: String) -> HTTPResponse) {
        self.reactor = reactor
        self.limits = limits
        self.answer = answer
        parser = HTTPRequestParser(limits: HTTPLimits(limits))
    }

    func opened(_ connection: Connection) {
        self.connection = connection
        connection.setDeadline(at: reactor.nowMs + limits.requestHeadMs)
    }

    func received(_ bytes: Span<UInt8>) {
        var position = 0
        while let connection, connection.isOpen, let event = parser.next(bytes, at: &position) {
            switch event {
            case .head(let head):
                self.head = head
                guard head.method == .get || head.method == .head else {
                    return finish(.methodNotAllowed([.get, .head], keepAlive: false))
                }
            case .body:
                let path = head.map { String(decoding: $0.path, as: UTF8.self) } ?? ""
                return finish(answer(path))
            case .failed(let failure):
                return finish(.refusal(failure))
            }
        }
    }

    /// Answers and ends the connection: whoever looks in asks once in seconds.
    private func finish(_ response: HTTPResponse) {
        var response = response
        response.keepAlive = false
        let isGood = (200..<300).contains(response.status)
        connection?.close(isGood ? .httpDone : .httpRefused, last: response.encoded(for: head?.method))
    }

    func deadlineReached() {
        finish(.refusal(.requestTimeout("the request did not arrive in time")))
    }

    func ended(_ reason: CloseReason) {
        connection = nil
    }
}
