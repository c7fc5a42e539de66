import Core
import Reactors
import Transport

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

    /// Connects; the connection keeps itself until it has ended.
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

/// The answers of an HTTP server, one at a time: status and body, whose end `Content-Length` tells (RFC 9112 section 6).
struct HTTPAnswer {
    enum Step: Equatable {
        case more
        case whole(status: Int, body: [UInt8])
        case failed
    }

    private var bytes: [UInt8] = []
    private static let bytesMax = 1 << 20

    /// Takes bytes; they must belong to one answer.
    mutating func take(_ chunk: Span<UInt8>) -> Step {
        for index in 0..<chunk.count { bytes.append(chunk[index]) }
        guard bytes.count <= HTTPAnswer.bytesMax else { return .failed }
        guard let bodyStart = headEnd() else { return .more }
        let head = String(decoding: bytes[..<bodyStart], as: UTF8.self)
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        guard let status = lines.first.flatMap({ HTTPAnswer.status($0) }) else { return .failed }
        var length = 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let name = parts[0].lowercased()
            if name == "content-length" {
                let digits = parts[1].utf8.filter { $0 != 0x20 }
                guard let number = ASCII.decimal(digits), number <= HTTPAnswer.bytesMax else { return .failed }
                length = number
            } else if name == "transfer-encoding" {
                return .failed
            }
        }
        guard bytes.count >= bodyStart + length else { return .more }
        guard bytes.count == bodyStart + length else { return .failed }
        let body = Array(bytes[bodyStart...])
        bytes.removeAll(keepingCapacity: true)
        return .whole(status: status, body: body)
    }

    private func headEnd() -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...bytes.count - 4
        where bytes[index] == 0x0d && bytes[index + 1] == 0x0a && bytes[index + 2] == 0x0d && bytes[index + 3] == 0x0a {
            return index + 4
        }
        return nil
    }

    private static func status(_ line: Substring) -> Int? {
        guard line.hasPrefix("HTTP/1.1 ") else { return nil }
        return ASCII.decimal(Array(line.utf8.dropFirst(9).prefix(3)))
    }
}
