import Glibc
import Reactors
import Service

/// `switchboard-courier`, the program beside this one, which has libcurl.
enum CourierProgram {
    /// Its path; `nil` when it was not installed beside this program.
    static var path: String? {
        guard let own = Files.absolute("/proc/self/exe"), let slash = own.lastIndex(of: "/") else { return nil }
        let path = own[...slash] + "switchboard-courier"
        return Files.exists(String(path)) ? String(path) : nil
    }

    /// Replaces this process by it; returns only by throwing.
    static func replace(with arguments: some Sequence<String>) throws(StartProblem) -> Int32 {
        guard let path else {
            throw StartProblem("the program switchboard-courier is not beside this one; build or install it")
        }
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) }
        unsafe words.append(nil)
        _ = unsafe execv(path, words)
        throw StartProblem("cannot start \(path): \(Errno.current)")
    }
}
