import CLinux
import Glibc
import Reactors
import Service

/// A child process with its output in a file; it ends with this process, whatever ends this process.
struct ChildProcess {
    /// The process id.
    let id: pid_t

    /// Starts it with its words, the first of which is the program.
    init(_ words: [String], logPath: String) throws(StartProblem) {
        let log: FileDescriptor
        do {
            log = FileDescriptor(
                owning: try retrying { unsafe open(logPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) })
        } catch {
            throw StartProblem.file(logPath, error)
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        defer { unsafe pointers.forEach { unsafe free($0) } }
        unsafe pointers.append(nil)
        id = unsafe swb_spawn(words[0], pointers, log.raw)
        guard id > 0 else { throw StartProblem("cannot start \(words[0]): \(Errno.current)") }
    }

    /// Whether it runs; not to be called again after `false`.
    var runs: Bool { waitpid(id, nil, WNOHANG) == 0 }

    /// Ends it and waits for its end.
    func stop() {
        _ = kill(id, SIGTERM)
        _ = waitpid(id, nil, 0)
    }
}
