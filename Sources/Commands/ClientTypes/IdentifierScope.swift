/// The identifiers of one scope of a program, each given once.
///
/// Names of events, members and words of choices are freer than identifiers: `2fa:done`, `track:added` beside
/// `track.added`, `self`.
struct IdentifierScope {
    private let reserved: Set<String>
    private var given: Set<String> = []

    /// A scope in which the reserved identifiers mean something else.
    init(reserved: Set<String> = []) { self.reserved = reserved }

    /// Gives an identifier like the wanted one: `Value` follows a reserved one, and a number one that is given already.
    mutating func take(_ wanted: String) -> String {
        var name = wanted.isEmpty ? "_empty" : wanted
        if name.first?.isNumber == true { name = "_" + name }
        if reserved.contains(name) { name += "Value" }
        var (found, count) = (name, 1)
        while !given.insert(found).inserted {
            count += 1
            found = name + "\(count)"
        }
        return found
    }
}
