import Core

/// The meaning of a role that another issuer writes into its tokens, such as Supabase's `authenticated`.
public struct RoleMapping: Sendable, Equatable {
    /// The meanings of a role.
    public enum Role: String, CaseIterable, Sendable {
        /// A person's app.
        case user
        /// A backend; it may do everything.
        case service
        /// The same as without a token.
        case anonymous
    }

    /// The value of the claim `role`; 1 to 64 printable ASCII characters without an equals sign.
    public let name: String
    /// The meaning of the role.
    public let role: Role

    /// Reads `NAME=ROLE`.
    init(parsing text: String) throws(ValueFault) {
        let name = text.prefix { $0 != "=" }
        let words = Role.allCases.map(\.rawValue)
        guard (1...64).contains(name.utf8.count), name.utf8.count < text.utf8.count,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { throw ValueFault(expected: "NAME=ROLE, e.g. authenticated=user") }
        let word = String(text.dropFirst(name.count + 1))
        guard let role = Role(rawValue: word) else {
            throw ValueFault(
                expected: "\(name)= and one of \(words.joined(separator: ", "))" + NearestName.hint(words, to: word))
        }
        self.name = String(name)
        self.role = role
    }
}
