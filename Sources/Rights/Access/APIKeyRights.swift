/// The uses that an API key allows, by the words after it in the file of keys.
public struct APIKeyRights: OptionSet, Hashable, Sendable {
    /// The bits, one for each word.
    public let rawValue: UInt8

    /// Makes the set with these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Reading: the word `read`.
    public static let read = APIKeyRights(rawValue: 1)
    /// Writing: the word `write`.
    public static let write = APIKeyRights(rawValue: 2)
    /// Reading the messages that a session sends and receives: the word `tap`, which has to be written.
    public static let tap = APIKeyRights(rawValue: 4)

    /// The rights of a key without words after it: all but watching what clients say.
    public static let everything: APIKeyRights = [.read, .write]

    /// Whether the key allows that use.
    public func allow(_ use: CallerUse) -> Bool {
        switch use {
        case .read: contains(.read)
        case .write: contains(.write)
        case .tap: contains(.tap)
        }
    }
}
