import CLinux
import Configuration
import Gateway
import Glibc
import Reactors
import Service

/// A redis-server child on a unix socket, for `dev`: nothing listens on a port, nothing is kept between runs.
///
/// It is ended with this process, whatever ends this process.
final class PrivateRedis {
    private let process: pid_t

    /// Starts it and waits until its socket is there; its output goes to `redis.log` in the state directory.
    init(program: String, state: StateDirectory) throws(StartProblem) {
        guard state.redisSocket.utf8.count < 108 else {
            throw StartProblem(
                "the path \(state.redisSocket) is too long for a socket; give a shorter --state")
        }
        let logPath = state.path + "/redis.log"
        let log: FileDescriptor
        do {
            log = FileDescriptor(
                owning: try retrying { unsafe open(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) })
        } catch {
            throw StartProblem.file(logPath, error)
        }
        _ = unsafe unlink(state.redisSocket)
        process = PrivateRedis.spawn(
            [
                program, "--port", "0", "--unixsocket", state.redisSocket, "--unixsocketperm", "700", "--save", "",
                "--appendonly", "no", "--daemonize", "no",
            ], output: log.raw)
        guard process > 0 else { throw StartProblem("cannot start \(program): \(Errno.current)") }
        let deadlineMs = Clock.monotonicMs() + 5_000
        while !Files.exists(state.redisSocket) {
            guard waitpid(process, nil, WNOHANG) == 0 else {
                throw StartProblem("\(program) did not start; is Redis installed? See \(logPath)")
            }
            guard Clock.monotonicMs() < deadlineMs else {
                throw StartProblem("\(program) has no socket after 5 s; see \(logPath)")
            }
            _ = poll(nil, 0, 10)
        }
    }

    /// Ends it and waits for its end.
    func stop() {
        _ = kill(process, SIGTERM)
        _ = waitpid(process, nil, 0)
    }

    private static func spawn(_ arguments: [String], output: Int32) -> pid_t {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        unsafe pointers.append(nil)
        return unsafe swb_spawn(arguments[0], pointers, output)
    }
}
