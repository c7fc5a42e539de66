public import Foundation

/// Where kept calls live over restarts.
///
/// Called by one thread at a time.
public protocol OutboxStorage: Sendable {
    /// Everything that is stored, the oldest first.
    func load() throws -> [OutboxEntry]
    /// Stores an entry, or what it has become.
    func store(_ entry: OutboxEntry) throws
    /// Forgets an entry.
    func remove(_ id: String) throws
}

/// An outbox in a file: one record a line, each with a checksum; a torn last record is dropped.
///
/// The file is written anew when it is loaded, and when most of its records are over. It survives the end of the app; a loss of power
/// may cost the last record. One client at a time may use a file.
public final class OutboxFile: OutboxStorage {
    private struct Record: Codable {
        var put: OutboxEntry?
        var drop: String?
    }

    private struct State: Sendable {
        var entries: [OutboxEntry] = []
        var records = 0
    }

    private let url: URL
    private let state = Locked(State())

    /// The outbox in this file; its folder must exist.
    public init(_ url: URL) { self.url = url }

    /// Reads the file; one that is not there is empty.
    public func load() throws -> [OutboxEntry] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        var entries: [OutboxEntry] = []
        for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")) {
            guard let record = OutboxFile.record(line) else { continue }
            if let entry = record.put { OutboxFile.put(entry, in: &entries) }
            if let id = record.drop { entries.removeAll { $0.id == id } }
        }
        try write(all: entries)
        return entries
    }

    /// Appends a record.
    public func store(_ entry: OutboxEntry) throws {
        state.with { OutboxFile.put(entry, in: &$0.entries) }
        try append(Record(put: entry))
    }

    /// Appends a record.
    public func remove(_ id: String) throws {
        state.with { state in state.entries.removeAll { $0.id == id } }
        try append(Record(drop: id))
    }

    private static func put(_ entry: OutboxEntry, in entries: inout [OutboxEntry]) {
        if let index = entries.firstIndex(where: { $0.id == entry.id }) {
            entries[index] = entry
        } else {
            entries.append(entry)
        }
    }

    private func append(_ record: Record) throws {
        let (entries, isMostlyOver) = state.with { state in
            state.records += 1
            return (state.entries, state.records > 4 * state.entries.count + 256)
        }
        guard !isMostlyOver, FileManager.default.fileExists(atPath: url.path) else { return try write(all: entries) }
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        // A record that was torn must not swallow this one.
        let end = try file.seekToEnd()
        try file.write(contentsOf: (end == 0 ? Data() : Data("\n".utf8)) + OutboxFile.line(record))
    }

    private func write(all entries: [OutboxEntry]) throws {
        let lines = try entries.map { try OutboxFile.line(Record(put: $0)) }
        try Data(lines.joined(separator: Data("\n".utf8))).write(to: url, options: OutboxFile.writing)
        state.with { $0 = State(entries: entries, records: entries.count) }
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

    /// FNV-1a, 64 bits: finds torn records, and protects against nothing else.
    private static func checksum(_ bytes: Data) -> String {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(sum, radix: 16)
    }
}
