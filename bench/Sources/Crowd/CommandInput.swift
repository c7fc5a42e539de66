import Glibc
import Reactors

/// Standard input as lines; it must be a pipe or a terminal, since a file cannot be waited for.
///
/// Thread: main.
final class CommandInput: EventSource {
    private let reactor: Reactor
    private let take: (String?) -> Void
    private var token: EventToken?
    private var waiting: [UInt8] = []

    private static let lineBytesMax = 4_096

    /// Calls `take` with each line, and with `nil` at the end.
    init(_ reactor: Reactor, take: @escaping (String?) -> Void) throws(Errno) {
        self.reactor = reactor
        self.take = take
        token = try reactor.add(self, descriptor: STDIN_FILENO, interest: .read)
    }

    func ready(_ readiness: Readiness) {
        var chunk = [UInt8](repeating: 0, count: CommandInput.lineBytesMax)
        // One read for each readiness never waits, whether or not the descriptor may.
        let count = (try? retrying { unsafe read(STDIN_FILENO, &chunk, chunk.count) }) ?? 0
        guard count > 0, waiting.count <= CommandInput.lineBytesMax else {
            if let token { reactor.remove(token) }
            token = nil
            return take(nil)
        }
        waiting += chunk[..<count]
        while let end = waiting.firstIndex(of: 0x0a) {
            let line = String(decoding: waiting[..<end], as: UTF8.self)
            waiting.removeFirst(end + 1)
            take(line)
        }
    }

    func deadlineReached() {}
    func flush() {}
    func released() {}
}
