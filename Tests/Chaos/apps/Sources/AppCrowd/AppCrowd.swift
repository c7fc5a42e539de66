import Foundation
import SwitchboardClient
import Synchronization

/// Apps with the Swift library that record all they are told, for the checker of the chaos runs (subscribers.py).
///
/// usage: AppCrowd --url URL... --ca FILE --clients N --topics PREFIX:COUNT --per-client N --log FILE [--forget yes]
///
/// With `--forget yes` each reader keeps one event to itself: the checker must see it.
///
/// Commands on stdin, each answered by one line: `stall N`, `resume`, `drop N`, `churn R`, `status`, `quit`. A `churn`
/// here is a `drop` of so many each second.
@main struct AppCrowd {
    static func main() async throws {
        let options = Options(CommandLine.arguments.dropFirst())
        let crowd = try Crowd(options)
        crowd.start()
        while let line = readLine() {
            let words = line.split(separator: " ")
            let number = words.count > 1 ? Int(words[1]) ?? 0 : 0
            let answer = crowd.obey(words.first.map(String.init) ?? "", number)
            try FileHandle.standardOutput.write(contentsOf: Data("\(answer)\n".utf8))
            if words.first == "quit" { break }
        }
        crowd.stop()
    }
}

/// What the program was told.
struct Options: Sendable {
    private(set) var urls: [URL] = []
    private(set) var words: [String: String] = [:]

    init(_ arguments: ArraySlice<String>) {
        var left = arguments
        while let name = left.popFirst(), let value = left.popFirst() {
            if name == "--url", let url = URL(string: value) { urls.append(url) } else { words[name] = value }
        }
    }

    func number(_ name: String) -> Int { words[name].flatMap { Int($0) } ?? 0 }

    /// The topics of a reader, spread as the other crowds spread theirs.
    func topics(of client: Int) -> [String] {
        let range = words["--topics"] ?? "load:t:1"
        let parts = range.split(separator: ":")
        let prefix = parts.dropLast().joined(separator: ":")
        let count = parts.last.flatMap { Int($0) } ?? 1
        let each = number("--per-client")
        return (0..<each).map { "\(prefix)\((client * each + $0) % count)" }
    }
}

/// All clients, and what they share.
final class Crowd: Sendable {
    private let apps: [App]
    private let log: Journal
    private let gate = Gate()
    private let next = Mutex(0)

    init(_ options: Options) throws {
        let log = try Journal(options.words["--log"] ?? "subscribers-swift.log")
        let gate = gate
        self.log = log
        apps = (0..<options.number("--clients")).map { App(number: $0, options, log, gate) }
    }

    func start() { for app in apps { app.start() } }

    func stop() {
        for app in apps { app.stop() }
        log.flush()
    }

    func obey(_ word: String, _ number: Int) -> String {
        switch word {
        case "stall": gate.close()
        case "resume": gate.open()
        case "drop", "churn": drop(number)
        case "status":
            log.flush()
            return status()
        default: break
        }
        return "ok"
    }

    private func drop(_ count: Int) {
        for _ in 0..<min(count, apps.count) {
            let index = next.withLock { next in
                defer { next = (next + 1) % apps.count }
                return next
            }
            apps[index].cut()
        }
    }

    private func status() -> String {
        let counts = apps.map(\.counts)
        let figures: [(String, Int)] = [
            ("clients", apps.count), ("connected", apps.count { $0.isReady }), ("live", apps.count { $0.isLive }),
            ("events", counts.reduce(0) { $0 + $1.events }), ("gaps", counts.reduce(0) { $0 + $1.gaps }),
            ("errors", counts.reduce(0) { $0 + $1.errors }), ("unreadable", 0),
            ("connects", counts.reduce(0) { $0 + $1.connects }), ("reconnects", 0), ("resumed", 0),
            ("failedAttempts", 0), ("timed", 0), ("lines", log.lines),
        ]
        let known = figures.map { "\"\($0)\":\($1)" }
        let unknown = ["p50Ms", "p99Ms", "maxMs", "connectMs", "backMs"].map { "\"\($0)\":null" }
        return "{" + (known + unknown).joined(separator: ",") + "}"
    }
}

/// Readers wait here while they are to be slow.
final class Gate: Sendable {
    private let state = Mutex((isOpen: true, waiters: [CheckedContinuation<Void, Never>]()))

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            state.isOpen = true
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func pass() async {
        if state.withLock({ $0.isOpen }) { return }
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// The lines of all readers; `subscribers.py` says what they mean.
final class Journal: Sendable {
    private struct State {
        var file: FileHandle
        var bytes = Data()
        var lines = 0
    }

    private let state: Mutex<State>

    init(_ path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        state = Mutex(State(file: try FileHandle(forWritingTo: URL(filePath: path))))
    }

    var lines: Int { state.withLock { $0.lines } }

    func note(_ kind: String, _ fields: String) {
        let atUs = DispatchTime.now().uptimeNanoseconds / 1_000
        state.withLock { state in
            state.bytes += Data("\(atUs) \(kind) \(fields)\n".utf8)
            state.lines += 1
            if state.bytes.count > 262_144 { Journal.write(&state) }
        }
    }

    func flush() { state.withLock { Journal.write(&$0) } }

    private static func write(_ state: inout State) {
        // A log with a hole would accuse the gateway.
        do { try state.file.write(contentsOf: state.bytes) } catch { exit(2) }
        state.bytes = Data()
    }
}
