import Core
import Glibc
import Reactors

/// Many subscribers that record everything they receive, for a checker that compares it with the publishes.
///
/// Thread: main.
final class CrowdScenario {
    private let crowd: Crowd
    private var timer: ReactorTimer?
    private var input: CommandInput?
    private var endMs = Int.max
    private var flushedMs = 0
    private var leavesPerSecond = 0
    private var churnBeganMs = 0
    private var left = 0

    private static let stepMs = 5
    /// Maximum age of an unwritten line, milliseconds: a killed crowd loses that much.
    private static let flushMs = 250

    init(_ options: CrowdOptions) throws(BenchFailure) {
        var files = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        if unsafe getrlimit(kind, &files) == 0 {
            files.rlim_cur = files.rlim_max
            _ = unsafe setrlimit(kind, &files)
        }
        crowd = try Crowd(options)
        do {
            timer = try ReactorTimer(crowd.reactor) { [unowned self] in step() }
            if options.readsCommands {
                input = try CommandInput(crowd.reactor) { [unowned self] in obey($0) }
            }
        } catch {
            throw BenchFailure("cannot read commands: \(error)")
        }
        if !options.readsCommands { endMs = Clock.monotonicMs() + options.seconds * 1_000 }
    }

    /// Runs until its time is over or its input ends; true when every client was live then.
    func run() throws(BenchFailure) -> Bool {
        timer?.set(atMs: 0)
        crowd.reactor.run()
        crowd.log.flush()
        // The process that sends commands also judges the result.
        guard endMs != Int.max else { return true }
        say(crowd.status())
        return crowd.isComplete
    }

    private func step() {
        crowd.open()
        let nowMs = Clock.monotonicMs()
        let due = (nowMs - churnBeganMs) * leavesPerSecond / 1_000 - left
        if due > 0 {
            let already = left
            _ = crowd.leave(due) { (already + $0) % 2 == 1 }
            // Cuts without a connected client are not made up for.
            left += due
        }
        if nowMs - flushedMs >= CrowdScenario.flushMs {
            flushedMs = nowMs
            crowd.log.flush()
        }
        if nowMs >= endMs { return crowd.reactor.stop() }
        timer?.set(atMs: nowMs + CrowdScenario.stepMs)
    }

    private func obey(_ line: String?) {
        guard let line else { return crowd.reactor.stop() }
        let words = line.split(separator: " ")
        let number = words.count == 2 ? ASCII.decimal(words[1].utf8) : nil
        switch (words.first, number) {
        case ("stall", let count?):
            crowd.stall(count)
            say("ok")
        case ("resume", nil):
            crowd.stall(0)
            say("ok")
        case ("drop", let count?):
            say("ok \(crowd.leave(count) { _ in true })")
        case ("churn", let rate?) where rate <= 100_000:
            (leavesPerSecond, churnBeganMs, left) = (rate, Clock.monotonicMs(), 0)
            say("ok")
        case ("status", nil):
            say(crowd.status())
        case ("quit", nil):
            crowd.log.flush()
            say("ok")
            crowd.reactor.stop()
        default:
            say("error: stall N, resume, drop N, churn R, status or quit")
        }
    }

    /// Writes a line at once, even when standard output is a pipe or file.
    private func say(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = try? retrying { unsafe write(STDOUT_FILENO, bytes, bytes.count) }
    }
}
