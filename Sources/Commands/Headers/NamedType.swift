/// A type that a header declares for all scripts of its pack: `@type NAME TYPE [-- text]`.
public struct NamedType: Equatable, Sendable {
    /// The name: `[a-z][a-z0-9_]{0,63}`; in a catalogue behind the pack's name and a dot.
    public internal(set) var name: String
    /// The type.
    public internal(set) var value: DeclaredValue

    /// Reads `track {trackId: string, score: int}`.
    init(header text: String) throws(HeaderFault) {
        let name = String(text.prefix { $0 != " " && $0 != "\n" })
        guard HeaderText.isName(name), !ValueType.words.contains(name) else {
            throw HeaderFault(
                "expected a name and a type, e.g. track {trackId: string}; the name is a lower-case letter, then at "
                    + "most 63 of a-z 0-9 _, and no word such as string")
        }
        self.name = name
        value = try DeclaredValue(header: String(text.dropFirst(name.count)))
    }
}
