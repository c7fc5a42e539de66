import Core

/// The words after a key in the file of keys: `public`, or one or more of `read`, `write` and `tap`.
enum APIKeyWords: Equatable {
    /// A publishable key.
    case publishable
    /// A service's key with these rights.
    case service(APIKeyRights)

    private static let rights: [(word: String, right: APIKeyRights)] = [
        ("read", .read), ("write", .write), ("tap", .tap),
    ]

    /// Whether a text after the last colon of a line stands for words, and is no part of the key.
    ///
    /// Words are short, and have letters, commas, spaces and dashes only. So a key's own end is seldom taken for words,
    /// and never printed in full.
    static func areMeant(by text: ArraySlice<UInt8>) -> Bool {
        text.count <= 24 && text.allSatisfy { ASCII.isLetter($0) || ", -_".utf8.contains($0) }
    }

    /// Reads the words; throws a sentence that names the wrong word.
    init(_ text: ArraySlice<UInt8>) throws(Problem) {
        let words = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if words == ["public"] {
            self = .publishable
            return
        }
        let known = APIKeyWords.rights.map(\.word)
        var rights: APIKeyRights = []
        for word in words {
            guard word != "public" else {
                throw Problem("'public' stands alone behind a key: a publishable key has no other right")
            }
            guard let right = APIKeyWords.rights.first(where: { $0.word == word })?.right else {
                throw Problem(
                    "'\(PrintableText.clean(word))' is no right of a key; behind the key stands public, or one or more of"
                        + " read, write and tap, joined by commas" + NearestName.hint(known + ["public"], to: word))
            }
            guard rights.insert(right).inserted else { throw Problem("'\(word)' stands twice behind the key") }
        }
        self = .service(rights)
    }

    /// A sentence about wrong words.
    struct Problem: Error {
        let text: String

        init(_ text: String) {
            self.text = text
        }
    }
}
