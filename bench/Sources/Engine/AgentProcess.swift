import Glibc
import Reactors

/// The coordinator's end of an agent: a child process, its input and its output.
///
/// Thread: main.
final class AgentProcess {
    let settings: AgentSettings
    let pid: Int32
    /// The last snapshot, without its figures.
    private(set) var state = AgentSnapshot(isDone: false)
    private var commands = 0
    /// Whether it has ended.
    private(set) var isOver = false
    private let input: FileDescriptor
    private let output: FileDescriptor
    private var lines: LineSource?

    /// Whether it has executed every command, and nothing of them is still under way.
    var isDone: Bool { state.isDone && state.commands == commands }

    /// Starts the same program again as `switchboard-bench agent`; `took` is called with every snapshot.
    init(
        _ reactor: Reactor, _ settings: AgentSettings, took: @escaping (AgentSnapshot) -> Void,
        failed: @escaping (BenchFailure) -> Void
    ) throws(BenchFailure) {
        self.settings = settings
        var (inputEnds, outputEnds): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        do {
            _ = try retrying { unsafe pipe(&inputEnds) }
            _ = try retrying { unsafe pipe(&outputEnds) }
        } catch {
            throw BenchFailure("cannot make a pipe: \(error)")
        }
        // No other child may hold them: an agent ends with its input.
        for descriptor in inputEnds + outputEnds { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let childInput = FileDescriptor(owning: inputEnds[0])
        let childOutput = FileDescriptor(owning: outputEnds[1])
        input = FileDescriptor(owning: inputEnds[1])
        output = FileDescriptor(owning: outputEnds[0])
        pid = try AgentProcess.spawn(input: childInput.raw, output: childOutput.raw)
        do {
            lines = try LineSource(reactor, descriptor: output.raw) { [unowned self] line in
                guard let line else {
                    isOver = true
                    return failed(BenchFailure("a process of the run ended"))
                }
                do throws(BenchFailure) {
                    var snapshot = try JSONLine.decode(AgentSnapshot.self, line)
                    took(snapshot)
                    snapshot.figures = RunFigures()
                    state = snapshot
                } catch {
                    failed(error)
                }
            }
        } catch {
            throw BenchFailure("cannot watch a process: \(error)")
        }
        try say(try JSONLine.encode(settings))
    }

    /// Sends a command.
    func tell(_ command: AgentCommand) throws(BenchFailure) {
        commands += 1
        try say(try JSONLine.encode(command))
    }

    private func say(_ line: [UInt8]) throws(BenchFailure) {
        var written = 0
        do {
            while written < line.count {
                let (raw, start) = (input.raw, written)
                written += try retrying {
                    unsafe line[start...].withUnsafeBytes { unsafe write(raw, $0.baseAddress, $0.count) }
                }
            }
        } catch {
            throw BenchFailure("cannot tell a process of the run: \(error)")
        }
    }

    private static func spawn(input: Int32, output: Int32) throws(BenchFailure) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        _ = unsafe posix_spawn_file_actions_init(&actions)
        defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("switchboard-bench"), strdup("agent"), nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, "/proc/self/exe", &actions, nil, &arguments, environ)
        guard code == 0 else { throw BenchFailure("cannot start a process: \(Errno(code: code))") }
        return pid
    }
}
