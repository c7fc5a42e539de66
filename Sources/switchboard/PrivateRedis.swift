import Configuration
import Gateway
import Glibc
import Reactors
import Service

/// A redis-server child on a unix socket, for `dev`: it listens on no port, and keeps nothing between runs.
///
/// It ends with this process, whatever ends this process.
final class PrivateRedis {
    private let child: ChildProcess

    /// Starts it and waits until its socket exists; its output goes to `redis.log` in the state directory.
    init(program: String, state: StateDirectory) throws(StartProblem) {
        guard state.redisSocket.utf8.count < 108 else {
            throw StartProblem(
                "the path \(state.redisSocket) is too long for a socket; give a shorter --state")
        }
        let logPath = state.path + "/redis.log"
        _ = unsafe unlink(state.redisSocket)
        child = try ChildProcess(
            [
                program, "--port", "0", "--unixsocket", state.redisSocket, "--unixsocketperm", "700", "--save", "",
                "--appendonly", "no", "--daemonize", "no",
            ], logPath: logPath)
        let deadlineMs = Clock.monotonicMs() + 5_000
        while !Files.exists(state.redisSocket) {
            guard child.runs else {
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
        child.stop()
    }
}
