public import Foundation

/// The storage of kept calls over restarts.
///
/// Called by one thread at a time.
public protocol OutboxStorage: Sendable {
    /// All stored entries, the oldest first.
    func load() throws -> [OutboxEntry]
    /// Stores a new or changed entry.
    func store(_ entry: OutboxEntry) throws
    /// Deletes an entry.
    func remove(_ id: String) throws
}

/// A storage that can report records that it had to skip.
protocol ReportsDamage {
    /// The problem that the last `load` found; `nil` for none.
    var damage: String? { get }
}

/// An outbox in a file: one record a line, each with a checksum; a torn last record is dropped.
///
/// Damaged records in the middle are appended to a second file, whose name ends with `.damaged`, and reported to
/// `Options.fault`.
///
/// The file is rewritten when it is loaded, and when most of its records are obsolete. It survives the end of the app;
/// a loss of power may cost the last record. Only one client at a time may use a file.
public final class OutboxFile: OutboxStorage, ReportsDamage {
    private struct Record: Codable {
        var put: OutboxEntry?
        var drop: String?
    }

    private struct State: Sendable {
        var entries: [OutboxEntry] = []
        var records = 0
        var damage: String?
    }

    private let url: URL
    private let state = Locked(State())

    /// The outbox in this file; its folder must exist.
    public init(_ url: URL) { self.url = url }

    /// Reads the file; a missing file counts as empty.
    public func load() throws -> [OutboxEntry] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        var entries: [OutboxEntry] = []
        var damaged: [Data] = []
        let lines = try Data(contentsOf: url).split(separator: UInt8(ascii: "\n"))
        for (index, line) in lines.enumerated() {
            guard let record = OutboxFile.record(line) else {
                // Only the end of the app tears the last one.
                if index < lines.count - 1 { damaged.append(line) }
                continue
            }
            if let entry = record.put { OutboxFile.put(entry, in: &entries) }
            if let id = record.drop { entries.removeAll { $0.id == id } }
        }
        try setAside(damaged)
        try write(all: entries)
        return entries
    }

    /// The problem that the last `load` found.
    var damage: String? { state.with { $0.damage } }

    /// Stores damaged records for a later look; while that fails, the outbox is not rewritten.
    private func setAside(_ records: [Data]) throws {
        state.with { $0.damage = nil }
        guard !records.isEmpty else { return }
        let aside = url.appendingPathExtension("damaged")
        let known = FileManager.default.fileExists(atPath: aside.path) ? try Data(contentsOf: aside) : Data()
        let added = Data(records.map { $0 + Data("\n".utf8) }.joined())
        // The file is bounded: repeated damage must not fill the device.
        try (known + added).suffix(1 << 20).write(to: aside, options: OutboxFile.writing)
        state.with { $0.damage = "\(records.count) damaged records of the outbox are in \(aside.path)." }
    }

    /// Appends a record.
    public func store(_ entry: OutboxEntry) throws {
        var entries = state.with { $0.entries }
        OutboxFile.put(entry, in: &entries)
        try append(Record(put: entry), whereupon: entries)
    }

    /// Appends a record; does nothing for an unknown entry, also on a full device.
    public func remove(_ id: String) throws {
        let entries = state.with { $0.entries }
        guard entries.contains(where: { $0.id == id }) else { return }
        try append(Record(drop: id), whereupon: entries.filter { $0.id != id })
    }

    private static func put(_ entry: OutboxEntry, in entries: inout [OutboxEntry]) {
        if let index = entries.firstIndex(where: { $0.id == entry.id }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    private func append(_ record: Record, whereupon entries: [OutboxEntry]) throws {
        let isMostlyOver = state.with { $0.records + 1 > 4 * entries.count + 256 }
        guard !isMostlyOver, FileManager.default.fileExists(atPath: url.path) else { return try write(all: entries) }
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        // A torn record must not swallow this one.
        let end = try file.seekToEnd()
        try file.write(contentsOf: (end == 0 ? Data() : Data("\n".utf8)) + OutboxFile.line(record))
        state.with { state in
            state.entries = entries
            state.records += 1
        }
    }

    private func write(all entries: [OutboxEntry]) throws {
        let lines = try entries.map { try OutboxFile.line(Record(put: $0)) }
        try Data(lines.joined(separator: Data("\n".utf8))).write(to: url, options: OutboxFile.writing)
        state.with { state in
            state.entries = entries
            state.records = entries.count
        }
    }

    private static var writing: Data.WritingOptions {
        #if os(iOS)
            [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
        #else
            [.atomic]
        #endif
    }

    private static func line(_ record: Record) throws -> Data {
        let body = try JSONEncoder().encode(record)
        return Data((checksum(body) + " ").utf8) + body
    }

    private static func record(_ line: Data) -> Record? {
        guard let blank = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let body = Data(line[line.index(after: blank)...])
        guard checksum(body) == String(decoding: line[..<blank], as: UTF8.self) else { return nil }
        return try? JSONDecoder().decode(Record.self, from: body)
    }

    /// FNV-1a, 64 bits: detects torn records, and protects against nothing else.
    private static func checksum(_ bytes: Data) -> String {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(sum, radix: 16)
    }
}
