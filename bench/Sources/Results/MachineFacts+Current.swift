import COpenSSL
import Core
import Glibc
import Reactors

/// The machine this process runs on.
extension MachineFacts {
    /// Asks the kernel, the distribution and OpenSSL; missing facts are `unknown` or 0.
    static func current() -> MachineFacts {
        var system = utsname()
        let isKnown = unsafe uname(&system) == 0
        let machine = isKnown ? MachineFacts.text(system.machine) : "unknown"
        return MachineFacts(
            processor: field("model name", in: contents("/proc/cpuinfo"), separator: ":") ?? machine,
            cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)),
            memoryBytes: memoryBytes(contents("/proc/meminfo")),
            kernel: isKnown ? MachineFacts.text(system.release) : "unknown",
            system: field("PRETTY_NAME", in: contents("/etc/os-release"), separator: "=") ?? "unknown",
            openssl: unsafe OpenSSL_version(OPENSSL_VERSION).map { unsafe String(cString: $0) } ?? "unknown")
    }

    /// The commit of the checkout in which the tool runs, with `+` when a file differs; `nil` without git or checkout.
    static func currentCommit() -> String? {
        guard let pipe = unsafe popen("git describe --always --dirty=+ --exclude='*' 2>/dev/null", "re") else {
            return nil
        }
        var line = [CChar](repeating: 0, count: 128)
        let hasLine = unsafe fgets(&line, Int32(line.count), pipe) != nil
        guard unsafe pclose(pipe) == 0, hasLine else { return nil }
        let text = line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// The wall clock in ISO 8601, UTC, to the second.
    static func currentTime() -> String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The value of the first line of that name, without quotes and blanks around it; `nil` when there is none.
    static func field(_ name: String, in text: String, separator: Character) -> String? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            let parts = line.split(separator: separator, maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ !$0.isWhitespace }) == name.filter({ !$0.isWhitespace }) else {
                continue
            }
            let value = parts[1].drop { $0 == " " || $0 == "\"" }.prefix { $0 != "\"" }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }

    /// `MemTotal` of proc_meminfo(5), which is in kB.
    static func memoryBytes(_ meminfo: String) -> Int {
        let words = field("MemTotal", in: meminfo, separator: ":")?.split(separator: " ") ?? []
        return words.first.flatMap { ASCII.decimal(Array($0.utf8)) }.map { $0 * 1_024 } ?? 0
    }

    /// A member of `utsname`: characters up to a zero.
    private static func text<Characters>(_ characters: Characters) -> String {
        unsafe withUnsafeBytes(of: characters) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func contents(_ path: String) -> String {
        guard let raw = try? retrying({ unsafe open(path, O_RDONLY | O_CLOEXEC) }) else { return "" }
        let file = FileDescriptor(owning: raw)
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while text.count < 1_048_576, let count = try? retrying({ unsafe read(file.raw, &chunk, chunk.count) }),
            count > 0
        {
            text.append(contentsOf: chunk[..<count])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
