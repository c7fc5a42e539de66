import Core

/// The time zones that users have named, as far as the system knows them.
///
/// Results are cached, also those of unknown names. Names come from users, so few files are read, and none outside the
/// database's folder. Thread: its owner's.
public struct ZoneLibrary {
    /// The content of a file below the folder of the database; `nil` when there is none.
    public typealias Reader = (_ name: String) -> [UInt8]?

    private let read: Reader
    private var known: [[UInt8]: TimeZone?] = [:]

    /// The folder of Debian's `tzdata`.
    public static let directory = "/usr/share/zoneinfo/"
    /// The most bytes of a file that is read.
    public static let fileBytesMax = TimeZoneFile.bytesMax
    /// Names that are cached: more than exist; beyond, all are forgotten.
    private static let knownMax = 1_024

    /// A library that reads files with this function.
    public init(read: @escaping Reader) {
        self.read = read
    }

    /// The zone of a name; `nil` for an unknown one.
    public mutating func zone(_ name: [UInt8]) -> TimeZone? {
        guard TimeZone.isName(name) else { return nil }
        if let found = known[name] { return found }
        if known.count >= ZoneLibrary.knownMax { known = [:] }
        let zone = read(String(decoding: name, as: UTF8.self)).flatMap { TimeZoneFile.read($0) }
        known[name] = zone
        return zone
    }
}
