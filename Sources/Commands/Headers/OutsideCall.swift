import Core

/// `@call_out SERVICE COMMAND`: an outside service that a script may call, and the command that receives the answer.
public struct OutsideCall: Hashable, Sendable, CustomStringConvertible {
    /// The service's name for couriers: `[a-z][a-z0-9-]{0,31}`.
    public let service: String
    /// The command that the courier's answer calls.
    public let command: String

    /// Reads `spotify track_found`.
    init(header text: String) throws(HeaderFault) {
        let words = HeaderText.words(text)
        guard words.count == 2 else {
            throw HeaderFault("expected a service and the command that gets its answer, e.g. spotify track_found")
        }
        service = try OutsideCall.service(words[0])
        guard HeaderText.isName(words[1]) else {
            throw HeaderFault(PrintableText.quoted(words[1]) + " is no name of a command")
        }
        command = words[1]
    }

    /// Reads the name of a service.
    static func service(_ name: String) throws(HeaderFault) -> String {
        guard Topic.isNamespace(Array(name.utf8)) else {
            throw HeaderFault(
                PrintableText.quoted(name)
                    + " is no name of a service: a lower-case letter, then at most 31 of a-z 0-9 -")
        }
        return name
    }

    /// The call as a header declares it.
    public var description: String { service + " " + command }
}
