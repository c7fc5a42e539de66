import Core
import Glibc
import Reactors

/// The log of a crowd: lines gathered in memory and written in large pieces.
///
/// A failed write ends the process: a log with a hole would blame the gateway. Thread: main.
final class CrowdLog {
    private let descriptor: FileDescriptor
    private let path: String
    private var bytes: [UInt8] = []
    private(set) var lines = 0

    private static let chunkBytes = 262_144

    /// Opens the file, emptied.
    init(path: String) throws(BenchFailure) {
        self.path = path
        do {
            descriptor = FileDescriptor(
                owning: try retrying { unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) })
        } catch {
            throw BenchFailure("\(path): \(error)")
        }
        bytes.reserveCapacity(CrowdLog.chunkBytes + 65_536)
    }

    /// Begins a line with time, kind and client.
    func begin(_ kind: Unicode.Scalar, client: Int, atUs: Int) {
        bytes.append(decimal: atUs)
        bytes.append(0x20)
        bytes.append(UInt8(ascii: kind))
        add(client)
    }

    /// Adds a number; `-` for none.
    func add(_ value: Int?) {
        bytes.append(0x20)
        guard let value else { return bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: value)
    }

    /// Adds a word; `-` for none.
    func add(_ text: Span<UInt8>, _ range: Range<Int>?) {
        bytes.append(0x20)
        guard let range, !range.isEmpty else { return bytes.append(UInt8(ascii: "-")) }
        for index in range { bytes.append(CrowdLog.inWord(text[index])) }
    }

    /// Adds a word; `-` for none.
    func add(_ word: [UInt8]?) {
        let word = word ?? []
        add(word.span, 0..<word.count)
    }

    /// Adds eight digits.
    func add(hexadecimal value: UInt32) {
        bytes.append(0x20)
        for shift in stride(from: UInt32(28), through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
            bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
        }
    }

    /// Ends the line.
    func end() {
        bytes.append(0x0a)
        lines += 1
        if bytes.count >= CrowdLog.chunkBytes { flush() }
    }

    /// Writes the gathered lines.
    func flush() {
        var written = 0
        while written < bytes.count {
            do {
                written += try retrying {
                    unsafe bytes[written...].withUnsafeBytes { unsafe write(descriptor.raw, $0.baseAddress, $0.count) }
                }
            } catch {
                BenchFailure.say("switchboard-bench: \(path): \(error)")
                exit(2)
            }
        }
        bytes.removeAll(keepingCapacity: true)
    }

    /// No field holds a space or a control byte.
    private static func inWord(_ byte: UInt8) -> UInt8 {
        byte > 0x20 && byte != 0x7f ? byte : UInt8(ascii: "_")
    }
}
