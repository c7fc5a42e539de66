public import Core

/// The arguments of a command, unchanged: one JSON object, read once with the message that holds it.
public struct CommandArguments: Equatable, Sendable {
    /// The object; `nil` when the message had none.
    public let object: JSON.Value?
    /// Values that the client's socket implies, by argument name; each fills in a required argument that the client
    /// leaves out.
    public let known: [String: [UInt8]]

    /// Stores an object that was read; `nil` for a message that had none.
    public init(object: JSON.Value?, known: [String: [UInt8]] = [:]) {
        self.object = object
        self.known = known
    }

    /// The text of the object; `{}` when the message had none.
    public var raw: [UInt8] { object.map { Array($0.raw) } ?? Array("{}".utf8) }

    /// Whether both are written alike.
    public static func == (left: CommandArguments, right: CommandArguments) -> Bool {
        left.raw == right.raw && left.known == right.known
    }
}
