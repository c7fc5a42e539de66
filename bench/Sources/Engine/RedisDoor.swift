import Connections
import Core
import Reactors
import RedisLink

/// Publishes by PUBLISH, pipelined over one connection; Redis answers in order, one line each.
///
/// Thread: main.
final class RedisDoor: PublishDoor, ConnectionHandler {
    private let command: (PublishJob) -> [[UInt8]]
    private let answered: (PublishJob, String?) -> Void
    private let failed: (String) -> Void
    private var connection: Connection?
    private var underWay = Ring<PublishJob>()
    private var line: [UInt8] = []
    /// Pending answers to AUTH and SELECT.
    private var greetings = 0
    private let url: RedisURL

    /// - Parameter command: The command of a job; by default its publish.
    init(
        _ context: ConnectionContext, _ text: String,
        command: @escaping (PublishJob) -> [[UInt8]] = { RedisDoor.publish($0) },
        answered: @escaping (PublishJob, String?) -> Void, failed: @escaping (String) -> Void
    ) throws(BenchFailure) {
        (self.command, self.answered, self.failed) = (command, answered, failed)
        do {
            url = try RedisURL(parsing: text)
        } catch {
            throw BenchFailure("--redis: \(error)")
        }
        let endpoint: Endpoint
        switch url.endpoint {
        case .unix(let path): endpoint = .unix(path: String(decoding: path, as: UTF8.self))
        case .network(let host, let port, false):
            guard let address = IPAddress(text: host.utf8), let number = UInt16(exactly: port) else {
                throw BenchFailure("--redis must be unix:// or redis://ADDRESS:PORT, the address numeric")
            }
            endpoint = .tcp(address, port: number)
        case .network: throw BenchFailure("--redis takes no TLS")
        case .sentinel, .cluster: throw BenchFailure("--redis takes one server, no Sentinels and no Cluster")
        }
        do {
            connection = try Connection.connect(
                context, to: endpoint, tls: nil, name: "", outboundBytesMax: 64 << 20, handler: self)
        } catch {
            throw BenchFailure("cannot connect to \(url): \(error)")
        }
    }

    var isOpen: Bool { connection?.isOpen == true && greetings == 0 }

    func send(_ job: PublishJob) {
        underWay.append(job)
        if connection?.send(RedisDoor.encode(command(job))) != true {
            _ = underWay.popLast()
            answered(job, "Redis is not connected or does not read")
        }
    }

    func opened(_ connection: Connection) {
        if let password = url.password {
            greetings += 1
            _ = connection.send(RedisDoor.encode([Array("AUTH".utf8), url.user ?? Array("default".utf8), password]))
        }
    }

    func received(_ bytes: Span<UInt8>) {
        for index in 0..<bytes.count {
            line.append(bytes[index])
            guard bytes[index] == 0x0a else { continue }
            take(line.dropLast(2))
            line.removeAll(keepingCapacity: true)
        }
    }

    private func take(_ line: ArraySlice<UInt8>) {
        let refusal = line.first == UInt8(ascii: "-") ? String(decoding: line, as: UTF8.self) : nil
        if greetings > 0 {
            greetings -= 1
            if let refusal { failed("Redis: \(refusal)") }
        } else if let job = underWay.popFirst() {
            answered(job, refusal)
        }
    }

    func deadlineReached() {}

    func ended(_ reason: CloseReason) {
        connection = nil
        failed("the connection to Redis ended: \(reason.rawValue)")
        while let job = underWay.popFirst() { answered(job, "the connection to Redis ended") }
    }

    private static func publish(_ job: PublishJob) -> [[UInt8]] {
        let payload = Array("{\"event\":\"e\",\"data\":".utf8) + job.data + [UInt8(ascii: "}")]
        return [Array("PUBLISH".utf8), Array(job.topic.utf8), payload]
    }

    private static func encode(_ words: [[UInt8]]) -> [UInt8] {
        var command: [UInt8] = []
        command.append(text: "*\(words.count)\r\n")
        for word in words {
            command.append(text: "$\(word.count)\r\n")
            command += word
            command.append(text: "\r\n" as StaticString)
        }
        return command
    }
}
