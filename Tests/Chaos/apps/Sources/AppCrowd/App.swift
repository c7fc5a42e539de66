import Foundation
import SwitchboardClient
import SwitchboardClientLinux
import Synchronization

/// One client with its readers.
final class App: Sendable {
    struct Counts: Sendable {
        var events = 0
        var gaps = 0
        var errors = 0
        var connects = 0
    }

    private let client: SwitchboardClient
    private let transport: CuttableTransport
    private let topics: [String]
    private let name: String
    private let log: Journal
    private let gate: Gate
    private let forgets: Bool
    private let state = Mutex((counts: Counts(), live: Set<String>()))

    init(number: Int, _ options: Options, _ log: Journal, _ gate: Gate) {
        transport = CuttableTransport(LinuxTransport(trusting: options.words["--ca"]))
        client = SwitchboardClient(url: options.urls[number % options.urls.count], transport: transport)
        topics = options.topics(of: number)
        name = "swift-\(number)"
        self.log = log
        self.gate = gate
        forgets = options.words["--forget"] == "yes"
    }

    var counts: Counts { state.withLock { $0.counts } }
    var isReady: Bool { client.currentStatus.isReady }
    var isLive: Bool { isReady && state.withLock { $0.live.count } == topics.count }

    func start() {
        for (index, topic) in topics.enumerated() {
            Task { await self.read(topic, "\(self.name)-\(index)") }
        }
    }

    func stop() { client.stop() }

    /// Breaks the connection without a word to the library.
    func cut() { transport.cut() }

    private func read(_ topic: String, _ reader: String) async {
        var place = ReaderPlace(reader, topic)
        var seen = 0
        do {
            for try await update in client.events(of: topic) {
                let lines = place.take(update)
                if case .event = update { seen += 1 }
                if !(forgets && seen == 20) { for (kind, fields) in lines { log.note(kind, fields) } }
                count(update, topic, isLive: place.isLive)
                await gate.pass()
            }
        } catch {
            log.note("X", "\(reader) \(topic) unreadable")
        }
    }

    private func count(_ update: TopicUpdate, _ topic: String, isLive: Bool) {
        state.withLock { state in
            if isLive { state.live.insert(topic) } else { state.live.remove(topic) }
            switch update {
            case .event: state.counts.events += 1
            case .gap: state.counts.gaps += 1
            case .live: state.counts.connects += 1
            case .pending(let error): state.counts.errors += error == nil ? 0 : 1
            case .members: break
            }
        }
    }
}

/// Where one reader is, as it was told: each update becomes lines for the checker.
///
/// The checker's client is a reader, so that all its lines have one order.
struct ReaderPlace {
    private let reader: String
    private let topic: String
    private var position: TopicPosition?
    private(set) var isLive = false
    /// A gap was told since the topic was live.
    private var wasToldGap = false
    /// Updates were dropped unread: the next one that tells a position says where the reader is.
    private var isLost = false

    init(_ reader: String, _ topic: String) { (self.reader, self.topic) = (reader, topic) }

    mutating func take(_ update: TopicUpdate) -> [(String, String)] {
        switch update {
        case .live(_, let recovered, let told):
            guard let told else { return [("X", "\(reader) \(topic) unreadable")] }
            let isSilent = !recovered && position != nil && position != told && !wasToldGap && !isLost
            let lines = joined(told, isRecovered: recovered && !isLost)
            return isSilent ? lines + [("X", "\(reader) \(topic) unreadable")] : lines
        case .event(let event):
            guard let told = event.position else { return [("E", "\(reader) \(topic) - \(event.name) 0 0")] }
            let before = TopicPosition(epoch: told.epoch, offset: told.offset - 1)
            let lines = isLost ? joined(before, isRecovered: false) : []
            position = told
            let message = Message(event.data)
            return lines + [("P", "\(reader) \(topic) \(told.epoch) \(told.offset) \(event.name) \(message.words)")]
        case .gap(let gap): return missed(gap)
        case .pending: return left()
        case .members: return []
        }
    }

    private mutating func joined(_ told: TopicPosition, isRecovered: Bool) -> [(String, String)] {
        let since = position.map { "\($0.epoch) \($0.offset)" } ?? "- -"
        let connects = isLive ? [] : [("C", "\(reader) 0")]
        (position, isLive, wasToldGap, isLost) = (told, true, false, false)
        let said = "\(reader) \(topic) \(told.epoch) \(told.offset) \(isRecovered ? 1 : 0) \(since)"
        return connects + [("S", said)]
    }

    private mutating func missed(_ gap: TopicGap) -> [(String, String)] {
        if gap.reason == .tooSlow {
            let lines = left()
            isLost = true
            return lines
        }
        wasToldGap = true
        // What is told before a new `live` is in its line.
        guard isLive, let told = gap.position else { return [] }
        position = told
        return [("G", "\(reader) \(topic) \(told.epoch) \(told.offset) \(gap.reason.rawValue)")]
    }

    private mutating func left() -> [(String, String)] {
        guard isLive else { return [] }
        isLive = false
        wasToldGap = false
        return [("D", "\(reader) 0")]
    }
}

/// The library's sockets, with a way to break them from below.
final class CuttableTransport: SwitchboardTransport {
    private let inner: LinuxTransport
    private let present = Mutex<CuttableSocket?>(nil)

    init(_ inner: LinuxTransport) { self.inner = inner }

    func open(_ request: SocketRequest, events: @escaping @Sendable (SocketEvent) -> Void) -> any SwitchboardSocket {
        let socket = CuttableSocket(events)
        present.withLock { $0 = socket }
        socket.begin(inner.open(request) { socket.tell($0) })
        return socket
    }

    func cut() { present.withLock { $0 }?.cut() }
}

/// One socket; after a cut nothing of it is heard.
final class CuttableSocket: SwitchboardSocket {
    private struct State {
        var inner: (any SwitchboardSocket)?
        var events: (@Sendable (SocketEvent) -> Void)?
    }

    private let state: Mutex<State>

    init(_ events: @escaping @Sendable (SocketEvent) -> Void) { state = Mutex(State(events: events)) }

    func begin(_ socket: any SwitchboardSocket) { state.withLock { $0.inner = socket } }

    func send(_ text: String) { state.withLock { $0.inner }?.send(text) }

    func close(code: Int) { state.withLock { $0.inner }?.close(code: code) }

    func tell(_ event: SocketEvent) {
        let events = state.withLock { state in
            defer { if case .closed = event { state.events = nil } }
            return state.events
        }
        events?(event)
    }

    func cut() {
        tell(.closed(code: 0, httpStatus: nil, message: "cut"))
        close(code: 1_000)
    }
}
