import Glibc
import Reactors

/// A pipe's lines.
///
/// Thread: main.
final class LineSource: EventSource {
    private let reactor: Reactor
    private let raw: Int32
    private let take: ([UInt8]?) -> Void
    private var token: EventToken?
    private var waiting: [UInt8] = []
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// Calls `take` with each line, and with `nil` at the end; the caller keeps the descriptor.
    init(_ reactor: Reactor, descriptor: Int32, take: @escaping ([UInt8]?) -> Void) throws(Errno) {
        self.reactor = reactor
        raw = descriptor
        self.take = take
        token = try reactor.add(self, descriptor: descriptor, interest: .read)
    }

    func ready(_ readiness: Readiness) {
        let raw = raw
        // One read for each readiness never waits, whether or not the descriptor may.
        let count = (try? retrying { unsafe read(raw, &chunk, chunk.count) }) ?? 0
        guard count > 0 else {
            if let token { reactor.remove(token) }
            token = nil
            return take(nil)
        }
        waiting += chunk[..<count]
        var start = 0
        while let end = waiting[start...].firstIndex(of: 0x0a) {
            take(Array(waiting[start..<end]))
            start = end + 1
        }
        waiting.removeFirst(start)
    }

    func deadlineReached() {}
    func flush() {}
    func released() {}
}
