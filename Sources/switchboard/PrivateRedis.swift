import Core
import Glibc
import Reactors
import Service

/// A redis-server child on a unix socket: it listens on no port.
///
/// It ends with this process, whatever ends this process.
final class PrivateRedis {
    /// The place of the data between two runs.
    enum Data {
        /// They are lost at the end.
        case lost
        /// They stay in this directory, and every write is on disk before it is answered.
        case kept(String)
    }

    private let child: ChildProcess
    private let logPath: String
    private let data: Data
    private var hasEnded = false
    /// The URL by which links reach it.
    let url: String

    /// Starts it and waits until its socket exists; `directory` gets its socket, and its output in `redis.log`.
    init(program: String, in directory: String, _ data: Data) throws(StartProblem) {
        guard let absolute = Files.absolute(directory) else { throw StartProblem("\(directory) cannot be found") }
        let socket = absolute + "/redis.sock"
        guard socket.utf8.count < 108 else {
            throw StartProblem("the path \(socket) is too long for a socket; choose a directory with a shorter one")
        }
        url = PrivateRedis.url(of: socket)
        let logPath = directory + "/redis.log"
        (self.logPath, self.data) = (logPath, data)
        _ = unsafe unlink(socket)
        var words = [
            program, "--port", "0", "--unixsocket", socket, "--unixsocketperm", "700", "--save", "", "--daemonize",
            "no",
        ]
        switch data {
        case .lost: words += ["--appendonly", "no"]
        case .kept(let path):
            do {
                try Files.makeDirectory(path)
            } catch {
                throw StartProblem.file(path, error)
            }
            words += ["--dir", path, "--appendonly", "yes", "--appendfsync", "always"]
        }
        child = try ChildProcess(words, logPath: logPath)
        // The socket is there before the data are read.
        let deadlineMs = Clock.monotonicMs() + PrivateRedis.startMs
        while !Files.exists(socket) || !PrivateRedis.isReady(logPath) {
            guard isRunning else {
                throw StartProblem("\(program) did not start; is Redis installed?" + PrivateRedis.reason(logPath, data))
            }
            guard Clock.monotonicMs() < deadlineMs else {
                stop()
                let seconds = PrivateRedis.startMs / 1_000
                throw StartProblem(
                    "\(program) is not ready after \(seconds) s." + PrivateRedis.reason(logPath, data))
            }
            _ = poll(nil, 0, 10)
        }
    }

    /// The longest time until it has read its data.
    private static let startMs = 30_000
    /// Words of its output, whose beginning differs between versions.
    private static let readyWords = Array("eady to accept connections".utf8)

    private static func isReady(_ logPath: String) -> Bool {
        guard let bytes = try? Files.read(logPath, bytesMax: 1 << 20) else { return false }
        return bytes.split(separator: UInt8(ascii: "\n")).contains { line in
            line.indices.contains { line[$0...].starts(with: readyWords) }
        }
    }

    /// Whether it still runs; it cannot be begun again.
    var isRunning: Bool {
        if !hasEnded && !child.runs { hasEnded = true }
        return !hasEnded
    }

    /// The reason why it has ended, as far as its output tells.
    var reason: String { PrivateRedis.reason(logPath, data) }

    /// The last line of its output, which tells why it ended.
    private static func reason(_ logPath: String, _ data: Data) -> String {
        let bytes = (try? Files.read(logPath, bytesMax: 1 << 20)) ?? []
        guard let line = bytes.split(separator: UInt8(ascii: "\n")).last else { return "" }
        let words = " Its last words (\(logPath)): " + PrintableText.clean(String(decoding: line, as: UTF8.self))
        guard case .kept(let path) = data else { return words }
        return words + "\nIf it cannot read the data in \(path), --fresh begins without them."
    }

    /// The URL of a socket: the path percent-encoded.
    private static func url(of socket: String) -> String {
        var url = "unix://"
        for byte in socket.utf8 {
            let isPlain =
                ASCII.isLetter(byte) || ASCII.isDigit(byte)
                || [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
            url +=
                isPlain
                ? String(UnicodeScalar(byte)) : "%" + String(byte / 16, radix: 16) + String(byte % 16, radix: 16)
        }
        return url
    }

    /// Ends it and waits for its end.
    func stop() {
        if isRunning { child.stop() }
        hasEnded = true
    }
}
