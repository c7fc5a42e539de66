import Core

/// A file that holds a key, and the id (`kid`) by which tokens name that key.
///
/// The form is `FILE` or `KID=FILE`. A text is `KID=FILE` when the part before its first equals sign is 1 to 128 of
/// `A-Z a-z 0-9 . _ ~ : -`. A file whose own name has this form is written with a path, such as `./a=b`.
public struct KeyFile: Sendable, Equatable {
    /// The id; `nil`: the key has none.
    public let keyID: String?
    /// The path.
    public let path: String

    /// A file of a key without an id.
    public init(path: String) {
        self.init(keyID: nil, path: path)
    }

    /// Reads `FILE` or `KID=FILE`.
    init(parsing text: String) throws(ValueFault) {
        let prefix = text.prefix { $0 != "=" }
        guard prefix.utf8.count < text.utf8.count, MessageID(Array(prefix.utf8)) != nil else {
            self.init(path: text)
            return
        }
        let path = String(text.dropFirst(prefix.count + 1))
        guard !path.isEmpty else { throw ValueFault(expected: "KID=FILE, e.g. 2026-11=/etc/switchboard/secret-2") }
        self.init(keyID: String(prefix), path: path)
    }

    private init(keyID: String?, path: String) {
        self.keyID = keyID
        self.path = path
    }
}
