import Core

/// The time zones that users have named, as far as the system knows them.
///
/// What was asked for is kept, also that there is no such zone: names come from users, so few files are read, and none
/// outside the database's folder. Thread: its owner's.
public struct ZoneLibrary {
    /// The content of a file below the folder of the database; `nil` when there is none.
    public typealias Reader = (_ name: String) -> [UInt8]?

    private let read: Reader
    private var known: [[UInt8]: TimeZone?] = [:]

    /// Where Debian's `tzdata` lies.
    public static let directory = "/usr/share/zoneinfo/"
    /// The most bytes of a file that is of use.
    public static let fileBytesMax = TimeZoneFile.bytesMax
    /// Names that are kept: more than there are; beyond, all are forgotten.
    private static let knownMax = 1_024

    /// A library that reads its files so.
    public init(read: @escaping Reader) {
        self.read = read
    }

    /// The zone of a name; `nil` for one that is not known.
    public mutating func zone(_ name: [UInt8]) -> TimeZone? {
        guard TimeZone.isName(name) else { return nil }
        if let found = known[name] { return found }
        if known.count >= ZoneLibrary.knownMax { known = [:] }
        let zone = read(String(decoding: name, as: UTF8.self)).flatMap { TimeZoneFile.read($0) }
        known[name] = zone
        return zone
    }
}
