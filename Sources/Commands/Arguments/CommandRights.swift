public import Core

/// The roles that may call a command: exactly those that its header names.
public struct CommandRights: Equatable, Sendable {
    /// The roles; none is implied by another.
    public let roles: Set<CommandRole>

    /// Allows exactly these roles.
    public init(_ roles: Set<CommandRole>) {
        self.roles = roles
    }

    /// Reads `user|service`.
    init(header text: String) throws(HeaderFault) {
        var roles: Set<CommandRole> = []
        let names = CommandRole.allCases.map(\.rawValue)
        for part in text.split(separator: "|", omittingEmptySubsequences: false) {
            let word = HeaderText.trimmed(part)
            guard let role = CommandRole(rawValue: word) else {
                throw HeaderFault(
                    PrintableText.quoted(word) + " is no role; the roles are " + names.joined(separator: ", ")
                        + NearestName.hint(names, to: word))
            }
            guard roles.insert(role).inserted else { throw HeaderFault("\(word) is given twice") }
        }
        self.roles = roles
    }

    /// Whether only the worker may call it.
    public var isWorkerOnly: Bool { roles.isSubset(of: [.worker]) }

    /// The refusal of a caller in this role; `nil` when the role may call the command.
    public func refusal(_ role: CommandRole) -> Refusal? {
        if roles.contains(role) { return nil }
        // For clients, a command of the worker does not exist.
        if isWorkerOnly { return Refusal(.notFound, "there is no such command") }
        if role == .anonymous {
            return Refusal(.unauthorized, "This command needs a token.")
        }
        let names = CommandRole.allCases.filter { roles.contains($0) && $0 != .worker }.map(\.rawValue)
        return Refusal(.forbidden, "This command is for \(names.joined(separator: ", ")) only.")
    }
}
