import Core
import FoundationEssentials
import Glibc
import Reactors

/// A file of results on disk: JSON of this tool, validated when it is read, replaced whole or not at all.
struct ReportFile {
    let path: String

    /// Maximum bytes: a day of a hundred runs is some 10 MB, so a larger file is not a report.
    static let bytesMax = 256 * 1_024 * 1_024

    init(_ path: String) {
        self.path = path
    }

    /// Whether the file exists, be it a report or not.
    var exists: Bool {
        unsafe access(path, F_OK) == 0
    }

    /// The report in the file.
    func read() throws(BenchFailure) -> BenchReport {
        do throws(BenchFailure) {
            return try ReportFile.decode(try bytes())
        } catch {
            throw BenchFailure("\(path): \(error.description)")
        }
    }

    /// Replaces the file: a reader sees the old report or the new one, never a part.
    func write(_ report: BenchReport) throws(BenchFailure) {
        do throws(BenchFailure) {
            try replace(with: try ReportFile.encode(report))
        } catch {
            throw BenchFailure("\(path): \(error.description)")
        }
    }

    /// Adds a run to the report, or creates one; a machine or commit that differs from the report's is stored with the
    /// run.
    func append(_ result: BenchResult, machine: MachineFacts, commit: String?, startedAt: String) throws(BenchFailure) {
        var added = result
        added.startedAt = added.startedAt ?? startedAt
        for secret in ReportFile.secretSettings { added.settings[secret] = nil }
        guard exists else {
            return try write(BenchReport(machine: machine, commit: commit, startedAt: startedAt, runs: [added]))
        }
        var report = try read()
        if report.machine != machine { added.machine = machine }
        if report.commit != commit { added.commit = commit ?? "unknown" }
        report.runs.append(added)
        try write(report)
    }

    /// Flags whose values must not be in a file that is passed around.
    static let secretSettings = ["api-key", "secret-file"]

    /// Reads a report from bytes; distinguishes a file of another program or version from a damaged one.
    static func decode(_ bytes: [UInt8]) throws(BenchFailure) -> BenchReport {
        struct Head: Decodable {
            let format: String
        }
        let content = Data(bytes)
        guard let head = try? JSONDecoder().decode(Head.self, from: content) else {
            throw BenchFailure("not a report of switchboard-bench: not JSON, cut off, or without a format")
        }
        guard head.format == BenchReport.formatName else {
            let told = ResultTable.plain(head.format, limit: 40)
            throw BenchFailure("has the format \"\(told)\"; this tool reads \"\(BenchReport.formatName)\"")
        }
        let report: BenchReport
        do {
            report = try JSONDecoder().decode(BenchReport.self, from: content)
        } catch {
            throw BenchFailure("damaged report: \(reason(error))")
        }
        for (index, run) in report.runs.enumerated() {
            for latency in [run.latency, run.connect, run.publishAnswer] {
                guard latency?.isSound != false else {
                    throw BenchFailure("damaged report: run \(index + 1) has a histogram that is none")
                }
            }
        }
        return report
    }

    /// The report as JSON for people and `git diff`: keys sorted, one line a member, a histogram or a series one line.
    static func encode(_ report: BenchReport) throws(BenchFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return try ReportFile.joined(Array(encoder.encode(report)))
        } catch {
            throw BenchFailure("cannot be written as JSON: \(reason(error))")
        }
    }

    /// Puts every array of arrays or objects without nested ones on one line: strings have no raw line ends in JSON.
    private static func joined(_ pretty: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(pretty.count)
        var closing: [UInt8]?
        for line in pretty.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            if let end = closing {
                out.append(contentsOf: text)
                guard Array(line.prefix(end.count)) == end else { continue }
                closing = nil
            } else {
                out.append(contentsOf: line)
                let opens = ["\"buckets\"", "\"series\""].contains { text.starts(with: $0.utf8) }
                if opens && text.last == UInt8(ascii: "[") {
                    closing = Array(line.prefix(line.count - text.count)) + [UInt8(ascii: "]")]
                    continue
                }
            }
            out.append(UInt8(ascii: "\n"))
        }
        return out
    }

    private static func reason(_ error: any Error) -> String {
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? "." + $0.stringValue }.joined()
        }
        switch error {
        case DecodingError.keyNotFound(let key, let context): return "\(place(context)).\(key.stringValue) is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            return "\(place(context)) has another type"
        case DecodingError.dataCorrupted(let context): return "\(place(context)) \(context.debugDescription)"
        case EncodingError.invalidValue(let value, _): return "\(value) is no number"
        default: return "\(error)"
        }
    }

    private func bytes() throws(BenchFailure) -> [UInt8] {
        do {
            let file = FileDescriptor(owning: try retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) })
            var content: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 256 * 1_024)
            while true {
                let count = try retrying { unsafe Glibc.read(file.raw, &chunk, chunk.count) }
                guard count > 0 else { return content }
                content.append(contentsOf: chunk[..<count])
                guard content.count <= ReportFile.bytesMax else { throw BenchFailure("too large to be a report") }
            }
        } catch let failure as BenchFailure {
            throw failure
        } catch {
            throw BenchFailure("cannot be read: \(error)")
        }
    }

    /// Writes a new file and renames it (rename(2) replaces in one step).
    func replace(with content: [UInt8]) throws(BenchFailure) {
        let beside = "\(path).\(getpid()).new"
        do {
            let raw = try retrying { unsafe open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
            let file = FileDescriptor(owning: raw)
            var written = 0
            while written < content.count {
                written += try retrying {
                    unsafe content[written...].withUnsafeBytes {
                        unsafe Glibc.write(file.raw, $0.baseAddress, $0.count)
                    }
                }
            }
            _ = try retrying { fsync(file.raw) }
            _ = try retrying { unsafe rename(beside, path) }
        } catch {
            _ = unsafe unlink(beside)
            throw BenchFailure("cannot be written: \(error)")
        }
    }
}
