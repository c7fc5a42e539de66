import Connections
import Core
import Reactors

/// One keep-alive connection of the publisher; at most one request is under way.
///
/// Thread: main.
final class HTTPPublishConnection: ConnectionHandler {
    private var connection: Connection?
    private var job: PublishJob?
    private var answer = HTTPAnswer()
    private(set) var wasOpen = false
    private let onOpen: (HTTPPublishConnection) -> Void
    private let onAnswer: (HTTPPublishConnection, PublishJob, String?) -> Void
    private let onEnd: (HTTPPublishConnection, PublishJob?, String) -> Void

    private init(
        isOpen: @escaping (HTTPPublishConnection) -> Void,
        answered: @escaping (HTTPPublishConnection, PublishJob, String?) -> Void,
        ended: @escaping (HTTPPublishConnection, PublishJob?, String) -> Void
    ) {
        (onOpen, onAnswer, onEnd) = (isOpen, answered, ended)
    }

    /// Connects; the connection keeps itself alive until it has ended.
    static func open(
        _ context: ConnectionContext, _ url: CrowdOptions.URL, _ tls: TLSContext,
        isOpen: @escaping (HTTPPublishConnection) -> Void,
        answered: @escaping (HTTPPublishConnection, PublishJob, String?) -> Void,
        ended: @escaping (HTTPPublishConnection, PublishJob?, String) -> Void
    ) throws(Errno) {
        let made = HTTPPublishConnection(isOpen: isOpen, answered: answered, ended: ended)
        made.connection = try Connection.connect(
            context, to: .tcp(url.address, port: url.port), tls: url.usesTLS ? tls : nil, name: "",
            outboundBytesMax: 8 << 20, handler: made)
    }

    var isOpen: Bool { connection?.isOpen ?? false }

    func send(_ job: PublishJob, _ request: [UInt8]) {
        self.job = job
        _ = connection?.send(request)
    }

    func opened(_ connection: Connection) {
        wasOpen = true
        onOpen(self)
    }

    func received(_ bytes: Span<UInt8>) {
        switch answer.take(bytes) {
        case .more: break
        case .whole(let status, let body):
            guard let job else { return fail("an answer without a request") }
            self.job = nil
            let isGood = (200..<300).contains(status)
            onAnswer(self, job, isGood ? nil : "\(status) \(String(decoding: body.prefix(200), as: UTF8.self))")
        case .failed: fail("the answer is not understood")
        }
    }

    private func fail(_ reason: String) {
        BenchFailure.say("publisher: \(reason)")
        connection?.abort(.protocolError)
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        let detail = connection?.failureText ?? ""
        connection = nil
        let lost = job
        job = nil
        onEnd(self, lost, detail.isEmpty ? reason.rawValue : detail)
    }
}
