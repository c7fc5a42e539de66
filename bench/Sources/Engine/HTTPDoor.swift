import Connections
import Core
import Reactors

/// Publishes over keep-alive connections, one request under way on each; further ones wait.
///
/// Thread: main.
final class HTTPDoor: PublishDoor {
    private let context: ConnectionContext
    private let options: BenchOptions
    private let urls: [CrowdOptions.URL]
    private let tls: TLSContext
    private let request: (PublishJob) -> [UInt8]
    private let answered: (PublishJob, String?) -> Void
    private let failed: (String) -> Void
    /// In the order in which they became free, so that all are used in turn: servers close idle connections.
    private var free = Ring<HTTPPublishConnection>()
    private var waiting = Ring<PublishJob>()
    private var made = 0
    private var opened = 0
    private var opening = 0

    private static let connectionsMax = 256

    /// - Parameter request: The request of a job; by default the publish of the target's dialect.
    init(
        _ context: ConnectionContext, _ options: BenchOptions, request: ((PublishJob) -> [UInt8])? = nil,
        answered: @escaping (PublishJob, String?) -> Void, failed: @escaping (String) -> Void
    ) throws(BenchFailure) {
        (self.context, self.options, self.answered, self.failed) = (context, options, answered, failed)
        self.request = request ?? { options.target.request(topic: $0.topic, data: $0.data, apiKey: options.apiKey) }
        urls = options.urls.compactMap { CrowdOptions.URL($0) }
        do {
            tls = try TLSContext(clientTrusting: nil)
        } catch {
            throw BenchFailure("cannot start: \(error)")
        }
        for _ in 0..<options.publishConnections { add() }
    }

    /// Once every connection was made or has failed.
    var isOpen: Bool { opening == 0 && opened > 0 }

    func send(_ job: PublishJob) {
        while let connection = free.popFirst() {
            if connection.isOpen { return send(job, over: connection) }
        }
        waiting.append(job)
        // One more at a time: handshakes are work for the measured server.
        if opening == 0, opened < HTTPDoor.connectionsMax { add() }
    }

    private func send(_ job: PublishJob, over connection: HTTPPublishConnection) {
        connection.send(job, request(job))
    }

    private func add() {
        guard !urls.isEmpty else { return }
        do {
            opening += 1
            try HTTPPublishConnection.open(
                context, urls[made % urls.count], tls, isOpen: { [unowned self] in isOpen($0) },
                answered: { [unowned self] connection, job, refusal in
                    answered(job, refusal)
                    next(connection)
                },
                ended: { [unowned self] connection, job, reason in ended(connection, job, reason) })
            made += 1
        } catch {
            opening -= 1
            failed("a publisher's connection could not be made: \(error)")
        }
    }

    private func isOpen(_ connection: HTTPPublishConnection) {
        opening -= 1
        opened += 1
        next(connection)
    }

    private func next(_ connection: HTTPPublishConnection) {
        guard connection.isOpen else { return }
        if let job = waiting.popFirst() { send(job, over: connection) } else { free.append(connection) }
    }

    private func ended(_ connection: HTTPPublishConnection, _ job: PublishJob?, _ reason: String) {
        if connection.wasOpen {
            opened -= 1
        } else {
            opening -= 1
            failed("a publisher's connection could not be made: \(reason)")
        }
        // A server may close idle connections; another is opened when it is needed.
        guard let job else { return }
        answered(job, "the connection ended: \(reason)")
        if connection.wasOpen, !waiting.isEmpty { add() }
    }
}
