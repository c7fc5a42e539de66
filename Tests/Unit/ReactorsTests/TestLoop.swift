import CLinux
import Glibc
import Testing

@testable import Reactors

/// What happened in a loop, in order.
final class Journal {
    var lines: [String] = []

    func note(_ line: String) {
        lines.append(line)
    }
}

/// A source that writes down every call and then does what the test asks.
final class Recorder: EventSource {
    let name: String
    let journal: Journal
    var token = EventToken(slot: 0, generation: 0)
    var onReady: (Readiness) -> Void = { _ in }
    var onDeadline: () -> Void = {}
    var onFlush: () -> Void = {}
    var onLate: () -> Void = {}
    var onReleased: () -> Void = {}

    init(_ name: String, _ journal: Journal) {
        self.name = name
        self.journal = journal
    }

    func ready(_ readiness: Readiness) {
        journal.note("\(name) ready")
        onReady(readiness)
    }

    func deadlineReached() {
        journal.note("\(name) deadline")
        onDeadline()
    }

    func flush() {
        journal.note("\(name) flush")
        onFlush()
    }

    func late() {
        journal.note("\(name) late")
        onLate()
    }

    func released() {
        journal.note("\(name) released")
        onReleased()
    }
}

/// A reactor for one test; it is stopped, with a recorded issue, when the test's condition does not come about.
struct TestLoop {
    let wake: Wake
    let reactor: Reactor
    let journal = Journal()

    init() throws {
        wake = try Wake()
        reactor = try Reactor(wake: wake)
    }

    /// Adds a recorder, with or without a descriptor.
    func add(_ name: String, descriptor: Int32? = nil, interest: Readiness = .read) throws -> Recorder {
        let recorder = Recorder(name, journal)
        recorder.token = try reactor.add(recorder, descriptor: descriptor, interest: interest)
        return recorder
    }

    /// Runs until somebody stops the reactor; at most a minute.
    func run() throws {
        let reactor = reactor
        let guardian = try ReactorTimer(reactor) {
            Issue.record("the loop did not come to its end")
            reactor.stop()
        }
        guardian.set(atMs: Clock.monotonicMs() + 60_000)
        reactor.run()
        guardian.invalidate()
    }

    /// Stops at the end of the tick with this number.
    func stop(afterTicks ticks: Int) {
        let (reactor, wake) = (reactor, wake)
        reactor.onTickEnd = { if reactor.tick >= ticks { reactor.stop() } else { wake.signal() } }
        wake.signal()
    }
}

/// Two connected unix stream sockets, closed with the value.
struct SocketPair: ~Copyable {
    let near: FileDescriptor
    let far: FileDescriptor

    init() throws(Errno) {
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | SWB_NONBLOCK | SWB_CLOEXEC
        _ = try retrying { unsafe socketpair(AF_UNIX, kind, 0, &ends) }
        near = FileDescriptor(owning: ends[0])
        far = FileDescriptor(owning: ends[1])
    }

    /// Makes the near end readable.
    func poke() {
        _ = unsafe write(far.raw, [1], 1)
    }
}

/// Takes what is to read.
func drain(_ descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 64)
    _ = unsafe read(descriptor, &bytes, 64)
}
